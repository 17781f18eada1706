"""What tests of time series models share: windows of a series, and models fitted to own series."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

import penstock as tf
from penstock import logging
from penstock.contrib.timeseries.covariances import sign_magnitude_positive_definite
from penstock.contrib.timeseries.estimators import TimeSeriesRegressor
from penstock.contrib.timeseries.feature_keys import TrainEvalFeatures
from penstock.contrib.timeseries.input_functions import TimeSeriesInputFn, WholeDatasetInputFn
from penstock.contrib.timeseries.readers import TimeSeriesReader
from penstock.contrib.timeseries.state_management import PassthroughStateManager
from penstock.estimator import ModeKeys, RunConfig
from penstock.shapes import dimension_value

Selection = Callable[[Any], Any]
Generate = Callable[[Any], tuple[TimeSeriesReader, Mapping[Any, Any]]]

_PASSTHROUGH = PassthroughStateManager()


def _nothing(_: Any) -> tuple[()]:
    return ()


class AllWindowInputFn(TimeSeriesInputFn):
    """All windows of a series, one for each record that one can begin with, as a batch."""

    def __init__(self, time_series_reader: TimeSeriesReader, window_size: int):
        self._window_size = window_size
        self._reader = time_series_reader

    def create_batch(self) -> tuple[dict[str, Any], None]:
        features = self._reader.read_full()
        size = self._window_size
        count = tf.shape(features[TrainEvalFeatures.TIMES])[0] - size + 1
        places = tf.range(count)[:, tf.newaxis] + tf.range(size)[tf.newaxis, :]
        return {key: tf.gather(value, places) for key, value in features.items()}, None


class _LastValues(tf.train.SessionRunHook):
    """Keeps the values that tensors have at the last step of training."""

    def __init__(self, names: list[str]):
        self._names = names
        self._tensors: dict[str, Any] = {}
        self.tensor_values: dict[str, Any] = {}

    def begin(self) -> None:
        graph = tf.get_default_graph()
        for name in self._names:
            try:
                self._tensors[name] = graph.get_tensor_by_name(name)
            except KeyError:  # parameters that are computed are in the scope of the head
                self._tensors[name] = graph.get_tensor_by_name(f"head/{name}")

    def before_run(self, run_context: Any) -> Any:
        return tf.train.SessionRunArgs(self._tensors)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        self.tensor_values = run_values.results


@dataclass
class _Outcome:
    """What came of training, beside what is true."""

    ignored: Any
    parameters: dict[str, Any]
    learned: dict[str, Any]
    derived: dict[Any, Any]
    graph: Any
    trained_loss: float
    true_loss: float


def _true_results(
    model: Any,
    reader: TimeSeriesReader,
    parameters: dict[str, Any],
    ignored: Selection,
    derived: Selection,
) -> tuple[Any, Any, float, dict[Any, Any]]:
    """The graph, ignored parameters, the loss and derived values, with the true parameters."""
    manager = PassthroughStateManager()
    with tf.Graph().as_default() as graph:
        model.initialize_graph()
        left_out = ignored(model)
        features, _ = WholeDatasetInputFn(reader)()
        manager.initialize_graph(model)
        values = TrainEvalFeatures.VALUES
        features[values] = tf.cast(features[values], model.dtype)
        outputs = manager.define_loss(model=model, features=features, mode=ModeKeys.EVAL)
        with tf.Session(graph=graph) as session:
            session.run(tf.global_variables_initializer())
            coordinator = tf.train.Coordinator()
            threads = tf.train.start_queue_runners(session, coord=coordinator)
            loss = session.run(outputs.loss, parameters)
            found = {each: session.run(each, parameters) for each in derived(model)}
            coordinator.request_stop()
            coordinator.join(threads)
    return graph, left_out, loss, found


def _train_on_generated_data(
    generate_fn: Generate,
    generative_model: Any,
    train_iterations: int,
    seed: int,
    learning_rate: float = 0.1,
    ignore_params_fn: Selection = _nothing,
    derived_param_test_fn: Selection = _nothing,
    train_input_fn_type: Callable[..., Any] = WholeDatasetInputFn,
    train_state_manager: Any = _PASSTHROUGH,
) -> _Outcome:
    tf.set_random_seed(seed)
    with tf.Graph().as_default() as graph, tf.Session(graph=graph):
        generative_model.initialize_graph()
        reader, drawn = generate_fn(generative_model)
        parameters = {tensor.name: value for tensor, value in drawn.items()}
    graph, ignored, true_loss, derived = _true_results(
        generative_model, reader, parameters, ignore_params_fn, derived_param_test_fn
    )
    kept = _LastValues(list(parameters))
    estimator = TimeSeriesRegressor(
        model=generative_model,
        config=RunConfig(tf_random_seed=seed),
        state_manager=train_state_manager,
        optimizer=tf.train.AdamOptimizer(learning_rate),
    )
    estimator.train(
        train_input_fn_type(time_series_reader=reader), max_steps=train_iterations, hooks=[kept]
    )
    loss = estimator.evaluate(WholeDatasetInputFn(reader), steps=1)["loss"]
    logging.info("Final trained loss: %f", loss)
    logging.info("True parameter loss: %f", true_loss)
    return _Outcome(
        ignored, parameters, kept.tensor_values, derived, graph, float(loss), float(true_loss)
    )


def test_parameter_recovery(
    generate_fn: Generate,
    generative_model: Any,
    train_iterations: int,
    test_case: Any,
    seed: int,
    learning_rate: float = 0.1,
    rtol: float = 0.2,
    atol: float = 0.1,
    train_loss_tolerance_coeff: float = 0.99,
    ignore_params_fn: Selection = _nothing,
    derived_param_test_fn: Selection = _nothing,
    train_input_fn_type: Callable[..., Any] = WholeDatasetInputFn,
    train_state_manager: Any = _PASSTHROUGH,
) -> None:
    """Checks that a model that is fitted to a series of its own gets its parameters back.

    Args:
      generate_fn: makes of a model a reader of a series and the parameters it was drawn with.
      test_case: whose assertions are used.
      train_loss_tolerance_coeff: how near the loss has to be to that of the true parameters.
      ignore_params_fn: parameters that need not be found.
      derived_param_test_fn: tensors that must have the values that the true parameters give.
    """
    outcome = _train_on_generated_data(
        generate_fn,
        generative_model,
        train_iterations,
        seed,
        learning_rate,
        ignore_params_fn,
        derived_param_test_fn,
        train_input_fn_type,
        train_state_manager,
    )
    with tf.Session(graph=outcome.graph) as session:
        for tensor, value in outcome.derived.items():
            found = session.run(tensor, outcome.learned)
            test_case.assertAllClose(value, found, rtol=rtol, atol=atol)
    factor = train_loss_tolerance_coeff
    scale = factor if outcome.trained_loss > 0 else 1 / factor
    test_case.assertLess(outcome.trained_loss * scale, outcome.true_loss)
    ignored = {tensor.name for tensor in tf.nest.flatten(outcome.ignored or ())}
    for name, value in outcome.parameters.items():
        if name not in ignored:
            test_case.assertAllClose(value, outcome.learned[name], rtol=rtol, atol=atol)


test_parameter_recovery.__test__ = False  # type: ignore[attr-defined]  # it is called by tests


def parameter_recovery_dry_run(
    generate_fn: Generate,
    generative_model: Any,
    seed: int,
    learning_rate: float = 0.1,
    train_input_fn_type: Callable[..., Any] = WholeDatasetInputFn,
    train_state_manager: Any = _PASSTHROUGH,
) -> None:
    """Trains a model on a series of its own for two steps."""
    _train_on_generated_data(
        generate_fn,
        generative_model,
        2,
        seed,
        learning_rate,
        train_input_fn_type=train_input_fn_type,
        train_state_manager=train_state_manager,
    )


def transition_power_test_template(test_case: Any, model: Any, num_steps: int) -> None:
    """Checks a state space model's transitions of several steps by products of single ones."""
    step = tf.placeholder(shape=[], dtype=tf.int64)
    powers = model.transition_to_powers(powers=tf.stack([step, step]))
    transition = tf.convert_to_tensor(model.get_state_transition(), dtype=model.dtype)
    with test_case.test_session() as session:
        single = session.run(transition)
        expected = np.eye(len(single), dtype=single.dtype)
        rtol = 1e-8 if expected.dtype == np.float64 else 1e-4
        for number in range(num_steps):
            found = session.run(powers, {step: number})
            test_case.assertAllClose(expected, found[0], rtol=rtol)
            expected = expected @ single


def noise_accumulator_test_template(test_case: Any, model: Any, num_steps: int) -> None:
    """Checks a state space model's noise of several steps by sums of that of single ones."""
    transition = tf.convert_to_tensor(model.get_state_transition(), dtype=model.dtype)
    transform = tf.convert_to_tensor(model.get_noise_transform(), dtype=model.dtype)
    state_size, noise_size = (
        dimension_value(transition.shape[0]),
        dimension_value(transform.shape[1]),
    )

    def covariance(size: Any) -> tf.Tensor:
        raw = tf.random_normal(shape=[size, size], dtype=model.dtype)
        return sign_magnitude_positive_definite(raw=raw)

    step = tf.placeholder(shape=[], dtype=tf.int64)
    with test_case.test_session() as session:
        single, entering, moved, noise = session.run(
            [transition, transform, covariance(state_size), covariance(noise_size)]
        )
        model.state_transition_noise_covariance = noise
        times = tf.range(num_steps + 1)[..., None]
        model._window_initializer(times=times, state=(None, None, 0))
        accumulated = model.transition_power_noise_accumulator(num_steps=step)
        added = entering @ noise @ entering.T
        expected = moved
        rtol = 1e-8 if expected.dtype == np.float64 else 1e-3
        for number in range(num_steps):
            found = session.run(accumulated, {step: number})
            test_case.assertAllClose(expected, found + moved, rtol=rtol)
            moved = single @ moved @ single.T
            expected = single @ expected @ single.T + added
