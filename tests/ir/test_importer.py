"""GraphDefs in and out."""

import pytest

import penstock as tf


def definition(build):
    with tf.Graph().as_default() as graph:
        build()
        return graph.as_graph_def()


@pytest.fixture
def sum_of_two():
    def build():
        a = tf.placeholder(tf.float32, [2], name="a")
        b = tf.constant([1.0, 2.0], name="b")
        tf.add(a, b, name="sum")

    return definition(build)


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def test_names_and_return_elements(graph, sum_of_two):
    total, op = tf.import_graph_def(sum_of_two, return_elements=["sum:0", "a"])
    assert total.name == "import/sum:0" and op.name == "import/a"
    tf.import_graph_def(sum_of_two)
    assert "import_1/sum" in graph._nodes_by_name
    tf.import_graph_def(sum_of_two, name="")
    assert "sum" in graph._nodes_by_name
    (again,) = tf.import_graph_def(sum_of_two, name="", return_elements=["sum"])
    assert again.name == "sum_1" and [t.name for t in again.inputs] == ["a_1:0", "b_1:0"]
    with tf.name_scope("outer"):
        tf.import_graph_def(sum_of_two, name="inner")
    assert "outer/inner/sum" in graph._nodes_by_name


def test_input_map(sum_of_two):
    mine = tf.constant([10.0, 20.0])
    (total,) = tf.import_graph_def(sum_of_two, input_map={"a:0": mine}, return_elements=["sum:0"])
    with tf.Session() as session:
        assert session.run(total).tolist() == [11.0, 22.0]
    with pytest.raises(ValueError, match="not found in graph_def: \\[nope:0\\]"):
        tf.import_graph_def(sum_of_two, input_map={"nope:0": mine})
    with pytest.raises(ValueError, match="incompatible with expected float"):
        tf.import_graph_def(sum_of_two, input_map={"a": tf.constant([1, 2])})
    with pytest.raises(TypeError, match="input_map"):
        tf.import_graph_def(sum_of_two, input_map={3: mine})


def test_round_trip_of_everything_on_a_node(graph):
    with tf.device("/job:ps/cpu:0"):
        a = tf.constant(1.0, name="a")
    with graph.colocate_with(a), tf.control_dependencies([a]):
        tf.constant("text", name="b")
    first = graph.as_graph_def()
    with tf.Graph().as_default() as other:
        tf.import_graph_def(first, name="")
        assert other.as_graph_def() == first
    with tf.Graph().as_default() as other:
        tf.import_graph_def(first, name="p")
        b = other.get_operation_by_name("p/b")
        assert b.colocation_groups() == [b"loc:@p/a"]
        assert [c.name for c in b.control_inputs] == ["p/a"]
        assert other.get_operation_by_name("p/a").device == "/job:ps/device:CPU:0"


def test_nodes_in_any_order(sum_of_two):
    shuffled = tf.GraphDef()
    for node in reversed(list(sum_of_two.node)):
        shuffled.node.add().CopyFrom(node)
    (total,) = tf.import_graph_def(shuffled, return_elements=["sum:0"])
    assert total.shape.as_list() == [2]


def test_bad_graph_defs(sum_of_two):
    def changed(change):
        copy = tf.GraphDef()
        copy.CopyFrom(sum_of_two)
        change(copy)
        return copy

    def unknown_op(g):
        g.node[0].op = "NoSuchOp"

    def missing_input(g):
        g.node[2].input[0] = "gone"

    def missing_output(g):
        g.node[2].input[0] = "a:3"

    def duplicate(g):
        g.node[1].name = "a"

    def too_few(g):
        del g.node[2].input[:]

    def cycle(g):
        g.node[2].input[0] = "sum"

    def no_dtype(g):
        del g.node[0].attr["dtype"]

    def bad_content(g):
        g.node[1].attr["value"].tensor.tensor_content = b"123"

    for change, message in (
        (missing_input, "Node 'sum': Unknown input node 'gone'"),
        (missing_output, "invalid output 3 of source node a which has 1 outputs"),
        (duplicate, "'a' is not unique"),
        (too_few, "expected inputs 'float, float' do not match 0 inputs specified"),
        (cycle, "1 nodes in a cycle"),
        (no_dtype, "NodeDef missing attr 'dtype' from Op<name=Placeholder>"),
        (bad_content, "Node 'b': attr 'value'"),
    ):
        with tf.Graph().as_default() as graph, pytest.raises(ValueError, match=message):
            tf.import_graph_def(changed(change))
        assert graph.get_operations() == []
    with pytest.raises(tf.errors.NotFoundError, match="Op type not registered 'NoSuchOp'"):
        tf.import_graph_def(changed(unknown_op))
    with pytest.raises(TypeError, match="GraphDef"):
        tf.import_graph_def("not a graph")
    with pytest.raises(TypeError, match="return_elements"):
        tf.import_graph_def(sum_of_two, return_elements=[3])
    with pytest.raises(ValueError, match="not found"):
        tf.import_graph_def(sum_of_two, return_elements=["nope"])


def test_mapped_outputs_need_no_consumer():
    with tf.Graph().as_default() as graph:
        tf.placeholder(tf.float32, name="a")
        tf.unstack(tf.ones([2]), name="u")
    message = graph.as_graph_def()
    for key in ("a", "a:0", "u:1"):
        with tf.Graph().as_default():
            tf.import_graph_def(message, input_map={key: tf.constant(1.0)})
    for key in ("a:1", "u:2", "z:0"):
        with tf.Graph().as_default(), pytest.raises(ValueError, match=rf"not found.*\[{key}\]"):
            tf.import_graph_def(message, input_map={key: tf.constant(1.0)})
