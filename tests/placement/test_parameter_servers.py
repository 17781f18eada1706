"""Strategies that spread variables over parameter servers while a graph is built."""

import pytest

import penstock as tf

CLUSTER = {"ps": ["ps0:1", "ps1:1"], "worker": ["worker0:1"]}
SHAPES = ([2, 2], [2, 1], [2, 2], [1, 3])


def tasks(strategy, **kind):
    setter = tf.train.replica_device_setter(cluster=CLUSTER, ps_strategy=strategy)
    with tf.Graph().as_default(), tf.device(setter):
        variables = [tf.Variable(tf.zeros(shape), **kind) for shape in SHAPES]
        total = tf.add_n([tf.reduce_sum(variable) for variable in variables])
    assert total.device == "/job:worker"
    assert all(v.initializer.device == v.device for v in variables)
    return [tf.DeviceSpec.from_string(v.device).task for v in variables]


def test_in_turn():
    assert tasks(None) == [0, 1, 0, 1]


# TensorFlow 1.15 counts what the node gives: of a resource variable, a handle.
@pytest.mark.parametrize(
    ("use_resource", "expected"), [(False, [0, 1, 1, 0]), (True, [0, 1, 0, 1])]
)
def test_by_size(use_resource, expected):
    training = tf.contrib.training
    strategy = training.GreedyLoadBalancingStrategy(2, training.byte_size_load_fn)
    assert tasks(strategy, use_resource=use_resource) == expected


def test_by_equal_loads():
    assert tasks(tf.contrib.training.GreedyLoadBalancingStrategy(2, lambda op: 1)) == [0, 1, 0, 1]


# What TensorFlow 1.15 gives for the names Variable, Variable_1, …
RECORDED = {(2, 0): [1, 0, 1, 1], (2, 1): [0, 0, 1, 1], (3, 0): [1, 1, 2, 2], (7, 1): [5, 3, 2, 1]}


@pytest.mark.parametrize(("settings", "expected"), RECORDED.items(), ids=str)
def test_by_a_hash_of_the_name(settings, expected):
    count, seed = settings
    assert tasks(tf.contrib.training.RandomStrategy(count, seed)) == expected
