"""Ops without kernels: their nodes have TensorFlow's shapes, and a step says what is missing."""

from __future__ import annotations

import pytest

import penstock as tf
from penstock.ops import other_machines


@pytest.fixture
def session():
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


def _shapes(outputs: object) -> list:
    found = outputs if isinstance(outputs, (list, tuple)) else [outputs]
    return [None if each.shape.ndims is None else tuple(each.shape.as_list()) for each in found]


def test_raw_ops_has_them(session) -> None:
    names = dir(tf.raw_ops)
    assert len(other_machines.OPS) == 96
    assert {spec.name for spec in other_machines.OPS} <= set(names)


def test_collective_nodes(session) -> None:
    ops, x = tf.raw_ops, tf.placeholder(tf.float32, [4, 6])
    groups = tf.zeros([2, 2], tf.int32)
    dealt = ops.AllToAll(
        input=x, group_assignment=groups, concat_dimension=0, split_dimension=1, split_count=2
    )
    assert _shapes(dealt) == [(8, 3)]
    assert _shapes(ops.CrossReplicaSum(input=x, group_assignment=groups)) == [(4, 6)]
    merged = ops.TPUReplicatedInput(inputs=[x, tf.placeholder(tf.float32, [None, 6])])
    assert _shapes(merged) == [(4, 6)]
    assert _shapes(ops.TPUReplicatedOutput(input=x, num_replicas=2)) == [(4, 6), (4, 6)]
    with pytest.raises(ValueError, match="Dimension 1 in both shapes must be equal"):
        ops.TPUReplicatedInput(inputs=[x, tf.placeholder(tf.float32, [4, 5])])


def test_fed_and_fetched_tuples(session) -> None:
    fed = tf.raw_ops.InfeedDequeueTuple(dtypes=[tf.int32, tf.float32], shapes=[[2], [3, 4]])
    assert _shapes(fed) == [(2,), (3, 4)]
    assert [each.dtype for each in fed] == [tf.int32, tf.float32]


def test_tables_of_embeddings(session) -> None:
    found = tf.raw_ops.RetrieveTPUEmbeddingFTRLParametersGradAccumDebug(num_shards=1, shard_id=0)
    assert found._fields == ("parameters", "accumulators", "linears", "gradient_accumulators")
    assert _shapes(found) == [(None, None)] * 4


def test_recurrent_networks(session) -> None:
    state = tf.placeholder(tf.float32, [2, 3, 5])
    inputs = {"input": tf.placeholder(tf.float32, [7, 3, 4]), "input_h": state, "input_c": state}
    found = tf.raw_ops.CudnnRNN(**inputs, params=tf.zeros([9]), direction="bidirectional")
    assert _shapes(found) == [(7, 3, 10), (2, 3, 5), (2, 3, 5), None]


def test_fused_products(session) -> None:
    quantized = {
        "input": tf.placeholder(tf.quint8, [2, 8, 8, 3]),
        "filter": tf.placeholder(tf.qint8, [3, 3, 3, 5]),
    }
    bounds = dict.fromkeys(("min_input", "max_input", "min_filter", "max_filter"), 0.0)
    window = {"strides": [1, 2, 2, 1], "padding": "SAME"}
    plain = tf.raw_ops.QuantizedConv2DAndRelu(**quantized, **bounds, **window)
    assert _shapes(plain) == [(2, 4, 4, 5), (), ()]
    by_channel = tf.raw_ops.QuantizedDepthwiseConv2D(**quantized, **bounds, **window)
    assert _shapes(by_channel) == [(2, 4, 4, 15), None, None]


def test_a_step_says_what_is_missing(session) -> None:
    node = tf.raw_ops.WorkerHeartbeat(request="")
    with pytest.raises(tf.errors.OpError, match="no kernel for WorkerHeartbeat"):
        session.run(node)
