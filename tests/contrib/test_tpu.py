"""`tf.contrib.tpu` without TPUs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from penstock.contrib.tpu.python.tpu import tpu_config, tpu_estimator, tpu_feed, tpu_sharding

import penstock as tf
from penstock.contrib.tpu import configuration

tpu = tf.contrib.tpu

X = np.linspace(-1, 1, 64).astype(np.float32)[:, None]


def model_fn(features: Any, labels: Any, mode: str, params: Any) -> Any:
    predicted = tf.layers.dense(features, 1)[:, 0]
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tpu.TPUEstimatorSpec(mode, predictions={"y": predicted})
    loss = tf.losses.mean_squared_error(labels, predicted)
    optimizer = tpu.CrossShardOptimizer(tf.train.AdamOptimizer(0.1))
    return tpu.TPUEstimatorSpec(
        mode,
        loss=loss,
        train_op=optimizer.minimize(loss, tf.train.get_global_step()),
        eval_metrics=(
            lambda labels, y: {"error": tf.metrics.mean_absolute_error(labels, y)},
            [labels, predicted],
        ),
        host_call=(lambda loss: tf.identity(loss), [tf.reshape(loss, [1])]),
    )


def input_fn(params: Any) -> Any:
    data = tf.data.Dataset.from_tensor_slices((X, 3 * X[:, 0]))
    return data.repeat(100).batch(params["batch_size"], drop_remainder=True)


@pytest.fixture
def estimator(tmp_path: Any) -> Any:
    config = tpu.RunConfig(
        model_dir=str(tmp_path),
        tpu_config=tpu.TPUConfig(
            iterations_per_loop=10,
            per_host_input_for_training=tpu.InputPipelineConfig.PER_HOST_V2,
        ),
    )
    return tpu.TPUEstimator(
        model_fn,
        config=config,
        use_tpu=False,
        train_batch_size=16,
        eval_batch_size=8,
        predict_batch_size=4,
    )


def test_runs_as_an_estimator(estimator: Any) -> None:
    estimator.train(input_fn, max_steps=100)
    assert estimator.evaluate(input_fn, steps=4)["error"] < 0.1
    predictions = estimator.predict(input_fn, yield_single_examples=False)
    assert next(predictions)["y"].shape == (4,)


def test_batch_size_is_a_parameter(estimator: Any) -> None:
    with pytest.raises(ValueError, match="input_fn .* does not include params argument"):
        estimator.train(lambda: None, steps=1)
    with pytest.raises(ValueError, match="are reserved keys"):
        tpu.TPUEstimator(model_fn, use_tpu=False, params={"batch_size": 1})


def test_says_that_there_are_no_tpus() -> None:
    with pytest.raises(NotImplementedError, match="pass use_tpu=False"):
        tpu.TPUEstimator(model_fn, train_batch_size=1)
    with pytest.raises(AttributeError, match="no TPUs here"):
        _ = tpu.rewrite


def test_internal_paths() -> None:
    assert tpu_config.RunConfig is tpu.RunConfig
    assert tpu_estimator.TPUEstimatorSpec is tpu.TPUEstimatorSpec


def test_outside_of_a_tpu_computation_there_are_no_shards() -> None:
    from penstock.contrib.tpu.python.ops import tpu_ops
    from penstock.python.tpu import tpu_function

    context = tpu_function.get_tpu_context()
    assert context.number_of_shards is None
    with tpu_function.tpu_shard_context(8):
        assert context.number_of_shards == 8
        with pytest.raises(NotImplementedError, match="nested"), tpu_function.tpu_shard_context(2):
            pass
    assert context.number_of_shards is None
    assert tpu_ops.cross_replica_sum is tpu.cross_replica_sum


def test_topologies_are_written_and_read() -> None:
    points = [[[0, 0, 0], [0, 0, 1]], [[0, 1, 0], [0, 1, 1]]]
    made = tpu.Topology(mesh_shape=[1, 2, 2], device_coordinates=points)
    read = tpu.Topology(serialized=made.serialized())
    assert read.device_coordinates.tolist() == points
    assert read.mesh_shape.tolist() == [1, 2, 2]
    assert (read.num_tasks, read.num_tpus_per_task, read.mesh_rank) == (2, 2, 3)
    assert read.tpu_device_name_at_coordinates([0, 1, 1], job="worker") == (
        "/job:worker/task:1/device:TPU:1"
    )
    assert read.cpu_device_name_at_coordinates([0, 0, 1]) == "/task:0/device:CPU:0"
    with pytest.raises(ValueError, match="three sizes"):
        tpu.Topology(mesh_shape=[1, 2], device_coordinates=points)


def test_policies_of_shards() -> None:
    policy = tpu_sharding.ShardingPolicy()
    assert str(policy) == "ShardingPolicy(unset)"
    policy.set_number_of_shards(3)
    policy.set_shard_dimension(1)
    assert str(policy) == "ShardingPolicy(3 shards dimension 1)"
    assert policy.get_sharded_shape([4, 9]) == [4, 3]
    assert policy.get_unsharded_shape([[4, 3]] * 3) == [4, 9]
    policy.freeze()
    for bad in ([4, 10], [4, None], [4], None):
        with pytest.raises(ValueError):
            policy.get_sharded_shape(bad)
    for shapes in ([[4, 3]], [[4, 3], [4, 3], [5, 3]]):
        with pytest.raises(ValueError):
            policy.get_unsharded_shape(shapes)
    with pytest.raises(ValueError, match="frozen with 3 shards"):
        policy.set_number_of_shards(2)


def test_queues_learn_shapes_from_shards() -> None:
    queue = tpu_feed.InfeedQueue(number_of_tuple_elements=2)
    shard = [tf.zeros([2, 4]), tf.zeros([2], tf.int32)]
    queue.set_configuration_from_sharded_input_tensors([shard, shard])
    assert queue.number_of_shards == 2
    assert queue.tuple_shapes == [[4, 4], [4]]
    assert queue.tuple_types == [tf.float32, tf.int32]
    queue.freeze()
    queue.set_tuple_shapes([[4, 4], [4]])
    for change in (
        lambda: queue.set_number_of_shards(1),
        lambda: queue.set_tuple_shapes([[8, 8], [8]]),
        lambda: queue.set_tuple_types([tf.int32, tf.float32]),
        lambda: queue.set_shard_dimensions([1, 0]),
    ):
        with pytest.raises(ValueError):
            change()


def test_queues_must_be_told_their_size() -> None:
    with pytest.raises(ValueError, match="needs number_of_tuple_elements"):
        tpu_feed.InfeedQueue()
    with pytest.raises(ValueError, match="needs 2 elements"):
        tpu_feed.InfeedQueue(number_of_tuple_elements=2, tuple_types=[tf.float32])


def test_time_of_a_loop() -> None:
    parse = configuration.parse_iterations_per_loop
    assert parse(100) == (100, "count")
    assert [parse(each) for each in ("300s", "1m", "1h")] == [
        (300, "seconds"),
        (60, "seconds"),
        (3600, "seconds"),
    ]
    assert tf.contrib.tpu.TPUConfig(iterations_per_loop="1m").iterations_per_loop == "1m"
    for wrong in (0, -1, "-1h", "1d"):
        with pytest.raises(ValueError, match="must be positive"):
            tf.contrib.tpu.TPUConfig(iterations_per_loop=wrong)
    with pytest.raises(ValueError, match="only supported in PER_HOST_V2"):
        tf.contrib.tpu.TPUConfig(input_partition_dims=[[1]])


def test_masters_and_names_in_the_environment(monkeypatch: Any) -> None:
    def config_in(tf_config: str, **kwargs: Any) -> Any:
        monkeypatch.setenv("TF_CONFIG", tf_config)
        return tf.contrib.tpu.RunConfig(**kwargs)

    masters = '{"session_master": "a", "eval_session_master": "b"}'
    config = config_in(masters, master="m")
    assert (config.master, config.evaluation_master) == ("m", "b")
    config = config_in('{"session_master": "a"}')
    assert (config.master, config.evaluation_master) == ("a", "a")
    evaluator = '{"cluster": {"chief": ["h:0"]}, "task": {"type": "evaluator", "index": 0}}'
    assert config_in(evaluator, master="m").evaluation_master == ""
    service = '{"service": {"tpu_worker_job_name": "tpus"}}'
    assert config_in(service).tpu_config.tpu_job_name == "tpus"
    chief = '{"cluster": {"chief": ["h:0"]}, "task": {"type": "chief", "index": 0}}'
    assert config_in(chief).session_config is None
