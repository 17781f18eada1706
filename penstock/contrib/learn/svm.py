"""Linear support vector machines."""

from __future__ import annotations

from typing import Any

from penstock.contrib.learn.dual_ascent import sdca_model_fn, svm_params
from penstock.contrib.learn.estimator import Estimator
from penstock.contrib.learn.model_fn import PredictionKey


class SVM(Estimator):
    """A linear support vector machine for two classes, trained by dual coordinate ascent.

    Args:
      example_id_column: the feature with a string for each example that is its own.
      l1_regularization, l2_regularization: of all examples together.
      num_loss_partitions: how many train at once.
    """

    def __init__(
        self,
        example_id_column: str,
        feature_columns: Any,
        weight_column_name: str | None = None,
        model_dir: Any = None,
        l1_regularization: float = 0.0,
        l2_regularization: float = 0.0,
        num_loss_partitions: int = 1,
        kernels: Any = None,
        config: Any = None,
        feature_engineering_fn: Any = None,
    ):
        if kernels is not None:
            raise ValueError("Kernel SVMs are not currently supported.")
        params = svm_params(
            example_id_column,
            feature_columns,
            weight_column_name,
            l1_regularization,
            l2_regularization,
            num_loss_partitions,
        )
        super().__init__(sdca_model_fn, model_dir, config, params, feature_engineering_fn)

    def predict_classes(
        self,
        x: Any = None,
        input_fn: Any = None,
        batch_size: int | None = None,
        as_iterable: bool = True,
    ) -> Any:
        """The classes that are predicted."""
        return self._predicted(PredictionKey.CLASSES, x, input_fn, batch_size, as_iterable)

    def predict_proba(
        self,
        x: Any = None,
        input_fn: Any = None,
        batch_size: int | None = None,
        outputs: Any = None,
        as_iterable: bool = True,
    ) -> Any:
        """The probabilities of the classes."""
        return self._predicted(PredictionKey.PROBABILITIES, x, input_fn, batch_size, as_iterable)
