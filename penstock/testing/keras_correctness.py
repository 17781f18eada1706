"""Keras models that must train alike with a strategy and without one.

TensorFlow's `keras.distribute.keras_correctness_test_base`: a test case says what its model and its
data are, and `run_correctness_test` compares losses, weights and predictions.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np
from absl.testing import parameterized

import penstock as tf
from penstock import keras
from penstock.distribute.strategy import DefaultStrategy
from penstock.keras.backend.v1_names import is_tpu_strategy
from penstock.keras.distribute.batch_sizes import global_batch_size_supported
from penstock.testing import strategy_combinations
from penstock.testing.combinations import combine, times
from penstock.testing.parameter_combinations import Combination
from penstock.testing.test_case import TensorFlowTestCase

_RANDOM_SEED = 1337
_EVAL_STEPS = 20
_GLOBAL_BATCH_SIZE = 64

# The combinations of tests ------------------------------------------------------------------------

all_strategies = [
    strategy_combinations.default_strategy,
    strategy_combinations.one_device_strategy,
    strategy_combinations.mirrored_strategy_with_gpu_and_cpu,
    strategy_combinations.mirrored_strategy_with_two_gpus,
    strategy_combinations.tpu_strategy,
    strategy_combinations.tpu_strategy_one_step,
]


def _inputs_in(mode: str) -> list[Combination]:
    return combine(mode=mode, use_numpy=[True, False], use_validation_data=[True, False])


def eager_mode_test_configuration() -> list[Combination]:
    """Arrays and datasets, with and without validation, in eager mode."""
    return _inputs_in("eager")


def graph_mode_test_configuration() -> list[Combination]:
    """Arrays and datasets, with and without validation, in graph mode."""
    return _inputs_in("graph")


def all_strategy_and_input_config_combinations() -> list[Combination]:
    """All strategies with all inputs."""
    return times(
        combine(distribution=all_strategies, experimental_run_tf_function=[True, False]),
        _inputs_in("eager") + _inputs_in("graph"),
    )


def strategy_minus_tpu_and_input_config_combinations_eager() -> list[Combination]:
    """The strategies of CPUs and GPUs with all inputs of eager mode."""
    return times(
        combine(distribution=strategy_combinations.strategies_minus_tpu), _inputs_in("eager")
    )


def strategies_for_embedding_models() -> list[Any]:
    """The strategies for models that train long: not the default one."""
    return [each for each in all_strategies if each is not strategy_combinations.default_strategy]


def test_combinations_for_embedding_model() -> list[Combination]:
    """The strategies for embeddings with all inputs."""
    strategies = strategies_for_embedding_models()
    without_tpu = [each for each in strategies if not each.required_tpu]
    return times(
        combine(distribution=strategies, experimental_run_tf_function=[True, False]),
        _inputs_in("graph"),
    ) + times(
        combine(distribution=without_tpu, experimental_run_tf_function=[False]),
        _inputs_in("eager"),
    )


def test_combinations_with_tpu_strategies() -> list[Combination]:
    """The strategies of TPUs with all inputs of graph mode."""
    tpus = [each for each in all_strategies if each.required_tpu]
    return times(combine(distribution=tpus), _inputs_in("graph"))


def should_skip_tpu_with_eager(distribution: Any) -> bool:
    """Whether this is eager mode under a strategy of TPUs."""
    return tf.executing_eagerly() and is_tpu_strategy(distribution)


# Data ---------------------------------------------------------------------------------------------


class MaybeDistributionScope:
    """The block of a strategy's scope, or of none."""

    def __init__(self, distribution: Any):
        self._distribution = distribution
        self._scope: AbstractContextManager[Any] = nullcontext()

    def __enter__(self) -> None:
        self._scope = self._distribution.scope() if self._distribution else nullcontext()
        self._scope.__enter__()

    def __exit__(self, *exception: Any) -> None:
        self._scope.__exit__(*exception)


def batch_wrapper(dataset: Any, batch_size: int, repeat: int | None = None) -> Any:
    """Batches of a dataset that may be repeated before."""
    return (dataset.repeat(repeat) if repeat else dataset).batch(batch_size)


def get_batch_size(global_batch_size: int, distribution: Any) -> int:
    """What a batch of all replicas is for one call: the same, or each replica's part."""
    if distribution and not global_batch_size_supported(distribution):
        return int(global_batch_size // distribution.num_replicas_in_sync)
    return global_batch_size


def get_data_size(data: Any) -> int:
    """The number of samples of an array, or of arrays in a list, tuple or dictionary."""
    if isinstance(data, dict):
        return len(next(iter(data.values())))
    return len(data[0] if isinstance(data, list | tuple) else data)


def get_shapes(data: Any) -> Any:
    """The shapes of arrays in a structure, None if others are among them."""
    if not all(hasattr(each, "shape") for each in tf.nest.flatten(data)):
        return None
    return tf.nest.map_structure(lambda each: each.shape, data)


_Inputs = tuple[dict[str, Any], dict[str, Any] | None, dict[str, Any] | None]


def get_correctness_test_inputs(
    use_numpy: bool,
    use_validation_data: bool,
    with_distribution: Any,
    x_train: Any,
    y_train: Any,
    x_eval: Any,
    y_eval: Any,
    x_predict: Any,
    training_epochs: int,
) -> _Inputs:
    """The arguments of `fit`, `evaluate` (None where `fit` does it) and `predict`."""
    make = _array_inputs if use_numpy else _dataset_inputs
    return make(
        with_distribution,
        (x_train, y_train),
        (x_eval, y_eval),
        x_predict,
        training_epochs,
        use_validation_data,
    )


def _array_inputs(
    strategy: Any, seen: Any, unseen: Any, x_predict: Any, epochs: int, validate: bool
) -> _Inputs:
    size = get_batch_size(_GLOBAL_BATCH_SIZE, strategy)
    fit = {"batch_size": size, "x": seen[0], "y": seen[1], "epochs": epochs, "shuffle": False}
    if validate:
        return {**fit, "validation_data": unseen}, None, {"x": x_predict}
    return fit, {"batch_size": size, "x": unseen[0], "y": unseen[1]}, {"x": x_predict}


def _dataset_inputs(
    strategy: Any, seen: Any, unseen: Any, x_predict: Any, epochs: int, validate: bool
) -> _Inputs:
    size = get_batch_size(_GLOBAL_BATCH_SIZE, strategy)
    slices = tf.data.Dataset.from_tensor_slices
    fit = {
        "batch_size": None,
        "x": batch_wrapper(slices(seen), size, repeat=epochs),
        "y": None,
        "epochs": epochs,
        "shuffle": False,
        "steps_per_epoch": _steps(seen[0]),
    }
    tested = batch_wrapper(slices(unseen), size)
    if validate:
        fit.update(validation_data=tested, validation_steps=5)
    evaluate = {"batch_size": None, "x": tested, "y": None, "steps": _steps(unseen[0])}
    predicted = batch_wrapper(slices(x_predict), get_batch_size(get_data_size(x_predict), strategy))
    return fit, None if validate else evaluate, {"steps": 1, "x": predicted}


def _steps(data: Any) -> int:
    return int(np.ceil(get_data_size(data) / _GLOBAL_BATCH_SIZE))


# Training twice, and comparing --------------------------------------------------------------------


def fit_eval_and_predict(
    initial_weights: Any,
    input_fn: Callable[[], _Inputs],
    model_fn: Callable[..., Any],
    experimental_run_tf_function: bool | None = None,
    distribution: Any = None,
    is_stateful_model: bool = False,
) -> dict[str, Any]:
    """What a new model gives that is trained, tested, asked and trained again."""
    fit, evaluate, predict = input_fn()
    model = model_fn(
        experimental_run_tf_function=experimental_run_tf_function,
        initial_weights=initial_weights,
        distribution=distribution,
        input_shapes=get_shapes(fit["x"]),
    )
    results: dict[str, Any] = {}
    for turn in (1, 2):
        results[f"training_history_{turn}"] = model.fit(**fit).history
        if evaluate is not None:
            results[f"eval_result_{turn}"] = model.evaluate(**evaluate)
        results[f"weights_{turn}"] = model.get_weights()
        if turn == 1 and predict is not None:
            # A stateful model says something else each time.
            for call in range(3 if is_stateful_model else 1):
                results[f"predict_result_{call}"] = model.predict(**predict)
    return results


def compare_results(
    results_with_ds: dict[str, Any],
    results_without_ds: dict[str, Any],
    distribution: Any,
    testcase: Any,
    partial_last_batch: str | None = None,
) -> None:
    """Asserts that a model trained alike with and without a strategy.

    Args:
      partial_last_batch: "eval" or "train_and_eval" where the last batches are smaller: losses are
        means of batches then, and not compared.
    """
    is_loose = isinstance(distribution, tf.distribute.MirroredStrategy | DefaultStrategy)
    for key in sorted(results_with_ds):
        found, expected = results_with_ds[key], results_without_ds[key]
        tolerance = 1e-3 if partial_last_batch == "train_and_eval" else 1e-5
        if partial_last_batch != "train_and_eval" and is_loose and _follows_weights(key):
            tolerance = 1e-4
        if partial_last_batch is not None:
            found, expected = (_without_losses(key, each) for each in (found, expected))
        testcase.assertAllClose(
            found, expected, atol=tolerance, rtol=tolerance, msg=f"Fail to assert {key}."
        )


def _follows_weights(key: str) -> bool:
    return key.startswith(("weights_", "predict_result"))


def _without_losses(key: str, result: Any) -> Any:
    if key.startswith("eval_result"):
        return result[1:]
    if key.startswith("training_history"):
        return {**result, "val_loss": 0}
    return result


class LearningRateBatchScheduler(keras.callbacks.Callback):
    """Sets another learning rate before each batch, or before every so many."""

    def __init__(self, update_freq: int | None = None):
        self._update_freq = update_freq

    def on_batch_begin(self, batch: int, logs: Any = None) -> None:
        """Sets one of ten rates."""
        if not self._update_freq or batch % self._update_freq == 0:
            keras.backend.set_value(self.model.optimizer.lr, 0.001 * (batch % 10))


class TestDistributionStrategyCorrectnessBase(TensorFlowTestCase, parameterized.TestCase):
    """What the tests of all models share; a subclass has `get_model` and perhaps data."""

    def set_up_test_config(
        self,
        use_numpy: bool = False,
        use_validation_data: bool = False,
        with_batch_norm: bool = False,
    ) -> None:
        """Notes what is tested, and sets the seeds."""
        self.use_numpy = use_numpy
        self.use_validation_data = use_validation_data
        self.with_batch_norm = with_batch_norm
        keras.backend.set_image_data_format("channels_last")
        np.random.seed(_RANDOM_SEED)  # noqa: NPY002 subclasses draw their data with it
        tf.set_random_seed(_RANDOM_SEED)

    def get_data(self) -> tuple[Any, Any, Any]:
        """Bits that are their own labels; nothing to predict."""
        bits = np.random.randint(0, 2, 10000)[:, None].astype("float32")  # noqa: NPY002
        return bits, bits.copy(), None

    def get_data_with_partial_last_batch(self) -> Any:
        """Data to train and test on, in batches of which the last is smaller."""
        raise NotImplementedError

    def get_data_with_partial_last_batch_eval(self) -> Any:
        """Data to train and test on, where only the last batch of the tests is smaller."""
        raise NotImplementedError

    def get_input_for_correctness_test(self, **kwargs: Any) -> _Inputs:
        """The arguments of the model's methods."""
        return get_correctness_test_inputs(**kwargs)

    def get_input_for_dynamic_lr_test(self, **kwargs: Any) -> _Inputs:
        """The arguments of `fit`."""
        return kwargs, None, None

    def get_model(
        self,
        distribution: Any = None,
        experimental_run_tf_function: bool | None = None,
        input_shapes: Any = None,
    ) -> Any:
        """The compiled model."""
        raise NotImplementedError

    def _data(self, partial_last_batch: str | None) -> Any:
        if partial_last_batch == "eval":
            return self.get_data_with_partial_last_batch_eval()
        if partial_last_batch == "train_and_eval":
            return self.get_data_with_partial_last_batch()
        x_train, y_train, x_predict = self.get_data()
        return x_train, y_train, x_train, y_train, x_predict

    def _results(
        self, x_train: Any, inputs_for: Callable[[Any], Any], strategy: Any, **kwargs: Any
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """What models of equal first weights give with and without the strategy."""
        run_function = kwargs.get("experimental_run_tf_function")
        first = self.get_model(
            experimental_run_tf_function=run_function, input_shapes=get_shapes(x_train)
        )
        weights = first.get_weights()
        with_strategy, without = (
            fit_eval_and_predict(
                weights,
                input_fn=functools.partial(inputs_for, each),
                model_fn=self.get_model,
                distribution=each,
                **kwargs,
            )
            for each in (strategy, None)
        )
        return with_strategy, without

    def run_correctness_test(
        self,
        distribution: Any,
        use_numpy: bool,
        use_validation_data: bool,
        experimental_run_tf_function: bool | None = None,
        with_batch_norm: bool = False,
        is_stateful_model: bool = False,
        partial_last_batch: str | None = None,
        training_epochs: int = 2,
    ) -> None:
        """Trains with and without a strategy; both must give the same."""
        with self.cached_session():
            self.set_up_test_config(use_numpy, use_validation_data, with_batch_norm)
            x_train, y_train, x_eval, y_eval, x_predict = self._data(partial_last_batch)

            def inputs_for(strategy: Any) -> _Inputs:
                return self.get_input_for_correctness_test(
                    use_numpy=use_numpy,
                    use_validation_data=use_validation_data,
                    with_distribution=strategy,
                    x_train=x_train,
                    y_train=y_train,
                    x_eval=x_eval,
                    y_eval=y_eval,
                    x_predict=x_predict,
                    training_epochs=training_epochs,
                )

            results = self._results(
                x_train,
                inputs_for,
                distribution,
                experimental_run_tf_function=experimental_run_tf_function,
                is_stateful_model=is_stateful_model,
            )
            # Each replica normalizes its own part of a batch: several ones must differ from one.
            differ = with_batch_norm and distribution.num_replicas_in_sync > 1
            with self.assertRaises(AssertionError) if differ else nullcontext():
                compare_results(*results, distribution, self, partial_last_batch)

    def run_dynamic_lr_test(
        self, distribution: Any, experimental_run_tf_function: bool | None = None
    ) -> None:
        """Trains with a rate that a callback sets, with and without a strategy."""
        with self.cached_session():
            self.set_up_test_config()
            x_train, y_train, _ = self.get_data()

            def inputs_for(strategy: Any) -> _Inputs:
                return self.get_input_for_dynamic_lr_test(
                    x=x_train,
                    y=y_train,
                    batch_size=get_batch_size(_GLOBAL_BATCH_SIZE, strategy),
                    shuffle=False,
                    epochs=2,
                    callbacks=[LearningRateBatchScheduler()],
                    validation_data=(x_train, y_train),
                )

            results = self._results(
                x_train,
                inputs_for,
                distribution,
                experimental_run_tf_function=experimental_run_tf_function,
            )
            compare_results(*results, distribution, self)


class TestDistributionStrategyEmbeddingModelCorrectnessBase(
    TestDistributionStrategyCorrectnessBase
):
    """The base of tests whose samples are short texts of word numbers."""

    def get_data(
        self,
        count: int = _GLOBAL_BATCH_SIZE * _EVAL_STEPS,
        min_words: int = 5,
        max_words: int = 10,
        max_word_id: int = 19,
        num_classes: int = 2,
    ) -> tuple[Any, Any, Any]:
        """Texts of classes that use the words with frequencies of their own."""
        draw = np.random  # the seed is the program's
        frequencies = [np.abs(draw.randn(max_word_id)) for _ in range(num_classes)]
        texts, labels = [], []
        for _ in range(count):
            label = draw.randint(0, num_classes, size=1)[0]
            length = draw.randint(min_words, max_words, size=1)[0]
            chances = frequencies[label] / frequencies[label].sum()
            texts.append(draw.choice(max_word_id, size=length, replace=True, p=chances))
            labels.append(label)
        padded = keras.preprocessing.sequence.pad_sequences(texts, maxlen=max_words)
        x_train = np.asarray(padded, dtype=np.float32)
        y_train = np.asarray(labels, dtype=np.int32).reshape((count, 1))
        return x_train, y_train, x_train[:_GLOBAL_BATCH_SIZE]
