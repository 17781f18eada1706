"""The loops of autoregressive models over windows, for predictions and evaluations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import penstock as tf
from penstock.contrib.timeseries.feature_keys import PredictionFeatures, TrainEvalFeatures
from penstock.contrib.timeseries.model import Features, ModelOutputs, exogenous
from penstock.estimator import ModeKeys
from penstock.shapes import dimension_value

if TYPE_CHECKING:
    from penstock.contrib.timeseries.ar_model import ARModel

_TIMES, _VALUES = TrainEvalFeatures.TIMES, TrainEvalFeatures.VALUES


def _joined(windows: Any, shape: Any) -> tf.Tensor:
    """Windows that were written one after the other, as a series."""
    return tf.reshape(tf.transpose(windows.stack(), [1, 0, 2, 3]), shape)


class _Horizon:
    """The times to predict for, in as many whole windows as they need."""

    def __init__(self, model: ARModel, features: Features):
        size = model.output_window_size
        times = tf.cast(tf.convert_to_tensor(features[PredictionFeatures.TIMES]), tf.int32)
        regressors = model._process_exogenous_features(times=times, features=exogenous(features))
        same = tf.assert_equal(tf.shape(times)[1], tf.shape(regressors)[1])
        with tf.control_dependencies([same]):
            regressors = tf.identity(regressors)
        self.batch, self.count = tf.shape(times)[0], tf.shape(times)[1]
        self.windows = (self.count + size - 1) // size
        missing = self.windows * size - self.count
        self.times = tf.pad(times, [[0, 0], [0, missing]])
        self.regressors = tf.pad(regressors, [[0, 0], [0, missing], [0, 0]])


def _first_input(model: ARModel, horizon: _Horizon, state: Any) -> tuple[Any, Any, Any]:
    """Times, values and exogenous features that the first window is predicted from."""
    before, after = model.input_window_size, model.output_window_size
    times, regressors = horizon.times[:, :after], horizon.regressors[:, :after, :]
    if not before:
        return times, tf.constant(0), regressors
    known_times = tf.cast(tf.convert_to_tensor(state[0]), tf.int32)
    known_values = tf.convert_to_tensor(state[1], dtype=model.dtype)
    known_regressors = tf.convert_to_tensor(state[2], dtype=model.dtype)
    times = tf.concat([known_times[:, -before:], times], 1)
    count = tf.shape(known_values)[1]
    enough = tf.assert_greater_equal(count, before)
    same = tf.assert_equal(count, tf.shape(known_times)[1])
    with tf.control_dependencies([enough, same]):
        values = known_values[:, -before:, :]
        regressors = tf.concat([known_regressors[:, -before:, :], regressors], axis=1)
    return times, values, regressors


def _next_input(
    model: ARModel, horizon: _Horizon, offset: Any, fed: tuple[Any, Any, Any], mean: tf.Tensor
) -> tuple[Any, Any, Any]:
    """What the window at an offset is predicted from, once the one before it is known."""
    times, values, regressors = fed
    before, after = model.input_window_size, model.output_window_size
    end = offset + after
    if not before:
        return horizon.times[:, offset:end], values, horizon.regressors[:, offset:end, :]
    if after >= before:
        start = offset - before
        return (
            horizon.times[:, start:end],
            mean[:, -before:, :],
            horizon.regressors[:, start:end, :],
        )
    new = horizon.regressors[:, offset:end, :]
    return (
        tf.concat([times[:, -before:], horizon.times[:, offset:end]], 1),
        tf.concat([values[:, after:, :], mean], 1),
        tf.concat([regressors[:, -before:, :], new], axis=1),
    )


def predict_windows(model: ARModel, features: Features) -> tuple[tf.Tensor, tf.Tensor]:
    """Means and variances at the times to predict for, in the model's scale."""
    horizon = _Horizon(model, features)
    first = _first_input(model, horizon, features[PredictionFeatures.STATE_TUPLE])
    shapes = [tensor.get_shape() for tensor in first]
    with_variance = model.loss != model.SQUARED_LOSS

    def body(number: Any, fed: Any, means: Any, variances: Any) -> Any:
        predicted = model.prediction_ops(*fed)
        offset = model.output_window_size * tf.minimum(number + 1, horizon.windows - 1)
        following = _next_input(model, horizon, offset, fed, predicted["mean"])
        for tensor, shape in zip(following, shapes, strict=True):
            tensor.set_shape(shape)
        if with_variance:
            variances = variances.write(number, predicted["covariance"])
        return number + 1, following, means.write(number, predicted["mean"]), variances

    arrays = [tf.TensorArray(dtype=model.dtype, size=horizon.windows) for _ in range(2)]
    _, _, means, variances = tf.while_loop(
        lambda number, *_: tf.less(number, horizon.windows), body, [tf.constant(0), first, *arrays]
    )
    shape = tf.stack([horizon.batch, horizon.windows * model.output_window_size, -1])
    mean = _joined(means, shape)[:, : horizon.count, :]
    if not with_variance:
        return mean, tf.ones_like(mean)
    return mean, _joined(variances, shape)[:, : horizon.count, :]


def windows_evaluated(
    model: ARModel, features: Features, regressors: tf.Tensor, state: Any
) -> ModelOutputs:
    """What the model makes of series longer than a window: each is predicted from the last."""
    times = features[_TIMES]
    _check_length(model, times)
    size, after = model.window_size, model.output_window_size
    windows = (tf.shape(times)[1] - model.input_window_size) // after
    kept = windows * after + model.input_window_size
    cropped = {name: value[:, -kept:] for name, value in features.items()}

    def body(number: Any, losses: Any, means: Any, variances: Any) -> Any:
        start = number * after
        outputs = model._process_window(
            features={name: value[:, start : start + size] for name, value in cropped.items()},
            mode=ModeKeys.EVAL,
            exogenous_regressors=regressors[:, start : start + size],
        )
        return (
            number + 1,
            losses.write(number, outputs.loss),
            means.write(number, outputs.predictions["mean"]),
            variances.write(number, outputs.predictions["covariance"]),
        )

    arrays = [tf.TensorArray(dtype=model.dtype, size=windows) for _ in range(3)]
    _, losses, means, variances = tf.while_loop(
        lambda number, *_: number < windows, body, [tf.constant(0), *arrays]
    )
    values = tf.cast(cropped[_VALUES], dtype=model.dtype)
    shape = [tf.shape(times)[0], after * windows, model.num_features]
    return ModelOutputs(
        loss=tf.reduce_mean(losses.stack(), axis=0),
        end_state=_state_after(model, times, values, regressors, state),
        predictions={
            "mean": _joined(means, shape),
            "covariance": _joined(variances, shape),
            "observed": values[:, -windows * after :],
        },
        prediction_times=times[:, -windows * after :],
    )


def _check_length(model: ARModel, times: tf.Tensor) -> None:
    times.get_shape().assert_has_rank(2)
    length = dimension_value(times.get_shape()[1])
    if length is not None and length < model.window_size:
        raise ValueError(
            "ARModel requires a window of at least input_window_size + output_window_size to "
            f"evaluate on (input_window_size={model.input_window_size}, "
            f"output_window_size={model.output_window_size}, and got shape {times.get_shape()} "
            f"for feature '{_TIMES}' (batch size, window size))."
        )


def _state_after(
    model: ARModel, times: tf.Tensor, values: tf.Tensor, regressors: tf.Tensor, state: Any
) -> Any:
    """The last of what is known, the state before included."""
    size = model.input_window_size
    if not size:
        return state
    now = (tf.cast(times, tf.int64), model._scale_data(values), regressors)
    last = tuple(
        tf.concat([old, new], axis=1)[:, -size:] for old, new in zip(state, now, strict=True)
    )
    last[0].set_shape((None, size))
    last[1].set_shape((None, size, model.num_features))
    last[2].set_shape((None, size, model.exogenous_size))
    return last
