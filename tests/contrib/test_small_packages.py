"""Small packages of `tf.contrib`; numbers are TensorFlow 1.15's."""

from __future__ import annotations

import numpy as np
import pytest

import penstock as tf
from penstock.contrib import batching, copy_graph, input_pipeline, kernel_methods
from penstock.contrib.kernel_methods.mappers import InvalidShapeError
from penstock.contrib.solvers import lanczos, util
from penstock.internal_paths import message_files

RANDOM = np.random.RandomState(0)
POINTS, VALUES, QUERIES = (
    RANDOM.rand(2, count, size).astype("f") for count, size in ((5, 3), (5, 2), (4, 3))
)
PICTURE = RANDOM.rand(1, 6, 5, 2).astype("f")
MATRIX = RANDOM.rand(6, 4)


@pytest.fixture
def session():
    with tf.Graph().as_default(), tf.Session() as made:
        yield made


def _near(found, expected):
    np.testing.assert_allclose(found, expected, atol=2e-4)


# Pictures -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("order", "first", "last"),
    [
        (1, [-0.0231, 0.6103], [0.5148, -0.0914]),
        (2, [0.0079, 0.5761], [0.4932, -0.1294]),
        (3, [0.0501, 0.5295], [0.4705, -0.1694]),
        (4, [0.6178, -0.0973], [0.4187, -0.2608]),
        (6, [-0.4225, 1.0513], [0.4370, -0.2285]),
    ],
)
def test_splines(order, first, last, session):
    weight = 0.01 if order == 2 else 0.0
    spline = tf.contrib.image.interpolate_spline(POINTS, VALUES, QUERIES, order, weight)
    found = session.run(spline)
    _near(found[0, 0], first)
    _near(found[1, -1], last)


@pytest.mark.usefixtures("session")
def test_a_spline_needs_known_sizes():
    unknown = tf.placeholder(tf.float32, [1, 5, None])
    with pytest.raises(ValueError, match=r"the input points \(d\) must be statically-inferrable"):
        tf.contrib.image.interpolate_spline(unknown, VALUES[:1], unknown, 1)


@pytest.mark.parametrize(
    ("boundary", "pixel", "flow"),
    [
        (0, [0.4445, 0.7245], [-1.0, 0.6]),
        (1, [0.5615, 0.3804], [-0.5350, 0.6696]),
        (2, [0.5813, 0.3071], [-0.4464, 0.7487]),
    ],
)
def test_pictures_bent_at_control_points(boundary, pixel, flow, session):
    # Three points that are on no line: fewer leave the spline's linear part to rounding.
    source = [[[1.0, 1.0], [4.0, 3.0], [2.0, 4.0]]]
    target = [[[1.0, 2.0], [3.0, 3.0], [2.5, 4.0]]]
    warped, flows = session.run(
        tf.contrib.image.sparse_image_warp(
            PICTURE, source, target, regularization_weight=0.01, num_boundary_points=boundary
        )
    )
    _near(warped[0, 2, 2], pixel)
    _near(flows[0, 2, 2], flow)


# Linear algebra and kernels -----------------------------------------------------------------------


@pytest.mark.parametrize("orthogonalize", [True, False])
def test_bidiagonalization(orthogonalize, session):
    start = tf.constant(np.arange(1.0, 7.0)[:, np.newaxis])
    operator = util.create_operator(tf.constant(MATRIX))
    state = lanczos.lanczos_bidiag(operator, 3, orthogonalize, starting_vector=start)
    found = session.run([*state, lanczos.bidiag_matmul(state.u, state.alpha, state.beta)])
    _near(found[2], [2.7643, 0.5845, 0.3637])
    _near(found[3], [1.3391, 0.5304, 0.2251])
    _near(found[4], MATRIX @ found[1])
    adjoint = session.run(lanczos.bidiag_matmul(found[1], found[2], found[3], adjoint_b=True))
    _near(adjoint[0], [0.5318, 0.7128, 0.3838])


def test_the_hinge_loss_of_several_classes(session):
    logits = tf.constant([[1.0, 0.5, -1.0], [0.2, 2.0, 1.5]])
    loss = kernel_methods.sparse_multiclass_hinge_loss
    _near(session.run(loss(tf.constant([0, 2]), logits)), 1.0)
    weighted = loss(tf.constant([[0], [2]]), logits, weights=tf.constant([[1.0], [3.0]]))
    _near(session.run(weighted), 2.5)
    with pytest.raises(ValueError, match="Invalid dtype for labels"):
        loss(tf.constant([0.0]), logits)
    with pytest.raises(ValueError, match=r"logits should have rank 2"):
        loss(tf.constant([0]), tf.constant([1.0]))
    with pytest.raises(tf.errors.InvalidArgumentError, match="did not hold element-wise"):
        session.run(loss(tf.constant([3, 0]), logits))


def test_random_cosines(session):
    mapper = kernel_methods.RandomFourierFeatureMapper(2, 3, stddev=2.0, seed=3)
    mapped = session.run(mapper.map(tf.constant([[1.0, 2.0], [3.0, 4.0]])))
    _near(mapped, [[0.6521, -0.7418, 0.8107], [0.6135, -0.7865, 0.7591]])
    with pytest.raises(InvalidShapeError, match="expected 2 input features, got 1"):
        mapper.map(tf.constant([[1.0]]))


def test_a_classifier_of_mapped_features(tmp_path):
    column = tf.contrib.layers.real_valued_column("x", dimension=2)
    mapper = kernel_methods.RandomFourierFeatureMapper(2, 50, stddev=1.0)
    classifier = kernel_methods.KernelLinearClassifier(
        kernel_mappers={column: [mapper]}, model_dir=str(tmp_path), optimizer="Adagrad"
    )

    def corners():  # opposite corners of a square are of one class: no line divides them
        points = tf.constant([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
        return {"x": points * 2.0}, tf.constant([0, 1, 1, 0])

    classifier.fit(input_fn=corners, steps=60)
    assert classifier.evaluate(input_fn=corners, steps=1)["accuracy"] == 1.0
    with pytest.raises(ValueError, match="at least one of feature_columns, kernel_mappers"):
        kernel_methods.KernelLinearClassifier()


# Losses and gradients -----------------------------------------------------------------------------


def _sampled():
    random = np.random.RandomState(1)
    weights, biases = random.rand(8, 3).astype("f"), random.rand(8).astype("f")
    inputs = random.rand(2, 3).astype("f")
    values = (
        tf.constant([0, 2, 3, 7], tf.int64),
        tf.constant([[0.5], [0.6]]),
        tf.constant([0.1, 0.2, 0.3, 0.4]),
    )
    labels = tf.constant([[1], [5]], tf.int64)
    return weights, biases, labels, inputs, values


def test_the_sampled_classes_that_are_hardest_to_tell_apart(session):
    weights, biases, labels, inputs, values = _sampled()
    loss = tf.contrib.nn.rank_sampled_softmax_loss
    found = session.run(loss(weights, biases, labels, inputs, 4, 2, 8, 1, values, 2.0, True, "div"))
    scores = np.log(np.exp(weights[[0, 2, 3, 7]] @ (inputs / 2.0).T).sum(1))
    chosen = np.argsort(scores + biases[[0, 2, 3, 7]] / 2.0)[-2:]
    fewer = [tf.gather(values[0], chosen), values[1], tf.gather(values[2], chosen)]
    expected = tf.nn.sampled_softmax_loss(
        weights, biases, labels, inputs, 2, 8, sampled_values=fewer, partition_strategy="div"
    )
    _near(found, session.run(expected))
    with pytest.raises(ValueError, match=r"num_resampled \(4\) must be less than num_sampled"):
        loss(weights, biases, labels, inputs, 4, 4, 8, 1, values, 2.0, True, "div")


def test_the_sampled_loss_of_one_class(session):
    weights, biases, labels, inputs, values = _sampled()
    arguments = weights, biases, labels, inputs, 4, 8
    sparse = tf.contrib.nn.sampled_sparse_softmax_loss(*arguments, values)
    dense = tf.nn.sampled_softmax_loss(*arguments, sampled_values=values)
    _near(*session.run([sparse, dense]))


def test_derivatives_in_a_direction(session):
    x = tf.constant([1.0, 2.0])
    found = tf.contrib.nn.fwd_gradients([x * x, tf.sin(x)], [x], [tf.constant([1.0, 3.0])])
    squares, sines = session.run(found)
    _near(squares, [2.0, 12.0])
    _near(sines, np.cos([1.0, 2.0]) * [1.0, 3.0])
    unused = tf.contrib.nn.fwd_gradients([x * x], [x], assert_unused=True)
    _near(session.run(unused), [[2.0, 4.0]])


# Graphs, batches and files ------------------------------------------------------------------------


def test_a_graph_is_copied_with_its_variables():
    first, second = tf.Graph(), tf.Graph()
    with first.as_default():
        v, w = tf.Variable([1.0, 2.0], name="v"), tf.Variable(3.0, trainable=False, name="w")
        tf.add_to_collection("own", v)
        y = tf.add(tf.placeholder(tf.float32, [2], name="x") * v, w, name="y")
    copies = [copy_graph.copy_variable_to_graph(each, second, "copy") for each in (v, w)]
    copied = copy_graph.copy_op_to_graph(y, second, copies, "copy")
    assert copied.name == "copy/y:0"
    assert copy_graph.get_copied_op(y, second, "copy") is copied
    assert second.get_collection("copy/own") == copies[:1]
    assert second.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES) == copies[:1]
    with second.as_default(), tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(copied, {"copy/x:0": [2.0, 3.0]}).tolist() == [5.0, 9.0]
    with pytest.raises(TypeError, match="3 is not a Variable"):
        copy_graph.copy_variable_to_graph(3, second)


def test_calls_in_batches(session):
    @batching.batch_function_v1(1, 10, 100000)
    def more(x):
        assert x.op.type == "Batch"
        return x + 1

    x = tf.placeholder(tf.int32, [1])
    assert session.run(more(x), {x: [1]}).tolist() == [2]
    with pytest.raises(ValueError, match="are supposed to be Tensors; found 3"):
        more(3)


def test_strings_in_turn(session):
    following = input_pipeline.seek_next(["a", "b"], num_epochs=2)
    session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
    assert [session.run(following) for _ in range(4)] == [b"a", b"b", b"a", b"b"]
    with pytest.raises(tf.errors.OutOfRangeError):
        session.run(following)


def test_descriptors_of_messages():
    module = "penstock.core.framework.tensor_pb2"
    assert message_files.descriptor(module, "DESCRIPTOR").package == "tensorflow"
    found = message_files.descriptor(module, "_TENSORPROTO")
    assert found.full_name == "tensorflow.TensorProto"
    assert message_files.descriptor(module, "_OTHER") is None
    assert message_files.descriptor("penstock.ops", "DESCRIPTOR") is None
