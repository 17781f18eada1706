"""Switch, Merge and loops put together by hand from primitives, run by the executor."""

import numpy as np
import pytest

import penstock as tf

raw = tf.raw_ops


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


@pytest.fixture
def session(graph):
    with tf.Session() as session:
        yield session


def while_loop(initial, condition, body, constants=(), frame="loop", parallel=10):
    """A loop over one variable, as TensorFlow lays it out."""
    options = {"frame_name": frame, "parallel_iterations": parallel}
    entered = raw.Enter(data=initial, **options)
    fixed = [raw.Enter(data=c, is_constant=True, **options) for c in constants]
    merged = raw.Merge(inputs=[entered, entered])
    # Constants made inside belong to this loop, and not to one around it.
    with tf.control_dependencies(None), tf.control_dependencies([merged.output]):
        proceed = raw.LoopCond(input=condition(merged.output, *fixed))
    switched = raw.Switch(data=merged.output, pred=proceed)
    variable = tf.identity(switched.output_true)
    with tf.control_dependencies(None), tf.control_dependencies([variable]):
        following = raw.NextIteration(data=body(variable, *fixed))
    merged.output.op._update_input(1, following)
    return raw.Exit(data=switched.output_false)


def test_switch_and_merge(session):
    pred = tf.placeholder(tf.bool, [])
    switched = raw.Switch(data=tf.constant(3.0), pred=pred)
    merged = raw.Merge(inputs=[switched.output_false + 1.0, switched.output_true * 2.0])
    assert session.run(merged, {pred: True}) == (6.0, 1)
    assert session.run(merged, {pred: False}) == (4.0, 0)


def test_a_dead_tensor_cannot_be_fetched(session):
    switched = raw.Switch(data=tf.constant(3.0), pred=tf.constant(False))
    assert session.run(switched.output_false) == 3.0
    with pytest.raises(tf.errors.InvalidArgumentError, match="dead"):
        session.run(switched.output_true + 1.0)


def test_dead_control_edges_kill(session):
    variable = tf.Variable(0.0)
    session.run(variable.initializer)
    pred = tf.placeholder(tf.bool, [])
    switched = raw.Switch(data=tf.constant(1.0), pred=pred)
    with tf.control_dependencies([switched.output_true + 0.0]):
        update = tf.assign_add(variable, 1.0).op
    session.run(update, {pred: False})
    assert session.run(variable) == 0.0
    session.run(update, {pred: True})
    assert session.run(variable) == 1.0


@pytest.mark.parametrize("parallel", [1, 2, 10])
def test_a_loop(session, parallel):
    limit = tf.placeholder(tf.int32, [])
    result = while_loop(
        tf.constant(0), tf.less, lambda i, n: i + 3, constants=[limit], parallel=parallel
    )
    assert session.run(result, {limit: 10}) == 12
    assert session.run(result, {limit: 0}) == 0


def test_loops_in_loops(session):
    def inner(i):
        return while_loop(i, lambda j: j < 10, lambda j: j * 2, frame="inner")

    result = while_loop(tf.constant(1), lambda i: i < 100, lambda i: inner(i) + 5, frame="outer")

    expected = 1
    while expected < 100:
        j = expected
        while j < 10:
            j *= 2
        expected = j + 5
    assert session.run(result) == expected


@pytest.mark.parametrize("taken", [True, False])
def test_a_loop_inside_of_a_branch(session, taken):
    pred = tf.placeholder(tf.bool, [])
    switched = raw.Switch(data=tf.constant(1), pred=pred)
    looped = while_loop(switched.output_true, lambda i: i < 50, lambda i: i * 3)
    merged = raw.Merge(inputs=[switched.output_false - 7, looped])
    assert session.run(merged.output, {pred: taken}) == (81 if taken else -6)


def test_a_branch_inside_of_a_loop(session):
    def body(i):
        switched = raw.Switch(data=i, pred=tf.equal(tf.floormod(i, 2), 0))
        return raw.Merge(inputs=[switched.output_false * 3 + 1, switched.output_true + 5]).output

    result = while_loop(tf.constant(0), lambda i: i < 1000, body)
    expected = 0
    while expected < 1000:
        expected = expected + 5 if expected % 2 == 0 else expected * 3 + 1
    assert session.run(result) == expected


def test_a_long_loop_keeps_no_iterations(session):
    result = while_loop(tf.constant(0), lambda i: i < 3000, lambda i: i + 1)
    assert session.run(result) == 3000


def test_an_endless_loop_ends_at_its_timeout(session):
    result = while_loop(tf.constant(0), lambda i: i >= 0, lambda i: i * 0)
    with pytest.raises(tf.errors.DeadlineExceededError):
        session.run(result, options=tf.RunOptions(timeout_in_ms=50))


def test_an_imported_loop(graph, session):
    while_loop(tf.constant(0), lambda i: i < 7, lambda i: i + 2)
    definition = graph.as_graph_def()
    with tf.Graph().as_default() as other:
        tf.import_graph_def(definition, name="")
        with tf.Session() as imported:
            assert imported.run("Exit:0") == 8
        assert other.as_graph_def() == definition


def test_inputs_from_different_frames_are_refused(session):
    entered = raw.Enter(data=tf.constant(1.0), frame_name="a")
    mixed = entered + tf.placeholder_with_default(1.0, [])
    with pytest.raises(tf.errors.InvalidArgumentError, match="different frames"):
        session.run(raw.Exit(data=mixed))


def test_shapes():
    data = tf.placeholder(tf.float32, [2, 3])
    other = tf.placeholder(tf.float32, [2, 4])
    switched = raw.Switch(data=data, pred=tf.constant(True))
    assert switched.output_true.shape.as_list() == [2, 3]
    assert raw.Merge(inputs=[data, other]).output.shape.as_list() == [2, None]
    assert raw.Merge(inputs=[data, tf.constant(1.0)]).output.shape.ndims is None
    with pytest.raises(ValueError, match="rank 0"):
        raw.Switch(data=data, pred=np.array([True]))


def test_references_go_through_branches(session):
    """RefSwitch and RefMerge pass the variable itself on: an assignment behind them changes it."""
    variable = tf.Variable(1.0)
    session.run(variable.initializer)
    pred = tf.placeholder(tf.bool, [])
    switched = raw.RefSwitch(data=variable._ref(), pred=pred)
    added = tf.assign_add(switched.output_true, 10.0)
    merged = raw.RefMerge(inputs=[switched.output_false, added])
    assert merged.output.dtype.is_ref_dtype
    assert session.run(merged.output, {pred: False}) == 1.0
    assert session.run(merged.output, {pred: True}) == 11.0
    assert session.run(variable) == 11.0


def test_references_go_through_loops(session):
    """RefEnter, RefNextIteration and RefExit: a loop that updates a variable in place."""
    variable = tf.Variable(1.0)
    session.run(variable.initializer)
    entered = raw.RefEnter(data=variable._ref(), frame_name="loop")
    merged = raw.RefMerge(inputs=[entered, entered])
    with tf.control_dependencies([merged.output]):
        proceed = raw.LoopCond(input=tf.less(merged.output, 50.0))
    switched = raw.RefSwitch(data=merged.output, pred=proceed)
    with tf.control_dependencies([switched.output_true]):
        doubled = tf.assign_add(switched.output_true, tf.identity(switched.output_true))
    following = raw.RefNextIteration(data=doubled)
    merged.output.op._update_input(1, following)
    left = raw.RefExit(data=switched.output_false)
    assert session.run(left) == 64.0
    assert session.run(variable) == 64.0


def test_a_reference_is_selected(session):
    """RefSelect passes one of several variables on: an assignment behind it changes that one."""
    variables = [tf.Variable(float(i)) for i in range(2)]
    session.run(tf.global_variables_initializer())
    index = tf.placeholder(tf.int32, [])
    chosen = raw.RefSelect(index=index, inputs=[v._ref() for v in variables])
    session.run(tf.assign_add(chosen, 10.0), {index: 1})
    assert session.run(variables) == [0.0, 11.0]
