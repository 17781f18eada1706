"""Graphs: what the recorded snapshots (tests/ops/graphs) don't show."""

import threading

import pytest

import penstock as tf


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def test_default_graphs_nest():
    outer = tf.get_default_graph()
    with tf.Graph().as_default() as inner:
        assert tf.get_default_graph() is inner
        assert tf.constant(1.0).graph is inner
    assert tf.get_default_graph() is outer
    with pytest.raises(AssertionError, match="nested graphs"):
        tf.reset_default_graph()


def test_the_graph_of_a_session_that_is_entered_is_not_reset():
    refused = pytest.raises(AssertionError, match="exit the nesting and create a new graph")
    with tf.Session(), refused:
        tf.reset_default_graph()


def test_an_op_is_added_to_the_graph_of_its_inputs(graph):
    x = tf.constant(1.0)
    with tf.Graph().as_default():
        y = x + 1.0
    assert y.graph is graph
    assert y.op.inputs[1].graph is graph


def test_a_finalized_graph_refuses_nodes(graph):
    x = tf.constant(1.0)
    graph.finalize()
    assert graph.finalized
    with pytest.raises(RuntimeError, match="finalized and cannot be modified"):
        tf.constant(2.0)
    with pytest.raises(RuntimeError):
        graph.add_to_collection("a", x)
    with tf.Session() as session:
        assert session.run(x) == 1.0


def test_collections(graph):
    graph.add_to_collection("a", 1)
    graph.add_to_collections(["a", "b", "a"], 2)
    assert graph.get_collection("a") == [1, 2] and graph.get_collection("b") == [2]
    graph.get_collection("a").append(3)
    assert graph.get_collection("a") == [1, 2]
    graph.get_collection_ref("a").append(3)
    assert graph.get_collection("a") == [1, 2, 3]
    with tf.name_scope("scope"):
        named = tf.constant(1.0)
    graph.add_to_collection("c", named)
    graph.add_to_collection("c", tf.constant(2.0))
    assert graph.get_collection("c", "scope") == [named]
    graph.clear_collection("c")
    assert graph.get_collection("c") == []
    assert set(graph.get_all_collection_keys()) == {"a", "b"}


def test_versions_and_node_ids_grow(graph):
    assert graph.version == 0
    tf.constant(1.0)
    tf.no_op()
    assert graph.version == 2
    assert [op.name for op in graph.get_operations()] == ["Const", "NoOp"]
    assert len(graph.as_graph_def(from_version=1).node) == 1


def test_threads_build_one_graph(graph):
    def build(i):
        with graph.as_default(), tf.name_scope(f"thread{i}"), tf.device(f"/cpu:{i}"):
            for _ in range(50):
                tf.constant(float(i), name="same")

    threads = [threading.Thread(target=build, args=(i,)) for i in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    ops = graph.get_operations()
    assert len(ops) == 300 and len({op.name for op in ops}) == 300
    for op in ops:
        assert op.device == f"/device:CPU:{op.name[len('thread')]}"


def test_consumers_and_control_inputs():
    a = tf.constant(1.0)
    with tf.control_dependencies([a]):
        b = tf.no_op()
    c = tf.add(a, a)
    assert a.consumers() == [c.op, c.op]  # once for each input that it is
    assert b.control_inputs == [a.op]


def test_feedable_and_fetchable(graph):
    a = tf.constant(1.0)
    graph.prevent_feeding(a)
    graph.prevent_fetching(a.op)
    assert not graph.is_feedable(a) and not graph.is_fetchable(a)
    with tf.Session() as session:
        with pytest.raises(ValueError, match="may not be fed"):
            session.run(tf.no_op(), {a: 1.0})
        with pytest.raises(ValueError, match="not fetchable"):
            session.run(a)


def test_nodes_remember_the_users_line():
    x = tf.placeholder(tf.float32, [2])
    frame = x.op.traceback[-1]
    assert frame.filename == __file__ and "tf.placeholder" in frame.line
    line = r"for 'product' \(op: 'MatMul'\).*\(made at test_graph.py:\d+\)"
    with pytest.raises(ValueError, match=line):
        tf.matmul(tf.zeros([2, 3]), tf.zeros([2, 3]), name="product")


def test_containers_and_seeds(graph):
    with graph.container("mine"):
        variable = tf.Variable(1.0)
    assert variable.op.get_attr("container") == b"mine"
    assert graph.seed is None
    tf.set_random_seed(5)
    assert graph.seed == 5


def test_create_op(graph):
    x = tf.constant([1.0, 2.0])
    op = graph.create_op("MatrixBandPart", [tf.ones([2, 2]), *[tf.constant(0, tf.int64)] * 2])
    assert op.outputs[0].dtype == tf.float32 and op.outputs[0].shape.as_list() == [2, 2]
    named = graph.create_op("Identity", [x], [tf.float32], name="same", attrs={"T": tf.float32})
    with tf.Session() as session:
        assert session.run(op.outputs[0]).tolist() == [[1.0, 0.0], [0.0, 1.0]]
        assert session.run(named.outputs[0]).tolist() == [1.0, 2.0]
    with pytest.raises(tf.errors.NotFoundError, match="not registered 'NoSuchOp'"):
        graph.create_op("NoSuchOp", [x], [tf.float32])
    with pytest.raises(TypeError, match="not a tensor"):
        graph.create_op("Identity", [1.0], [tf.float32])


def test_get_attr():
    c = tf.constant([1.0, 2.0], name="c")
    assert c.op.get_attr("dtype") == tf.float32
    assert c.op.get_attr("value").tensor_shape.dim[0].size == 2
    with pytest.raises(ValueError, match="no attr named 'nope'"):
        c.op.get_attr("nope")
    assert c.op.op_def.name == "Const" and c.op.node_def.name == "c"


def test_text_forms():
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    assert repr(x) == "<tf.Tensor 'x:0' shape=(?, 2) dtype=float32>"
    assert str(x) == 'Tensor("x:0", shape=(?, 2), dtype=float32)'
    assert repr(x.op) == "<tf.Operation 'x' type=Placeholder>"
