"""What the `with` blocks around a node leave behind, and where they may be opened and left."""

import os

import pytest

import penstock as tf
from penstock.ir.name_scope import name_scope_v2


@pytest.fixture(autouse=True)
def _graph():
    with tf.Graph().as_default():
        yield


def _file_of(place):
    return os.path.basename(place.filename)


def test_a_node_knows_the_device_blocks_around_it():
    def chosen(op):
        return "/cpu:*"

    plain = tf.constant(0.0)
    with tf.device("/cpu"), tf.device("/cpu:0"):
        inner = tf.constant(1.0)
    with tf.device(chosen):
        by_function = tf.constant(2.0)
    assert plain.op._device_assignments == []
    places = inner.op._device_assignments
    assert [place.obj for place in places] == ["/cpu:0", "/cpu"]
    assert {_file_of(place) for place in places} == {"test_open_scopes.py"}
    assert places[0].lineno == places[1].lineno == chosen.__code__.co_firstlineno + 4
    (place,) = by_function.op._device_assignments
    assert place.obj.startswith("chosen<")


def test_a_node_knows_the_nodes_that_it_is_put_beside():
    one, two = tf.constant(1.0, name="one"), tf.constant(2.0, name="two")
    with tf.colocate_with(one), tf.colocate_with(two):
        beside = tf.constant(3.0)
    assert list(beside.op._colocation_dict) == ["one", "two"]
    assert _file_of(beside.op._colocation_dict["one"]) == "test_open_scopes.py"
    assert one.op._colocation_dict == {}


def test_a_device_block_is_left_before_those_around_it():
    graph = tf.Graph()
    outer = graph.device("/cpu:0")
    outer.__enter__()
    with graph.device("/cpu:1"), pytest.raises(RuntimeError, match="scope nesting"):
        outer.__exit__(None, None, None)


def test_what_a_device_function_returns_is_kept_in_its_own_spelling():
    with tf.device(lambda op: "/cpu:0"):
        first = tf.Variable(1.0)
        second = first + 1.0
        with tf.device("/job:ps"):
            hidden = tf.constant(1.0)
    assert {first.device, second.device, hidden.device} == {"/cpu:0"}
    assert second.op.node_def.device == "/cpu:0"
    with tf.device("/task:2"), tf.device(lambda op: "cpu:1"):
        assert tf.constant(1.0).device == "/task:2/device:CPU:1"
    with tf.device(first.device):
        assert tf.constant(1.0).device == "/device:CPU:0"
    second.op._set_device("cpu:0")
    assert second.device == "cpu:0"
    for device, error in [(None, TypeError), ("no device", ValueError)]:
        with tf.device(lambda op, device=device: device), pytest.raises(error):
            tf.constant(1.0)


def test_a_step_runs_where_a_device_function_says_in_its_own_spelling():
    with tf.device(lambda op: "/cpu:0"), tf.Session() as session:
        assert session.run(tf.constant(1.0) + 1.0) == 2.0


@pytest.mark.parametrize("name", ["/", "//", "a//"])
def test_a_name_that_ends_in_a_slash_is_the_scope_itself(name):
    with tf.name_scope("outer/"), tf.name_scope(name) as scope:
        assert scope == name


def test_a_scope_of_version_2_can_be_entered_again():
    scope = name_scope_v2("a")
    with scope as outer, scope as inner:
        assert (outer, inner) == ("a/", "a/a/")
    with scope as again:
        assert again == "a_1/"
    with pytest.raises(ValueError, match="string"):
        name_scope_v2(None)


def test_an_object_that_stands_for_a_tensor_can_be_waited_for():
    graph = tf.get_default_graph()
    first = tf.constant(1.0)

    class Stand:
        def _as_graph_element(self):
            return first

    with graph.control_dependencies([Stand()]):
        second = tf.constant(2.0)
    assert second.op.control_inputs == [first.op]


def test_init_scope_leaves_graphs_that_build_functions():
    around, body = tf.Graph(), tf.Graph()
    body._building_function = True
    with around.as_default(), tf.device("/cpu:0"), body.as_default():
        with tf.name_scope("here"), tf.init_scope():
            assert tf.get_default_graph() is around
            made = tf.constant(1.0)
        with tf.device("/cpu:1"), tf.init_scope():
            placed = tf.constant(1.0)
    assert made.op.name == "here/Const"
    assert made.device == "/device:CPU:0"
    assert placed.device == "/device:CPU:1"
    assert body.get_operations() == []


def test_init_scope_leaves_several_graphs_that_build_functions():
    outermost = tf.get_default_graph()
    outer, inner = tf.Graph(), tf.Graph()
    outer._building_function = inner._building_function = True
    with outer.as_default(), inner.as_default(), tf.init_scope():
        assert tf.constant(1.0).graph is outermost


def test_an_updated_input_of_another_type_is_refused_when_it_runs():
    total = tf.constant(1) + tf.constant(2)
    total.op._update_input(0, tf.constant("text", name="text"))
    with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError) as error:
        sess.run(total)
    assert (
        "Input 0 of node add was passed string from text:0 incompatible with expected int32"
        in error.value.message
    )


def test_names_of_another_kind_are_refused():
    tf.constant(1, name="one")
    graph = tf.get_default_graph()
    with pytest.raises(ValueError, match=r"'one' refers to an Operation, not a Tensor.*one:0"):
        graph.get_tensor_by_name("one")
    with pytest.raises(ValueError, match=r"looks like an \(invalid\) Operation name, not a Tensor"):
        graph.get_tensor_by_name("two")
    with pytest.raises(ValueError, match="appears to refer to a Tensor, not a Operation"):
        graph.get_operation_by_name("one:0")


def test_a_session_of_another_graph_is_refused():
    one, nothing = tf.constant(1), tf.no_op()
    with pytest.raises(ValueError, match=r"Cannot execute operation using `run\(\)`: No default"):
        nothing.run()
    with tf.Session(graph=tf.Graph()) as sess:
        with pytest.raises(ValueError, match="Cannot use the default session to evaluate tensor"):
            one.eval()
        with pytest.raises(ValueError, match="Cannot use the given session to execute operation"):
            nothing.run(session=sess)


def test_a_device_function_is_asked_when_shapes_are_known():
    sizes = {}

    def by_size(op):
        sizes[op.name] = op.outputs[0].get_shape().num_elements()
        return f"/device:CPU:{sizes[op.name] % 2}"

    with tf.Graph().as_default(), tf.device(by_size):
        reference = tf.get_variable("reference", [3, 5], initializer=tf.zeros_initializer())
        tf.get_variable("handle", [3, 5], use_resource=True)
        tf.matmul(reference, tf.zeros([5, 2]), name="product")
    assert (sizes["reference"], sizes["handle"], sizes["product"]) == (15, 1, 6)
    assert reference.device == "/device:CPU:1"
