"""`tf.function`: which calls share a body, how arguments are bound, when variables are made."""

import functools
import gc
import weakref

import numpy as np
import pytest

import penstock as tf
from penstock.internal_paths.defun_names import GraphFunction, defun_with_attributes, register
from penstock.internal_paths.graph_mode import eager_mode
from penstock.ops.graph_lifting import UnliftableError, lift_to_graph

tfe = tf.contrib.eager
SCALAR = tf.TensorSpec([], tf.float32)


@pytest.fixture(autouse=True)
def _eagerly():
    with eager_mode():
        yield


def bodies(function):
    cache = function._function_cache
    return len(cache.primary) + len(cache.arg_relaxed)


# Which calls share a body -----------------------------------------------------------------------


def test_keys_are_the_form_of_arguments_and_their_python_values():
    @tfe.defun
    def f(foo, bar=1, baz=2):
        return foo

    f(0, baz=20)
    assert [key.input_signature for key in f._function_cache.primary] == [("URRRu", (0, 1, 20))]
    f(1, 2, 3), f(1, baz=3, bar=2)
    assert bodies(f) == 2
    f(1.0, 2, 3), f(True, 2, 3)  # equal numbers of other types
    assert bodies(f) == 4
    f({"a": [tf.constant(1.0)], "b": None})
    assert "UDRLTd1slRnRRu" in [key.input_signature[0] for key in f._function_cache.primary]


def test_shapes_are_relaxed_from_the_second_miss_on():
    seen = []

    @functools.partial(tfe.defun, experimental_relax_shapes=True)
    def f(x):
        seen.append(x.shape.as_list())
        return x + 1.0

    for length in (0, 1, 2, 7):
        assert f(tf.zeros([length])).shape == [length]
    assert seen == [[0], [1], [None]]
    assert bodies(f) == 2


def test_arrays_are_arguments_but_unhashable_objects_are_refused():
    f = tfe.defun(lambda x: x * 2)
    assert [f(np.full([2], i)).numpy()[0] for i in range(3)] == [0, 2, 4]
    assert bodies(f) == 1
    with pytest.raises(TypeError, match="set"):
        f({1, 2})


def test_variables_are_arguments_by_their_handles():
    @tfe.defun
    def f(v):
        v.assign_add(1.0)
        return v.read_value()

    v, w = tf.Variable(0.0), tf.Variable(5.0)
    concrete = f.get_concrete_function(v)
    assert (len(concrete.inputs), concrete.captured_inputs) == (1, [])
    assert [float(concrete(v)), float(concrete(w)), float(concrete(v))] == [1.0, 6.0, 2.0]
    add = tf.function(lambda a, b: a + b)
    assert float(add(v, v)) == 4.0


def test_composite_tensors_of_one_type_share_a_body():
    seen = []

    @tf.function
    def f(x):
        seen.append(x.values.shape.as_list())
        return x

    for count in (1, 3):
        indices = [[i] for i in range(count)]
        made = f(tf.SparseTensor(indices, tf.range(count), [5]))
        assert made.values.numpy().tolist() == list(range(count))
    assert seen == [[None]]


# Arguments ----------------------------------------------------------------------------------------


def test_names_of_arguments_and_signatures():
    @tf.function
    def f(x, *args):
        return x

    one, two = tf.constant(1.0), tf.constant([1.0, 2.0])
    concrete = f.get_concrete_function(one, two, {"b": one, "a": [two, 7]})
    assert concrete._arg_keywords == ["x", "args_0", "args_1", "args_1_1"]
    (x, first, second), _ = concrete.structured_input_signature
    assert (x, first.name) == (tf.TensorSpec([], tf.float32, "x"), "args_0")
    assert (second["a"][0].name, second["a"][1], second["b"].name) == ("args_1/a/0", 7, "args_1/b")
    with pytest.raises(ValueError, match="either zero or all names"):
        f.get_concrete_function([tf.TensorSpec([], tf.float32, "z"), SCALAR])


@pytest.mark.parametrize(
    ("args", "kwargs", "message"),
    [
        ([], {}, r"Missing: \['x', 'y'\]"),
        ([1.0, 1.0, 1.0], {}, "Expected at most 2 positional arguments"),
        ([1.0, 1.0], {"x": 1.0}, "Got two values for keyword 'x'"),
        ([1.0, 1.0], {"z": 1.0}, r"\['z'\] unknown"),
    ],
)
def test_wrong_arguments_of_a_concrete_function(args, kwargs, message):
    concrete = tf.function(lambda x, y: x + y).get_concrete_function(SCALAR, SCALAR)
    with pytest.raises(TypeError, match=message):
        concrete(*map(tf.constant, args), **{key: tf.constant(v) for key, v in kwargs.items()})


def test_a_concrete_function_takes_tensors_of_its_shapes():
    concrete = tf.function(lambda x: x * 2).get_concrete_function(tf.TensorSpec([2], tf.float32))
    with pytest.raises(ValueError, match="must be Tensors"):
        concrete("no tensor")
    with tf.Graph().as_default(), pytest.raises(ValueError, match="was traced with"):
        concrete(tf.zeros([3]))


def test_signatures_convert_and_refuse():
    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32), SCALAR])
    def f(x, scale=2.0):
        return x * scale

    assert f([1, 2], scale=3).numpy().tolist() == [3, 6]
    assert f(np.ones([1], np.float32)).numpy().tolist() == [2]
    with pytest.raises(ValueError, match="incompatible with input_signature"):
        f([[1.0]])
    with pytest.raises(ValueError, match="Structure of Python function inputs"):
        f()
    with pytest.raises(TypeError, match=r"Received 3 argument\(s\)"):
        f([1.0], 2.0, 3.0)
    with pytest.raises(TypeError, match="Invalid input_signature"):
        tf.function(lambda x: x, input_signature=[(2, 3)])
    with pytest.raises(TypeError, match="either a tuple or a list"):
        tf.function(lambda x: x, input_signature={"x": SCALAR})


def test_structures_must_not_be_changed():
    @tf.function
    def f(values):
        values.append(values.pop(0))

    with pytest.raises(ValueError, match="should not modify"):
        f([tf.constant(1.0), tf.constant(2.0)])


def test_methods_are_functions_of_each_object_and_keep_none():
    class Scaled:
        def __init__(self, scale):
            self.scale = scale

        @tf.function
        def times(self, x):
            return x * self.scale

    two, three = Scaled(2.0), Scaled(3.0)
    assert [float(each.times(tf.constant(1.0))) for each in (two, three)] == [2.0, 3.0]
    assert two.times is two.times is not three.times
    gone = weakref.ref(two.times)
    gc.disable()
    del two
    gc.enable()
    assert gone() is None


# Variables ----------------------------------------------------------------------------------------


def test_initial_values_are_computed_outside():
    made = []

    @tf.function
    def f(x):
        if not made:
            made.append(tf.Variable(tf.sqrt(tf.constant(16.0)) + 1.0))
        return made[0] * x

    assert [float(f(tf.constant(2.0))), float(f(3.0))] == [10.0, 15.0]
    assert made[0].numpy() == 5.0


def test_initial_values_that_depend_on_arguments():
    made = []

    def f(x):
        if not made:
            made.append(tf.Variable(2.0 * x))
        return made[0] * x

    eager = tf.function(f)
    assert [float(eager(tf.constant(1.0))), float(eager(tf.constant(3.0)))] == [2.0, 6.0]
    made.clear()
    with tf.Graph().as_default(), pytest.raises(UnliftableError, match=r"transitively.*mul.*x"):
        tf.function(f)(tf.constant(3.0))


def test_variables_are_made_in_the_first_call_only():
    every_time = tf.function(lambda x: tf.Variable(1.0) + x)
    with pytest.raises(ValueError, match="on non-first call"):
        every_time(1.0)
    kept = []

    @tf.function
    def later(x, makes):
        if makes:
            kept.append(tf.Variable(1.0))
        return x

    later(1.0, False)
    with pytest.raises(ValueError, match="non-first call"):
        later(1.0, True)


def test_what_was_assigned_while_tracing_stays():
    made = []

    @tf.function
    def f(x):
        if not made:
            made.append(tf.Variable(3.0))
            with tf.init_scope():
                made[0].assign(10.0)
        return made[0] + x

    assert float(f(1.0)) == 11.0


def test_initialization_function():
    made = []

    @tf.function
    def f(x):
        if not made:
            made.append(tf.Variable(2.0))
        return made[0] * x

    initialize = f.get_initialization_function(tf.constant(1.0))
    assert not bool(made[0].is_initialized())
    initialize()
    assert made[0].numpy() == 2.0
    with pytest.raises(RuntimeError, match="after the function has been used"):
        f.get_initialization_function(tf.constant(1.0))


def test_tensors_of_a_body_are_no_initial_values_of_other_variables():
    @tfe.defun
    def f():
        with pytest.raises(ValueError, match="Tensor-typed variable initializers"):
            tf.contrib.eager.Variable(tf.constant(1.0))
        return tf.contrib.eager.Variable(lambda: tf.constant(2.0)).read_value()

    assert float(f()) == 2.0


def test_captured_by_value():
    v = tf.Variable(1.0)
    f = GraphFunction(lambda: tf.cond(v > 0.0, v.read_value, lambda: -v), capture_by_value=True)
    assert float(f()) == 1.0
    v.assign(2.0)
    assert float(f()) == 1.0


# Effects and gradients ----------------------------------------------------------------------------


def test_effects_of_conditionals_that_nobody_uses():
    v = tf.Variable(1.0)

    def set_to(value):
        v.assign(value, read_value=False)
        return tf.constant(0)

    @tf.function
    def f(x):
        tf.cond(x > 0.0, lambda: set_to(x), lambda: set_to(-2.0 * x))
        return v * 10.0

    assert [float(f(tf.constant(x))) for x in (3.0, -4.0)] == [30.0, 80.0]


def test_jacobians_inside_of_a_function():
    v = tf.Variable([1.0, 2.0])

    @tf.function
    def f(x):
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = x * x * v
        return tape.jacobian(y, x), tape.jacobian(y, v, experimental_use_pfor=False)

    by_x, by_v = f(tf.constant([2.0, 3.0]))
    np.testing.assert_array_equal(by_x.numpy(), np.diag([4.0, 12.0]))
    np.testing.assert_array_equal(by_v.numpy(), np.diag([4.0, 9.0]))


def test_custom_gradients_know_the_variables_that_a_body_captures():
    v = tf.Variable(3.0)

    @tf.custom_gradient
    def scaled(x):
        return v * x, lambda dy, variables: (dy * 10.0, [dy * 20.0 for _ in variables])

    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.function(scaled)(x)
    assert [float(each) for each in tape.gradient(y, [x, v])] == [10.0, 20.0]


def test_attributes_and_gradient_functions_of_a_graph():
    @functools.partial(defun_with_attributes, attributes={"a": 1, "b": "text", "func_name": "g"})
    def f(x):
        return x * x

    with tf.Graph().as_default() as graph:
        register(f, tf.constant(1.0))
        names = list(graph._functions)
        definition = graph._functions[names[0]].definition
        expected = ["__inference_g_", "__forward_g_", "__inference___backward_g_"]
        assert all(name.startswith(each) for name, each in zip(names, expected, strict=True))
        assert (definition.attr["a"].i, definition.attr["b"].s) == (1, b"text")
        f(tf.constant(2.0))
        assert list(graph._functions) == names


def test_shapes_of_results_follow_those_of_arguments():
    rows = tf.function(
        lambda x: tf.reshape(x, [-1, 3]), input_signature=[tf.TensorSpec(None, tf.float32)]
    )
    with tf.Graph().as_default():
        assert rows(tf.zeros([10, 10, 3])).shape == [100, 3]
        assert rows(tf.placeholder(tf.float32)).shape.as_list() == [None, 3]


def test_lifted_nodes_have_values_in_eager_mode():
    seven = tf.constant(7.0)

    @tf.function
    def f(x):
        return x, tf.identity(seven * 3.0, name="lifted")

    graph = f.get_concrete_function(SCALAR).graph
    lifted = graph.get_tensor_by_name("lifted:0")
    assert float(lift_to_graph([lifted], tf.get_default_graph())[lifted]) == 21.0
    with pytest.raises(UnliftableError):
        lift_to_graph([graph.outputs[0]], tf.get_default_graph())


def test_functions_run_as_they_are_where_it_is_asked_for():
    modes = []

    @tf.function
    def f(x):
        modes.append(tf.executing_eagerly())
        return x

    tf.config.experimental_run_functions_eagerly(True)
    try:
        f(1.0)
    finally:
        tf.config.experimental_run_functions_eagerly(False)
    f(1.0)
    assert modes == [True, False]
