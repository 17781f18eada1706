"""Functions of TensorFlow's internal modules that tests of its own are written with."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import penstock as tf

common_shapes, ops, subscribe, tensor_util, traceable_stack = (
    importlib.import_module(f"penstock.python.framework.{name}")
    for name in ("common_shapes", "ops", "subscribe", "tensor_util", "traceable_stack")
)
array_ops, control_flow_util, gen_math_ops, list_ops, math_ops = (
    importlib.import_module(f"penstock.python.ops.{name}")
    for name in ("array_ops", "control_flow_util", "gen_math_ops", "list_ops", "math_ops")
)
nn_impl, nn_ops, resource_variable_ops = (
    importlib.import_module(f"penstock.python.ops.{name}")
    for name in ("nn_impl", "nn_ops", "resource_variable_ops")
)


@pytest.fixture(autouse=True)
def fresh_graph() -> Iterator[None]:
    with tf.Graph().as_default():
        yield


def _run(fetches: Any) -> Any:
    with tf.Session() as session:
        return session.run(fetches)


def test_side_effects_run_whenever_a_tensor_is_used() -> None:
    seen: list[Any] = []
    total = tf.add(1, 2)
    with tf.control_dependencies([total]):
        after = tf.constant(11)
    double = total * 2

    def note(tensor: Any) -> list[Any]:
        return [tf.py_func(lambda x: seen.append(int(x)), [tensor], [])]

    watched = subscribe.subscribe(total, note)
    assert watched.op.name == "Add/subscription/Identity"
    for fetched in (watched, after, double):
        _run(fetched)
    assert seen == [3, 3, 3]
    assert subscribe.subscribe(total, note) is watched
    assert subscribe.subscribe(watched, note) is watched
    _run(double)
    assert len(seen) == 6
    with pytest.raises(TypeError, match="has invalid type"):
        subscribe.subscribe(object(), note)


def test_traceable_stack() -> None:
    stack = traceable_stack.TraceableStack()
    assert stack.push_obj("first") == traceable_stack.TraceableObject.SUCCESS
    stack.push_obj("second", offset=1000)
    assert list(stack.peek_objs()) == ["second", "first"]
    newest, oldest = stack.peek_traceable_objs()
    assert oldest.filename == __file__
    assert newest.filename != __file__
    assert stack.copy().pop_obj() == "second"
    assert len(stack) == 2


def test_shapes() -> None:
    shape = tf.TensorShape
    assert common_shapes.broadcast_shape(shape([None, 1]), shape([3, 1, 2])).as_list() == [
        *(3, None, 2)
    ]
    assert not common_shapes.is_broadcast_compatible(shape([5, 3]), shape([2]))
    assert common_shapes.broadcast_shape(shape(None), shape([1])).ndims is None
    with pytest.raises(ValueError, match="Incompatible shapes for broadcasting"):
        common_shapes.broadcast_shape(shape([2]), shape([3]))
    sizes = math_ops.reduced_shape(tf.constant([2, 3, 5]), tf.constant([1, -1]))
    assert _run(sizes).tolist() == [2, 1, 1]
    assert array_ops.get_positive_axis(-1, 3) == 2
    with pytest.raises(ValueError, match="out of bounds"):
        array_ops.get_positive_axis(3, 3)


def test_messages_of_tensors() -> None:
    message = tensor_util.make_tensor_proto([[1.0, 2.0]])
    assert tensor_util.ShapeEquals(message, [1, 2])
    assert not tensor_util.ShapeEquals(message, message.tensor_shape.__class__(dim=[{"size": 2}]))
    with pytest.raises(TypeError, match="not a list or tuple"):
        tensor_util.ShapeEquals(message, 2)
    assert tensor_util.shape_tensor([]).dtype == tf.int32


def test_lists_of_tensors() -> None:
    empty = list_ops.empty_tensor_list(element_shape=[], element_dtype=tf.float32)
    one = list_ops.tensor_list_push_back(empty, 1.0)
    rows = list_ops.tensor_list_from_tensor([[1.0, 2.0], [3.0, 4.0]], element_shape=[2])
    fetches = [
        list_ops.tensor_list_pop_back(one, tf.float32)[1],
        list_ops.tensor_list_concat(rows, tf.float32, [2]),
        list_ops.tensor_list_get_item(rows, 1, tf.float32),
        list_ops.tensor_list_stack(list_ops.tensor_list_scatter([5.0], [1], []), tf.float32),
    ]
    popped, joined, item, scattered = _run(fetches)
    assert popped == 1.0
    assert joined.tolist() == [1.0, 2.0, 3.0, 4.0]
    assert item.tolist() == [3.0, 4.0]
    assert scattered.tolist() == [0.0, 5.0]


def test_operations_are_made_of_messages() -> None:
    graph = tf.Graph()
    first = ops.Operation(ops._NodeDef("NoOp", "first"), graph)
    second = ops.Operation(
        ops._NodeDef("NoOp", "second"), graph, [], [], [first], original_op=first
    )
    assert isinstance(second, ops.Operation)
    assert not isinstance(tf.constant(1), ops.Operation)
    assert [op.name for op in second.control_inputs] == ["first"]
    assert second._original_op is first
    with pytest.raises(TypeError, match="node_def needs to be a NodeDef"):
        ops.Operation("NoOp", graph)
    with pytest.raises(TypeError, match="g needs to be a Graph"):
        ops.Operation(ops._NodeDef("NoOp", "third"), "graph")


def test_contexts_inside_each_other() -> None:
    contexts: list[Any] = []

    def body(i: Any) -> Any:
        step = i + 1
        contexts.append((step, step.op._get_control_flow_context()))
        return step

    outside = tf.constant(0)
    tf.while_loop(lambda i: i < 3, body, [outside])
    (step, context), *_ = contexts
    assert control_flow_util.TensorInContext(step, context)
    assert not control_flow_util.OpInContext(outside.op, context)
    assert control_flow_util.IsContainingContext(context, None)


def test_op_types_of_generated_modules() -> None:
    assert _run(gen_math_ops.Abs(x=[-1, 2])).tolist() == [1, 2]


def test_sampled_logits_without_the_correction() -> None:
    samples = ([0, 1], [[0.5]], [0.25, 0.25])
    args = (tf.eye(3), tf.zeros([3]), tf.constant([[2]]), tf.constant([[1.0, 2.0, 3.0]]), 2, 3)
    plain, targets = nn_impl._compute_sampled_logits(
        *args, sampled_values=samples, subtract_log_q=False
    )
    corrected, _ = nn_impl._compute_sampled_logits(*args, sampled_values=samples)
    logits, labels, less = _run([plain, targets, corrected])
    assert logits.tolist() == [[3.0, 1.0, 2.0]]
    assert labels.tolist() == [[1.0, 0.0, 0.0]]
    np.testing.assert_allclose(logits - less, np.log([[0.5, 0.25, 0.25]]), rtol=1e-6)


def test_strides_of_convolutions() -> None:
    assert nn_ops._get_sequence(2, 2, 3, "strides") == [1, 2, 2, 1]
    assert nn_ops._get_sequence([2, 3], 2, 1, "strides") == [1, 1, 2, 3]
    with pytest.raises(ValueError, match="should be of length 1, 2 or 4 but was 3"):
        nn_ops._get_sequence([1, 2, 3], 2, 1, "strides")
    convolve = nn_ops.Convolution([1, 5, 5, 2], [3, 3, 2, 4], "VALID")
    assert convolve(tf.zeros([1, 5, 5, 2]), tf.zeros([3, 3, 2, 4])).shape == [1, 3, 3, 4]


def test_assignments_that_keep_a_shape() -> None:
    variable = tf.get_variable("v", initializer=[1.0, 2.0], use_resource=True)
    assign = resource_variable_ops.shape_safe_assign_variable_handle
    update = assign(variable.handle, variable.shape, [3.0, 4.0])
    with tf.Session() as session:
        session.run(update)
        assert session.run(variable.value()).tolist() == [3.0, 4.0]
    with pytest.raises(ValueError, match="incompatible|compatible"):
        assign(variable.handle, variable.shape, [3.0])


def test_functional_conditionals_and_loops_are_differentiable() -> None:
    cond_v2, while_v2 = (
        importlib.import_module(f"penstock.python.ops.{name}") for name in ("cond_v2", "while_v2")
    )
    x, taken = tf.constant(3.0), tf.placeholder(tf.bool)
    chosen = cond_v2.cond_v2(taken, lambda: x * x, lambda: -x)
    grad = tf.gradients(chosen, x)
    repeated = while_v2.while_loop(lambda v: v < 50.0, lambda v: v * v, [x])
    indexed = cond_v2.indexed_case(tf.constant(1), [lambda: x, lambda: 2.0 * x])
    with tf.Session() as session:
        assert session.run(grad, {taken: True}) == [6.0]
        assert session.run(grad, {taken: False}) == [-1.0]
        assert session.run([repeated, indexed]) == [[81.0], 6.0]


def test_cases_that_are_known_leave_no_trace() -> None:
    smart_case = importlib.import_module("penstock.python.framework.smart_cond").smart_case
    fed = tf.placeholder(tf.bool)
    one, two, three = (lambda: tf.constant(1)), (lambda: tf.constant(2)), (lambda: tf.constant(3))
    assert smart_case([(False, one), (True, two)], three).op.type == "Const"
    chosen = smart_case([(False, one), (fed, two)], three)
    with tf.Session() as session:
        assert session.run(smart_case({False: one}, three)) == 3
        assert session.run(chosen, {fed: True}) == 2
        assert session.run(chosen, {fed: False}) == 3
    with pytest.raises(TypeError, match="must be callable"):
        smart_case([(True, 1)])


def test_names_that_tests_of_initializers_and_gradients_use() -> None:
    init_ops, random_seed = (
        importlib.import_module(f"penstock.python.{name}")
        for name in ("ops.init_ops", "framework.random_seed")
    )
    assert init_ops._compute_fans([3, 3, 2, 4]) == (18, 36)
    assert init_ops.identity_initializer()([2, 2]).shape == [2, 2]
    assert random_seed.DEFAULT_GRAPH_SEED == 87654321
    assert ops.get_gradient_function(tf.constant(1.0).op) is None
    assert callable(ops.get_gradient_function(tf.negative(1.0).op))


def test_arguments_have_the_names_of_the_api():
    from penstock.internal_paths import generated_ops as gen

    x = tf.constant([[1.0, 2.0]])
    made = [
        tf.raw_ops.Sum(input=x, axis=1),
        tf.raw_ops.Squeeze(input=x, axis=[0]),
        tf.raw_ops.Select(condition=[[True, False]], x=x, y=x + 1.0),
        tf.raw_ops.Where(condition=x > 1.0),
        tf.raw_ops.Split(axis=1, value=x, num_split=2)[1],
        gen._max(x, axis=1, keep_dims=True),
        gen.expand_dims(x, axis=0),
        gen.squeeze(x, [0]),
    ]
    with tf.Session() as session:
        values = [value.tolist() for value in session.run(made)]
    assert values == [
        [3.0],
        [1.0, 2.0],
        [[1.0, 3.0]],
        [[0, 1]],
        [[2.0]],
        [[2.0]],
        [[[1.0, 2.0]]],
        [1.0, 2.0],
    ]
    with pytest.raises(TypeError, match="axis"):
        tf.raw_ops.Sum(input=x, reduction_indices=1)


@pytest.mark.parametrize("use_resource", [False, True])
def test_variables_as_collections_hold_them(use_resource):
    variables: Any = importlib.import_module("penstock.python.ops.variables")
    variable = tf.Variable(3.0, use_resource=use_resource)
    message = resource_variable_ops._to_proto_fn(variable)
    assert (message.variable_name, message.is_resource) == (variable.name, use_resource)
    again = resource_variable_ops._from_proto_fn(message)
    assert type(again) is type(variable) and again.name == variable.name
    tf.add_to_collection(tf.GraphKeys.SAVEABLE_OBJECTS, "a table")
    assert variables._all_saveable_objects() == [variable, "a table"]


def test_names_where_programs_look_for_them():
    scopes: Any = importlib.import_module("penstock.python.ops.variable_scope")
    assert scopes.EagerVariableStore is tf.contrib.eager.EagerVariableStore
    path = "penstock.contrib.estimator.python.estimator.early_stopping"
    hook = importlib.import_module(path)._StopOnPredicateHook
    assert issubclass(hook, tf.train.SessionRunHook)


def test_convolutions_to_be_applied_have_the_names_of_plain_ones() -> None:
    images, kernel = tf.ones([1, 5, 5, 2]), tf.ones([3, 3, 2, 4])
    convolve = nn_ops.Convolution(images.shape, kernel.shape, "SAME")
    assert convolve(images, kernel).op.name == "Conv2D"
    assert "dilation_rate" in {op.name for op in tf.get_default_graph().get_operations()}
    named = nn_ops.Convolution(images.shape, kernel.shape, "SAME", name="mine")
    assert named(images, kernel).op.name == "mine"
    with pytest.raises(ValueError, match="number of input channels does not match .* 3 != 2"):
        nn_ops.Convolution([1, 5, 5, 3], kernel.shape, "SAME")
    with pytest.raises(ValueError, match="input tensor must have rank 4"):
        nn_ops.Convolution([1, 5, 3], kernel.shape, "SAME")


def test_the_inner_variable_class_takes_what_it_took_before_release_1_13():
    from penstock.python.ops import variables

    local = [tf.GraphKeys.LOCAL_VARIABLES]
    with tf.Graph().as_default():
        old = variables.Variable(0, trainable=False, collections=local)
        assert old.op.type == "VariableV2" and tf.local_variables() == [old]
        assert variables.Variable(0).op.type == "VarHandleOp"
        with pytest.raises(TypeError, match="nonsense"):
            variables.Variable(0, nonsense=1)
