"""What exported time series models are fed with."""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock.contrib.timeseries.feature_keys import TrainEvalFeatures
from penstock.contrib.timeseries.head import state_to_dictionary
from penstock.contrib.timeseries.model import TimeSeriesModel, parsed_placeholders
from penstock.estimator.export import ServingInputReceiver

_TIMES, _VALUES = TrainEvalFeatures.TIMES, TrainEvalFeatures.VALUES


def state_placeholders(
    model: TimeSeriesModel, batch_size_tensor: tf.Tensor, static_batch_size: int | None = None
) -> dict[str, Any]:
    """Placeholders of the tensors of a batch of states, of zeros if they are not fed."""
    with tf.Graph().as_default():
        model.initialize_graph()
        zeros = tf.nest.map_structure(
            lambda tensor: tf.get_static_value(tf.zeros_like(tensor)), model.get_start_state()
        )
    made = {}
    for name, state in state_to_dictionary(zeros).items():
        ones = tf.ones(len(state.shape), dtype=tf.int32)
        multiples = tf.concat([batch_size_tensor[None], ones], axis=0)
        made[name] = tf.placeholder_with_default(
            tf.tile(state[None, ...], multiples),
            name=name,
            shape=tf.TensorShape((static_batch_size,)).concatenate(state.shape),
        )
    return made


def raw_receiver(
    model: TimeSeriesModel, batch_size: int | None, length: int | None
) -> ServingInputReceiver:
    """Placeholders of all features and of states."""
    times = tf.placeholder(name=_TIMES, dtype=tf.int64, shape=[batch_size, length])
    no_values = tf.zeros([batch_size or 0, length or 0, model.num_features], dtype=model.dtype)
    placeholders = {
        _TIMES: times,
        _VALUES: tf.placeholder_with_default(
            no_values, name=_VALUES, shape=(batch_size, length, model.num_features)
        ),
    }
    if model.exogenous_feature_columns:
        with tf.Graph().as_default():
            parsed = parsed_placeholders(model.exogenous_feature_columns)
        for key, value in parsed.items():
            shape = value.get_shape().with_rank_at_least(1).as_list()
            placeholders[key] = tf.placeholder(
                dtype=value.dtype, name=key, shape=[batch_size, length, *shape[1:]]
            )
    placeholders.update(state_placeholders(model, tf.shape(times)[0], batch_size))
    return ServingInputReceiver(placeholders, placeholders)


def _with_time(key: str, spec: Any, length: int) -> Any:
    """How a feature of each time is parsed, all times together."""
    if isinstance(spec, tf.FixedLenFeature):
        return spec._replace(shape=(length, *spec.shape))
    if spec.dtype == tf.string:
        return tf.FixedLenFeature(shape=(length,), dtype=tf.string)
    raise ValueError(f"VarLenFeatures not supported, got {spec} for key {key}")


def example_receiver(
    model: TimeSeriesModel,
    filtering_length: int,
    values_length: int,
    total_length: int,
    batch_size: int | None,
    values_dtype: Any,
) -> ServingInputReceiver:
    """A placeholder of `tf.train.Example`s with whole series.

    Args:
      filtering_length: how many of the values are used.
      values_length: how many values an example has.
      total_length: how many times it has.
    """
    times_column = tf.feature_column.numeric_column(key=_TIMES, dtype=tf.int64)
    values_column = tf.feature_column.numeric_column(
        key=_VALUES, dtype=values_dtype, shape=(model.num_features,)
    )
    columns = [*model.exogenous_feature_columns, times_column, values_column]
    specs = {
        key: _with_time(key, spec, values_length if key == _VALUES else total_length)
        for key, spec in tf.feature_column.make_parse_example_spec(columns).items()
    }
    examples = tf.placeholder(shape=[batch_size], dtype=tf.string, name="input")
    features = tf.parse_example(serialized=examples, features=specs)
    features[_TIMES] = tf.squeeze(features[_TIMES], axis=-1)
    values = tf.cast(features[_VALUES], dtype=model.dtype)
    features[_VALUES] = values[:, :filtering_length]
    features.update(state_placeholders(model, tf.shape(features[_TIMES])[0], batch_size))
    return ServingInputReceiver(features, {"examples": examples})
