"""`tf.keras.wrappers.scikit_learn`: models with scikit-learn's methods."""

from __future__ import annotations

import copy
import importlib
import inspect
from typing import Any

import numpy as np

from penstock.keras.engine.sequential import Sequential
from penstock.keras.utils.arrays import to_categorical

__all__ = ["KerasClassifier", "KerasRegressor"]


class BaseWrapper:
    """A function that makes a compiled model, and arguments of it and of `fit`.

    Args:
      build_fn: the function; a subclass may define `__call__` instead.
    """

    def __init__(self, build_fn: Any = None, **sk_params: Any):
        self.build_fn = build_fn
        self.sk_params = sk_params
        self.check_params(sk_params)

    def check_params(self, params: dict[str, Any]) -> None:
        """ValueError for arguments that neither the model's methods nor its function take."""
        known = {
            name
            for function in (Sequential.fit, Sequential.predict, Sequential.evaluate, self._maker())
            for name in inspect.signature(function).parameters
        }
        for name in params:
            if name not in known and name != "nb_epoch":
                raise ValueError(f"{name} is not a legal parameter")

    def _maker(self) -> Any:
        return self.__call__ if self.build_fn is None else self.build_fn  # type: ignore[operator]

    def get_params(self, **params: Any) -> dict[str, Any]:
        """The arguments."""
        return {**copy.deepcopy(self.sk_params), "build_fn": self.build_fn}

    def set_params(self, **params: Any) -> BaseWrapper:
        """Sets arguments."""
        self.check_params(params)
        self.sk_params.update(params)
        return self

    def __sklearn_tags__(self) -> Any:
        """What scikit-learn 1.6 and later ask of estimators: no more than was known before."""
        utils = importlib.import_module("sklearn.utils")
        return utils.Tags(estimator_type=None, target_tags=utils.TargetTags(required=True))

    def filter_sk_params(self, fn: Any, override: dict[str, Any] | None = None) -> dict[str, Any]:
        """Those of the arguments that a function takes, and others in their place."""
        names = inspect.signature(fn).parameters
        chosen = {key: value for key, value in self.sk_params.items() if key in names}
        return {**chosen, **(override or {})}

    def fit(self, x: Any, y: Any, **kwargs: Any) -> Any:
        """Makes a model and trains it."""
        maker = self._maker()
        self.model = maker(**self.filter_sk_params(maker))
        loss = self.model.loss
        name = getattr(loss, "__name__", loss)
        if name == "categorical_crossentropy" and np.ndim(y) != 2:
            y = to_categorical(y)
        return self.model.fit(x, y, **self.filter_sk_params(Sequential.fit, kwargs))


class KerasClassifier(BaseWrapper):
    """A model that tells classes."""

    def fit(self, x: Any, y: Any, **kwargs: Any) -> Any:
        y = np.array(y)
        if y.ndim == 2 and y.shape[1] > 1:
            self.classes_ = np.arange(y.shape[1])
        elif y.ndim == 1 or (y.ndim == 2 and y.shape[1] == 1):
            self.classes_ = np.unique(y)
            y = np.searchsorted(self.classes_, y)
        else:
            raise ValueError(f"Invalid shape for y: {y.shape}")
        self.n_classes_ = len(self.classes_)
        return super().fit(x, y, **kwargs)

    def predict(self, x: Any, **kwargs: Any) -> Any:
        """The likeliest class of each input."""
        arguments = self.filter_sk_params(Sequential.predict_classes, kwargs)
        return self.classes_[self.model.predict_classes(x, **arguments)]

    def predict_proba(self, x: Any, **kwargs: Any) -> Any:
        """The probabilities of the classes."""
        chances = self.model.predict(x, **self.filter_sk_params(Sequential.predict, kwargs))
        if chances.shape[1] == 1:
            chances = np.hstack([1 - chances, chances])
        return chances

    def score(self, x: Any, y: Any, **kwargs: Any) -> float:
        """The accuracy; the model must have it among its metrics."""
        y = np.searchsorted(self.classes_, y)
        name = getattr(self.model.loss, "__name__", self.model.loss)
        if name == "categorical_crossentropy" and y.ndim != 2:
            y = to_categorical(y)
        results = self.model.evaluate(x, y, **self.filter_sk_params(Sequential.evaluate, kwargs))
        named = zip(self.model.metrics_names, np.atleast_1d(results), strict=True)
        for metric, value in named:
            if metric in ("acc", "accuracy"):
                return float(value)
        raise ValueError(
            "The model is not configured to compute accuracy. You should pass "
            '`metrics=["accuracy"]` to the `model.compile()` method.'
        )


class KerasRegressor(BaseWrapper):
    """A model that tells numbers."""

    def predict(self, x: Any, **kwargs: Any) -> Any:
        """The prediction for each input."""
        return np.squeeze(
            self.model.predict(x, **self.filter_sk_params(Sequential.predict, kwargs)), axis=-1
        )

    def score(self, x: Any, y: Any, **kwargs: Any) -> float:
        """Less the loss: larger is better."""
        results = self.model.evaluate(x, y, **self.filter_sk_params(Sequential.evaluate, kwargs))
        return -float(np.atleast_1d(results)[0])
