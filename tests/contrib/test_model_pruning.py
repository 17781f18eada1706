"""`tf.contrib.model_pruning`; names and counts are TensorFlow 1.15's."""

from __future__ import annotations

import numpy as np
import pytest

import penstock as tf
from penstock.contrib import model_pruning, slim
from penstock.contrib.model_pruning import blocks


@pytest.fixture
def session():
    tf.train.get_or_create_global_step()
    with tf.Session() as made:
        yield made


def _hundred():
    return tf.linspace(1.0, 100.0, 100)


def test_half_of_the_weights_are_pruned(session):
    weights = tf.Variable(_hundred(), name="weights")
    masked = model_pruning.apply_mask(weights)
    assert masked.op.name == "weights/masked_weight"
    update = model_pruning.Pruning(sparsity=tf.constant(0.5)).mask_update_op()
    assert update.name == "model_pruning_1/mask_update"
    session.run(tf.global_variables_initializer())
    session.run(update)
    assert np.count_nonzero(session.run(masked)) == 50
    assert session.run(model_pruning.get_weight_sparsity()) == [0.5]


def test_weights_in_parts(session):
    partitioner = tf.variable_axis_size_partitioner(40)
    with tf.variable_scope("", partitioner=partitioner) as scope:
        weights = tf.get_variable("weights", initializer=_hundred())
        masked = model_pruning.apply_mask(weights, scope=scope)
    update = model_pruning.Pruning(sparsity=tf.constant(0.3)).mask_update_op()
    session.run(tf.global_variables_initializer())
    session.run(update)
    assert np.count_nonzero(session.run(masked)) == 70


def test_sparsity_grows_at_some_steps(session):
    masked = model_pruning.apply_mask(tf.Variable(_hundred(), name="weights"))
    hparams = model_pruning.get_pruning_hparams().parse(
        "pruning_frequency=2,begin_pruning_step=1,end_pruning_step=16,sparsity_function_end_step=14"
    )
    update = model_pruning.Pruning(hparams).conditional_mask_update_op()
    step = tf.assign_add(tf.train.get_global_step(), 1)
    session.run(tf.global_variables_initializer())
    counts = []
    for _ in range(8):
        session.run(update)
        session.run(step)
        counts.append(np.count_nonzero(session.run(masked)))
    assert counts == [100, 100, 81, 81, 68, 68, 59, 59]


@pytest.mark.parametrize("pooling", ["AVG", "MAX"])
@pytest.mark.usefixtures("session")
def test_blocks_are_pruned_as_a_whole(pooling, session):
    weights = tf.constant([[[0.1, 0.1, 0.2, 0.2], [0.1, 0.1, 0.2, 0.2], [0.3] * 2 + [0.4] * 2]])
    hparams = model_pruning.get_pruning_hparams().parse(
        f"block_height=2,block_width=2,block_pooling_function={pooling}"
    )
    pruning = model_pruning.Pruning(hparams, sparsity=tf.constant(0.51))
    _, mask = pruning._maybe_update_block_mask(weights, tf.constant(0.0))
    assert mask.shape == weights.shape
    assert session.run(mask).tolist() == [[[0] * 4, [0] * 4, [1] * 4]]


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ("begin_pruning_step=-1", "Illegal value for begin_pruning_step"),
        ("begin_pruning_step=5,end_pruning_step=3", "Pruning must begin before it can end"),
        ("threshold_decay=1.0", r"threshold_decay must be in range \[0,1\)"),
        ("weight_sparsity_map=[w:1.5]", "Weight sparsity can not exceed 1.0"),
        ("block_dims_map=[w:3x2x1]", "Expected 2 values for block dim for w"),
    ],
)
@pytest.mark.usefixtures("session")
def test_settings_are_checked(settings, problem):
    with pytest.raises(ValueError, match=problem):
        model_pruning.Pruning(model_pruning.get_pruning_hparams().parse(settings))


def test_masked_layers_have_their_variables_and_names(session):
    images = tf.ones([2, 8, 8, 3])
    with slim.arg_scope([model_pruning.masked_conv2d], stride=2):
        net = model_pruning.masked_conv2d(images, 4, 3)
    assert (net.op.name, net.shape) == ("Conv/Relu", [2, 4, 4, 4])
    net = model_pruning.masked_fully_connected(net, 5, normalizer_fn=slim.batch_norm)
    assert (net.op.name, net.shape) == ("fully_connected/Relu", [2, 4, 4, 5])
    assert [mask.op.name for mask in model_pruning.get_masks()] == [
        "Conv/mask",
        "fully_connected/mask",
    ]
    assert [weights.op.name for weights in model_pruning.get_weights()] == [
        "Conv/weights",
        "fully_connected/weights",
    ]
    session.run(tf.global_variables_initializer())
    session.run([mask.assign(tf.zeros_like(mask)) for mask in model_pruning.get_masks()])
    assert not session.run(net).any()


@pytest.mark.parametrize("kind", ["MaskedBasicLSTMCell", "MaskedLSTMCell"])
def test_masked_cells(kind, session):
    cell = getattr(model_pruning, kind)(4)
    inputs = tf.ones([2, 3])
    _, state = cell(inputs, cell.zero_state(2, tf.float32))
    output, _ = cell(inputs, state)
    assert len(model_pruning.get_masks()) == 1
    session.run(tf.global_variables_initializer())
    assert session.run(output).any()
    session.run([mask.assign(tf.zeros_like(mask)) for mask in model_pruning.get_masks()])
    assert not session.run(output).any()


def test_masks_are_stripped_from_a_saved_model(session, tmp_path):
    inputs = tf.placeholder(tf.float32, [None, 4], "inputs")
    tf.identity(model_pruning.masked_fully_connected(inputs, 3, scope="dense"), "result")
    session.run(tf.global_variables_initializer())
    fed = {"inputs:0": np.ones([1, 4])}
    expected = session.run("result:0", fed)
    tf.train.Saver().save(session, str(tmp_path / "model"), global_step=1)
    with tf.Graph().as_default():
        frozen = model_pruning.graph_def_from_checkpoint(str(tmp_path), ["result"])
    stripped = model_pruning.strip_pruning_vars_fn(frozen, ["result"])
    kinds = {node.name: node.op for node in stripped.node}
    assert kinds["dense/weights/masked_weight"] == "Const"
    assert "dense/mask" not in kinds
    with tf.Graph().as_default(), tf.Session() as other:
        tf.import_graph_def(stripped, name="")
        np.testing.assert_allclose(other.run("result:0", fed), expected)


def test_training_prunes_after_each_step(session):
    inputs = tf.ones([5, 4])
    prediction = model_pruning.masked_fully_connected(inputs, 1, activation_fn=None)
    loss = tf.losses.mean_squared_error(tf.ones([5, 1]), prediction)
    train_op = slim.learning.create_train_op(loss, tf.train.GradientDescentOptimizer(0.1))
    counts: list[int] = []
    counted = tf.py_func(lambda: counts.append(1), [], [], stateful=True)
    assert model_pruning.train(train_op, None, counted, number_of_steps=3) < 10
    assert len(counts) == 3


def test_pools_and_expansions_of_matrices(session):
    matrix = tf.constant(np.arange(6.0).reshape(2, 3))
    pooled = blocks.factorized_pool(matrix, [2, 2], "MAX", [2, 2], "SAME")
    assert session.run(pooled).tolist() == [[4, 5]]
    expanded = session.run(blocks.expand_tensor(matrix, [2, 1]))
    assert expanded.tolist() == [[0, 1, 2], [0, 1, 2], [3, 4, 5], [3, 4, 5]]
    product = session.run(
        blocks.kronecker_product(matrix[:1], tf.constant([[1.0, 2.0]], tf.float64))
    )
    assert product.tolist() == [[0, 0, 1, 2, 2, 4]]
