"""The bodies of `Defun`s: what they take from the graph around them, what their messages say."""

import pytest

import penstock as tf
from penstock.internal_paths.function_captures import get_extra_args
from penstock.ops.function_libraries import _from_definition, from_library, graph_to_function_def
from penstock.ops.functions import Defun
from penstock.proto import FunctionDefLibrary


@pytest.fixture(autouse=True)
def _graph():
    with tf.Graph().as_default():
        yield


def _run(fetches, **kwargs):
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        return sess.run(fetches, **kwargs)


def test_a_body_by_value_computes_what_it_uses_itself():
    factor = tf.constant(2.0) + 1.0

    @Defun(tf.float32, capture_by_value=True)
    def scaled(x):
        return x * factor

    assert _run(scaled(2.0)) == 6.0
    assert scaled.captured_inputs == []


def test_a_body_by_value_takes_nodes_with_state_only_if_told():
    drawn = tf.random_uniform([4], maxval=10, dtype=tf.int32)
    fed = tf.placeholder(tf.int32)

    with pytest.raises(ValueError, match="Cannot capture a stateful node"):
        Defun(capture_by_value=True)(lambda: tf.add(drawn, 3))()
    with pytest.raises(ValueError, match="Cannot capture a placeholder"):
        Defun(capture_by_value=True)(lambda: tf.add(fed, 3))()
    allowed = Defun(capture_by_value=True, whitelisted_stateful_ops={drawn.op})
    assert (_run(allowed(lambda: tf.add(drawn, 3))()) >= 3).all()


def test_a_body_cannot_wait_for_outer_nodes():
    outer = tf.constant(1.0)

    @Defun(tf.float32)
    def waits(x):
        with tf.control_dependencies([outer]):
            return x + 1.0

    with pytest.raises(ValueError, match="not an element of this graph"):
        waits(1.0)


def test_a_guaranteed_constant_stays_one_inside():
    constant = tf.identity(tf.guarantee_const(tf.Variable(1.0)))
    other = tf.constant(1.0) + 1.0
    users = []

    @Defun()
    def body():
        result = constant + other + constant
        users.extend([op.type for op in arg.consumers()] for arg in get_extra_args())
        return result

    assert _run(body()) == 4.0
    assert users == [["GuaranteeConst"], ["AddV2"]]


def test_a_definition_has_the_attrs_and_the_text_of_its_function():
    @Defun(tf.int32, noinline=True, experimental_tag="t", _implements="x.y")
    def documented(i):
        """Passes on."""
        return tf.identity(i)

    message = documented.definition
    assert message.attr["_noinline"].b
    assert message.attr["experimental_tag"].s == b"t"
    assert message.attr["_implements"].s == b"x.y"
    assert message.signature.description == "Passes on."


def test_nodes_of_a_body_are_on_the_device_of_its_definition():
    with tf.device("/cpu:0"):
        with tf.device("/cpu:1"):
            inner = Defun(tf.float32)(lambda x: x + 1.0)
        inner(1.0)
    assert {node.device for node in inner.definition.node_def} == {"/device:CPU:1"}


def test_alike_functions_keep_gradients_of_their_own():
    def plain(x):
        return Defun(tf.float32)(double)(x)

    def by_function(x):
        gradient = Defun(tf.float32, tf.float32)(lambda x, dy: x + dy)
        return Defun(tf.float32, grad_func=gradient)(double)(x)

    def by_python(x):
        halved = lambda op, dy: op.inputs[0] * dy / 2.0  # noqa: E731
        return Defun(tf.float32, python_grad_func=halved)(double)(x)

    def double(x):
        return x * 2.0

    x = tf.constant(100.0)
    gradients = [tf.gradients(make(x), x)[0] for make in (plain, by_function, by_python)]
    assert _run(gradients) == [2.0, 101.0, 50.0]


def test_a_body_gets_the_value_of_a_resource_variable():
    shapes = []

    @Defun(tf.float32)
    def scaled(x):
        weight = tf.get_variable("w", [3], initializer=tf.ones_initializer(), use_resource=True)
        result = x * weight
        shapes.extend(arg.shape.as_list() for arg in get_extra_args())
        return result

    assert _run(scaled(2.0)).tolist() == [2.0, 2.0, 2.0]
    assert shapes == [[3]]


@pytest.mark.parametrize("use_resource", [False, True])
def test_a_template_shares_variables_with_a_body(use_resource):
    made = []

    def scale(x):
        made.append(tf.get_variable("w", [2], use_resource=use_resource))
        return x * made[-1]

    template = tf.make_template("scale", scale, create_scope_now_=True)
    Defun(tf.float32)(lambda x: template(x))(1.0)
    template(1.0)
    assert made[0] is made[1]


def test_random_numbers_go_on_from_call_to_call():
    tf.set_random_seed(1)
    draw = Defun()(lambda: tf.random_uniform([8]))
    first, second = draw(), draw()
    with tf.Session() as sess:
        one, two = sess.run([first, second])
        three = sess.run(first)
    assert not (one == two).all()
    assert not (one == three).all()


def test_a_marked_signature_makes_stateful_calls():
    @Defun(tf.float32)
    def plain(x):
        return x

    plain._signature.is_stateful = True
    assert plain(1.0).op.spec.is_stateful


# From messages and to them --------------------------------------------------------------------


def test_functions_from_a_library_are_as_they_were():
    gradient = Defun(tf.float32, tf.float32)(lambda x, dy: x * dy)
    function = Defun(tf.float32, grad_func=gradient)(lambda x: x + 1.0)
    tf.gradients(function(tf.constant(2.0)), [])
    library = tf.get_default_graph().as_graph_def().library
    found = {each.name: each for each in from_library(library)}
    again = found[function.name]
    assert again.definition == function.definition
    assert again.grad_func_name == gradient.name
    assert again.declared_input_types == (tf.float32,)
    with tf.Graph().as_default():
        x = tf.constant(3.0)
        result = again(x)
        assert _run([result, tf.gradients(result, x)[0]]) == [4.0, 3.0]


def test_what_a_function_captured_is_an_argument_of_its_message():
    outer = tf.constant(2.0)
    function = Defun(tf.float32)(lambda x: x + outer)
    again = _from_definition(function.definition)
    assert again.declared_input_types == (tf.float32, tf.float32)
    assert again.captured_inputs == []
    assert _run(again(1.0, 5.0)) == 6.0


def test_a_library_with_holes_or_circles_is_refused():
    one = Defun(tf.float32, func_name="One")(lambda x: x)
    two = Defun(tf.float32, func_name="Two")(lambda x: x)
    library = FunctionDefLibrary(function=[one.definition])
    library.gradient.add(function_name="One", gradient_func="Two")
    with pytest.raises(ValueError, match="missing 'Two' FunctionDef"):
        from_library(library)
    library.function.append(two.definition)
    library.gradient.add(function_name="Two", gradient_func="One")
    with pytest.raises(ValueError, match="cyclic gradient functions"):
        from_library(library)
    assert from_library(FunctionDefLibrary()) == []


def test_a_part_of_a_graph_is_a_function():
    parts = tf.split(tf.placeholder(tf.float32, [4]), 2)
    result = parts[0] + parts[1]
    graph = tf.get_default_graph()
    message = graph_to_function_def(graph, [*parts, result.op][-1:], parts, [result], ["sum"])
    assert len(message.signature.input_arg) == 2
    assert [node.op for node in message.node_def] == ["AddV2"]
    with pytest.raises(ValueError, match="does not match number of outputs"):
        graph_to_function_def(graph, [], parts, [result], ["a", "b"])
