"""`tf.compat.v2`: TensorFlow 2's names, in graphs."""

from __future__ import annotations

import importlib
import inspect
import types
from collections.abc import Iterator

import pytest

import penstock as tf
from penstock.compat import v2
from penstock.compat.v2_names import OTHER, SAME


@pytest.fixture(autouse=True)
def graph() -> Iterator[tf.Graph]:
    with tf.Graph().as_default() as graph:
        yield graph


def _namespaces() -> list[str]:
    return sorted({*SAME, *OTHER})


@pytest.mark.parametrize("path", _namespaces())
def test_every_listed_name_is_there(path: str) -> None:
    namespace = importlib.import_module(f"penstock.compat.v2.{path}".rstrip("."))
    names = SAME.get(path, "").split()
    for listed in OTHER.get(path, {}).values():
        names += [name.partition("=")[0] for name in listed.split()]
    assert len(names) == len(set(names))
    assert [name for name in names if not hasattr(namespace, name)] == []


def test_names_of_the_first_api_alone_are_not_there() -> None:
    for name in ("Session", "placeholder", "get_variable", "contrib", "layers", "to_float"):
        assert not hasattr(v2, name)


@pytest.mark.parametrize(
    ("path", "arguments"),
    [
        ("pad", "tensor paddings mode constant_values name"),
        ("gradients", "ys xs grad_ys name gate_gradients aggregation_method stop_gradients"),
        ("random.poisson", "shape lam dtype seed name"),
        ("math.confusion_matrix", "labels predictions num_classes weights dtype name"),
        ("nn.conv2d", "input filters strides padding data_format dilations name"),
        ("io.decode_raw", "input_bytes out_type little_endian fixed_length name"),
    ],
)
def test_arguments_of_the_second_api(path: str, arguments: str) -> None:
    function = v2
    for part in path.split("."):
        function = getattr(function, part)
    wanted = arguments.split()
    assert list(inspect.signature(function).parameters)[: len(wanted)] == wanted  # type: ignore[arg-type]


def test_values() -> None:
    x = v2.constant([[1.0, 2.0, 3.0]])
    with tf.Session() as session:
        assert session.run(v2.pad(x, [[0, 0], [1, 0]], "REFLECT")).tolist() == [[2, 1, 2, 3]]
        assert session.run(v2.gradients(x * x, x, [2 * x]))[0].tolist() == [[4, 16, 36]]
        table = v2.math.confusion_matrix([0, 1, 1], [0, 1, 0], 2, [1, 2, 4])
        assert session.run(table).tolist() == [[1, 0], [4, 2]]
    assert v2.Variable(1.0).op.type == "VarHandleOp"


def test_modules_of_the_api() -> None:
    assert isinstance(v2.nn, types.ModuleType)
    assert importlib.import_module("penstock.compat.v2.keras.layers") is v2.keras.layers
    assert v2.losses is v2.keras.losses
    assert v2.compat.v1 is tf
    assert v2.compat.v2 is v2
    assert "softmax" in dir(v2.nn) and "Dense" in dir(v2.keras.layers)


def test_recurrent_layers_have_the_defaults_of_cudnn() -> None:
    lstm, gru = v2.keras.layers.LSTM(2), v2.keras.layers.GRU(2)
    assert lstm.get_config()["recurrent_activation"] == "sigmoid"
    assert gru.get_config()["reset_after"] and gru.implementation == 2
    assert v2.keras.layers.GRU(2, "relu", "tanh").recurrent_activation is tf.keras.activations.tanh
    assert tf.keras.layers.LSTM(2).get_config()["recurrent_activation"] == "hard_sigmoid"
    assert v2.keras.layers.GRUCell(2).reset_after
    assert gru(tf.ones([1, 3, 2])).shape == (1, 2)


def test_arguments_that_keras_layers_show() -> None:
    parameters = inspect.signature(tf.keras.layers.Dense.__init__).parameters
    assert list(parameters)[:4] == ["self", "units", "activation", "use_bias"]
    assert parameters["kernel_initializer"].default == "glorot_uniform"
    assert "name" not in parameters and "kwargs" in parameters


def test_embeddings_are_divided_into_ranges_of_rows() -> None:
    parts = [tf.constant([[1.0], [2.0]]), tf.constant([[3.0], [4.0]])]
    ids = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], tf.constant([0, 1, 3], tf.int64), [2, 2])
    found = [
        v2.nn.embedding_lookup(parts, [0, 1, 2, 3]),
        v2.nn.embedding_lookup_sparse(parts, ids, None, combiner="sum"),
        v2.nn.safe_embedding_lookup_sparse(parts, ids),
    ]
    with tf.Session() as session:
        rows, sums, means = (value[:, 0].tolist() for value in session.run(found))
    assert (rows, sums, means) == ([1.0, 2.0, 3.0, 4.0], [3.0, 4.0], [1.5, 4.0])


def test_arguments_that_are_fixed() -> None:
    x = tf.placeholder(tf.float32, [], name="x")
    (slope,) = v2.gradients(tf.exp(x, name="y"), x)
    assert slope.op.colocation_groups() == [b"loc:@y"]
    branches = [lambda: [tf.constant(1)], lambda: [tf.constant(2)]]
    assert isinstance(v2.cond(tf.constant(True), *branches), list)
    assert isinstance(tf.cond(tf.constant(True), *branches), tf.Tensor)


def test_initializers_take_a_shape_and_a_type_alone() -> None:
    assert v2.random_normal_initializer().get_config() == {
        "mean": 0.0,
        "stddev": 0.05,
        "seed": None,
    }
    assert v2.random_uniform_initializer().minval == -0.05
    assert v2.initializers.Zeros is v2.zeros_initializer is v2.keras.initializers.zeros
    made = v2.random_normal_initializer(seed=1)([3])  # from the stateless generators
    layer = v2.keras.layers.Dense(2, kernel_initializer=v2.initializers.ones())
    with tf.Session() as session:
        result = layer(tf.ones([1, 3]))
        session.run(tf.global_variables_initializer())
        assert session.run(made).tolist() == pytest.approx([0.00633, -0.02465, 0.03156], abs=1e-5)
        assert session.run(result).tolist() == [[3.0, 3.0]]


def test_wrappers_of_cells() -> None:
    assert v2.nn.RNNCellDropoutWrapper.__name__ == "DropoutWrapper"
    cell = v2.nn.RNNCellResidualWrapper(v2.keras.layers.LSTMCell(2))
    assert cell.output_size == 2


def test_the_native_library_evaluates_constants() -> None:
    native = importlib.import_module("penstock.python.pywrap_tensorflow")

    def evaluated(tensor: tf.Tensor) -> object:
        return native.TF_TryEvaluateConstant_wrapper(tensor.graph._c_graph, tensor._as_tf_output())

    total = tf.reduce_sum(tf.constant([1, 2]))
    assert evaluated(tf.equal(total, 3))
    assert evaluated(tf.shape(tf.placeholder(tf.float32, [2, 3]))).tolist() == [2, 3]
    assert evaluated(tf.placeholder(tf.bool, [])) is None
