"""Full names of devices, questions about clusters, and tensors that depend on others."""

from __future__ import annotations

import pytest

import penstock as tf
from penstock.distribute import clusters
from penstock.internal_paths import core_strategies, device_functions
from penstock.internal_paths.graph_mode import eager_mode
from penstock.internal_paths.table import sources
from penstock.layers.reachable_tensors import get_reachable_from_inputs, static_shape

CLUSTER = {"chief": ["a:1"], "worker": ["b:1", "c:1"], "ps": ["d:1"], "evaluator": ["e:1"]}


def test_the_device_of_nested_scopes():
    with tf.Graph().as_default():
        assert device_functions.current() == ""
        with tf.device("/job:worker"):
            assert device_functions.resolve("") == "/job:worker/replica:0/task:0/device:CPU:0"
            with tf.device("/gpu:1"):
                assert device_functions.current() == "/job:worker/device:GPU:1"


@pytest.mark.parametrize(
    ("device", "default", "full"),
    [
        ("", None, "/replica:0/task:0/device:CPU:0"),
        ("/cpu:1", None, "/replica:0/task:0/device:CPU:1"),
        ("/job:a/task:2", "/device:GPU:1", "/job:a/replica:0/task:2/device:GPU:1"),
    ],
)
def test_full_names(device, default, full):
    assert device_functions.canonicalize(device, default) == full


def test_local_devices():
    assert device_functions.local_devices_from_num_gpus(2) == ("/device:GPU:0", "/device:GPU:1")
    assert device_functions.local_devices_from_num_gpus(0) == ("/device:CPU:0",)


@pytest.mark.parametrize(
    ("question", "arguments", "message"),
    [
        (clusters.is_chief, (), "None of `cluster_spec`, `task_type`, and `task_id` should be"),
        (clusters.is_chief, (CLUSTER, "other", 0), "Unrecognized task_type: 'other'"),
        (clusters.is_chief, ({"worker": ["a:1"]}, "chief", 0), "'chief' not found in cluster_spec"),
        (clusters.is_chief, (CLUSTER, "worker", 5), "The `task_id` 5 exceeds the maximum id of"),
        (clusters.worker_count, (CLUSTER, "ps"), "Unexpected `task_type` 'ps'"),
        (clusters.id_in_cluster, (CLUSTER, "ps", 0), "There is no id for task_type 'ps'"),
    ],
)
def test_questions_about_tasks_that_make_no_sense(question, arguments, message):
    with pytest.raises(ValueError, match=message):
        question(*arguments)


def test_a_cluster_without_tasks_has_no_leader():
    assert clusters.collective_leader({}, "", 0) == ""


def test_tensors_that_depend_on_others():
    with tf.Graph().as_default():
        x, z = tf.placeholder(tf.float32, [None, 2]), tf.constant(1.0)
        y, w = x * 2, z + 1
        assert get_reachable_from_inputs([x]) == {x, y}
        assert get_reachable_from_inputs([x, z], [w]) == {x, z, w}
        assert static_shape(x) == (None, 2)
        assert static_shape(tf.placeholder(tf.float32)) is None


def test_devices_of_the_process_have_a_job_in_eager_mode():
    full = "/job:localhost/replica:0/task:0/device:"
    with eager_mode():
        assert device_functions.current() == ""
        assert device_functions.canonicalize("/cpu:0") == f"{full}CPU:0"
        assert device_functions.canonicalize("/job:worker/cpu:0").startswith("/job:worker/")
        with tf.device("/cpu:0"):
            assert device_functions.current() == f"{full}CPU:0"
            assert device_functions.resolve("/gpu:0") == f"{full}GPU:0"
        strategy = tf.distribute.OneDeviceStrategy("/cpu:0")
        assert strategy.extended.worker_devices == (f"{full}CPU:0",)


@pytest.mark.parametrize("kind", ["Mirrored", "ParameterServer"])
def test_contribs_modules_name_what_their_strategies_are_made_of(kind: str) -> None:
    module = {"Mirrored": "mirrored", "ParameterServer": "parameter_server"}[kind]
    named = sources(f"contrib.distribute.python.{module}_strategy")
    assert named is not None and "internal_paths.core_strategies" in named
    core = getattr(core_strategies, f"Core{kind}Strategy")
    public = tf.distribute if kind == "Mirrored" else tf.distribute.experimental
    assert core is getattr(public, f"{kind}Strategy")
    extended = getattr(core_strategies, f"Core{kind}Extended")
    assert issubclass(extended, tf.distribute.StrategyExtended)
