"""Tests that save a model under one strategy and load it under another.

TensorFlow's `distribute.saved_model_test_base`, with its `model_collection`: a test case says how a
model is saved, loaded and run; the methods `run_test_...` train one, and compare what it predicts
before and after.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np
from absl.testing import parameterized

import penstock as tf
from penstock.module import Module
from penstock.testing import strategy_combinations as strategies_by_name
from penstock.testing.combinations import NamedObject, combine
from penstock.testing.test_case import TensorFlowTestCase

_BATCH_SIZE = 10
_RANDOM_SEED = 1337
_DEFAULT_FUNCTION_KEY = "serving_default"
_TOLERANCE = 1e-30
PREDICT_STEPS = 1


# Models -------------------------------------------------------------------------------------------


class ModelAndInput:
    """A model that is ready for training, and what it is trained with."""

    def get_model(self, **kwargs: Any) -> tuple[Any, str]:
        """The model, and the name of its output."""
        raise NotImplementedError("a subclass says this")

    def get_data(self) -> tuple[Any, Any, Any]:
        """What to train with, the labels, and what to predict from."""
        raise NotImplementedError("a subclass says this")

    def get_batch_size(self) -> int:
        raise NotImplementedError("a subclass says this")


class _SimpleModelAndInput(ModelAndInput):
    """Five numbers from three."""

    def get_data(self) -> tuple[Any, Any, Any]:
        sizes = (3, 5, 3)
        random = np.random.default_rng(_RANDOM_SEED)
        arrays = [random.random((1000, size), np.float32) for size in sizes]
        inputs, labels, later = (tf.constant(array) for array in arrays)
        return inputs, labels, later

    def get_batch_size(self) -> int:
        return _BATCH_SIZE


def _compiled(model: Any, experimental_run_tf_function: bool | None = None, **more: Any) -> Any:
    assert experimental_run_tf_function is not None
    model.compile(
        optimizer=tf.keras.optimizers.SGD(0.001),
        loss="mse",
        metrics=["mae"],
        experimental_run_tf_function=experimental_run_tf_function,
        **more,
    )
    return model


def _dense(**more: Any) -> Any:
    return tf.keras.layers.Dense(5, dtype=tf.float32, name="output_layer", **more)


class SimpleFunctionalModel(_SimpleModelAndInput):
    """A model by the functional API."""

    def get_model(self, **kwargs: Any) -> tuple[Any, str]:
        inputs = tf.keras.layers.Input(shape=(3,), dtype=tf.float32)
        model = tf.keras.Model(inputs=inputs, outputs=_dense()(inputs))
        return _compiled(model, **kwargs), "output_layer"


class SimpleSequentialModel(_SimpleModelAndInput):
    """A model of layers in a row."""

    def get_model(self, **kwargs: Any) -> tuple[Any, str]:
        model = tf.keras.Sequential([_dense(input_dim=3)])
        return _compiled(model, **kwargs), "output_layer"


class SimpleSubclassModel(_SimpleModelAndInput):
    """A model that is a class of its own."""

    def get_model(self, **kwargs: Any) -> tuple[Any, str]:
        class OneLayer(tf.keras.Model):
            def __init__(self) -> None:
                super().__init__()
                self._dense_layer = _dense()

            def call(self, inputs: Any, training: Any = None, mask: Any = None) -> Any:
                return self._dense_layer(inputs)

        return _compiled(OneLayer(), cloning=False, **kwargs), "output_layer"


class SimpleModule(Module):
    """Multiplies by a variable."""

    def __init__(self) -> None:
        super().__init__()
        self.v = tf.Variable(3.0)

    @tf.function
    def __call__(self, x: Any) -> Any:
        return self.v * x


class SimpleTFModuleModel(_SimpleModelAndInput):
    """A `tf.Module`."""

    def get_model(self, **kwargs: Any) -> tuple[Any, str]:
        return SimpleModule(), "foo"


simple_functional_model = NamedObject("SimpleFunctionalModel", SimpleFunctionalModel())
simple_sequential_model = NamedObject("SimpleSequentialModel", SimpleSequentialModel())
simple_subclass_model = NamedObject("SimpleSubclassModel", SimpleSubclassModel())
simple_tfmodule_model = NamedObject("SimpleTFModuleModel", SimpleTFModuleModel())

# Combinations -------------------------------------------------------------------------------------

simple_models = [simple_functional_model, simple_sequential_model]
strategies = [
    strategies_by_name.one_device_strategy,
    strategies_by_name.one_device_strategy_gpu,
    strategies_by_name.mirrored_strategy_with_one_cpu,
    strategies_by_name.mirrored_strategy_with_one_gpu,
    strategies_by_name.mirrored_strategy_with_gpu_and_cpu,
    strategies_by_name.mirrored_strategy_with_two_gpus,
    strategies_by_name.tpu_strategy,
]
_PAIR = {"distribution_for_saving": strategies, "distribution_for_restoring": strategies}


def _combined(models: Any, run_tf_function: Any, **distributions: Any) -> Any:
    return combine(
        model_and_input=models,
        mode=["eager"],
        experimental_run_tf_function=run_tf_function,
        **distributions,
    )


def simple_models_with_strategies() -> Any:
    return _combined(simple_models, [True, False], distribution=strategies)


def simple_models_with_strategy_pairs() -> Any:
    return _combined(simple_models, [True, False], **_PAIR)


def tfmodule_models_with_strategies() -> Any:
    return _combined([simple_tfmodule_model], [True], distribution=strategies)


def tfmodule_models_with_strategy_pairs() -> Any:
    return _combined([simple_tfmodule_model], [True], **_PAIR)


# The test case ------------------------------------------------------------------------------------


def load_and_run_with_saved_model_api(
    distribution: Any, saved_dir: str, predict_dataset: Any, output_name: str
) -> Any:
    """Loads a SavedModel as objects, and calls its signature with one batch."""
    signature = tf.saved_model.load_v2(saved_dir).signatures[_DEFAULT_FUNCTION_KEY]
    if not distribution:
        return signature(next(iter(predict_dataset)))[output_name]
    batch = next(iter(distribution.experimental_distribute_dataset(predict_dataset)))
    results = distribution.experimental_run_v2(signature, args=(batch,))[output_name]
    return tf.concat(distribution.experimental_local_results(results), 0)


class TestSavedModelBase(TensorFlowTestCase, parameterized.TestCase):
    """What a model predicts is the same before it is saved and after it is loaded."""

    def setUp(self) -> None:
        tf.set_random_seed(_RANDOM_SEED)
        self._root_dir = "base"
        super().setUp()

    def _save_model(self, model: Any, saved_dir: str) -> None:
        raise NotImplementedError("a subclass says this")

    def _load_and_run_model(
        self,
        distribution: Any,
        saved_dir: str,
        predict_dataset: Any,
        output_name: str,
        experimental_run_tf_function: bool,
    ) -> Any:
        raise NotImplementedError("a subclass says this")

    def _train_model(self, model: Any, x_train: Any, y_train: Any, batch_size: int) -> None:
        rows = tf.data.Dataset.from_tensor_slices((x_train, y_train))
        model.fit(x=rows.repeat().batch(batch_size), epochs=1, steps_per_epoch=100)

    def _predict_with_model(self, distribution: Any, model: Any, predict_dataset: Any) -> Any:
        return model.predict(predict_dataset, steps=PREDICT_STEPS)

    def _get_predict_dataset(self, x_predict: Any, batch_size: int) -> Any:
        return tf.data.Dataset.from_tensor_slices(x_predict).repeat().batch(batch_size)

    def run_test_save_no_strategy_restore_strategy(
        self, model_and_input: Any, distribution: Any, experimental_run_tf_function: bool
    ) -> None:
        """Saves without a strategy, and loads under one."""
        self._compare(model_and_input, None, distribution, False, experimental_run_tf_function)

    def run_test_save_strategy_restore_no_strategy(
        self,
        model_and_input: Any,
        distribution: Any,
        save_in_scope: bool,
        experimental_run_tf_function: bool,
    ) -> None:
        """Saves under a strategy, and loads without one."""
        self._compare(
            model_and_input, distribution, None, save_in_scope, experimental_run_tf_function
        )

    def run_test_save_strategy_restore_strategy(
        self,
        model_and_input: Any,
        distribution_for_saving: Any,
        distribution_for_restoring: Any,
        save_in_scope: bool,
        experimental_run_tf_function: bool,
    ) -> None:
        """Saves under a strategy, and loads under one."""
        self._compare(
            model_and_input,
            distribution_for_saving,
            distribution_for_restoring,
            save_in_scope,
            experimental_run_tf_function,
        )

    def _compare(
        self,
        model_and_input: Any,
        saving: Any,
        restoring: Any,
        save_in_scope: bool,
        run_tf_function: bool,
    ) -> None:
        saved_dir = os.path.join(self.get_temp_dir(), f"model{int(saving is None)}")
        batch_size = model_and_input.get_batch_size()

        def train() -> tuple[Any, str, Any, Any]:
            model, output_name = model_and_input.get_model(
                experimental_run_tf_function=run_tf_function
            )
            x_train, y_train, x_predict = model_and_input.get_data()
            self._train_model(model, x_train, y_train, batch_size)
            batches = self._get_predict_dataset(x_predict, batch_size)
            return model, output_name, batches, self._predict_with_model(saving, model, batches)

        model, output_name, batches, before = _within(saving, train)
        _within(saving if save_in_scope else None, lambda: self._save_model(model, saved_dir))
        after = _within(
            restoring,
            lambda: self._load_and_run_model(
                distribution=restoring,
                saved_dir=saved_dir,
                predict_dataset=batches,
                output_name=output_name,
                experimental_run_tf_function=run_tf_function,
            ),
        )
        self.assertAllClose(before, after, atol=_TOLERANCE)


def _within(distribution: Any, action: Callable[[], Any]) -> Any:
    if distribution is None:
        return action()
    with distribution.scope():
        return action()
