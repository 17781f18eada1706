"""Variables of both kinds: the graphs they make, their values in a session, their errors."""

import operator as operators

import numpy as np
import pytest

import penstock as tf

both_kinds = pytest.mark.parametrize("use_resource", [False, True], ids=["reference", "resource"])


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def run(*fetches, feed_dict=None):
    """The values of `fetches` in a session where all variables are initialized."""
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        values = [session.run(fetch, feed_dict) for fetch in fetches]
    return values[0] if len(values) == 1 else values


# Values ---------------------------------------------------------------------------------------


@both_kinds
@pytest.mark.parametrize(
    ("initial_value", "dtype"),
    [
        (1.5, np.float32),
        ([1, 2, 3], np.int32),
        ([[True, False]], np.bool_),
        (np.float64(2.5), np.float64),
        (np.arange(6, dtype=np.int64).reshape(2, 3), np.int64),
        (lambda: [1.0, 2.0], np.float32),
        (1 + 2j, np.complex128),
    ],
)
def test_initial_value(use_resource, initial_value, dtype):
    v = tf.Variable(initial_value, use_resource=use_resource)
    expected = initial_value() if callable(initial_value) else initial_value
    value = run(v)
    assert value.dtype == dtype
    np.testing.assert_array_equal(value, np.asarray(expected, dtype))


@both_kinds
def test_strings(use_resource):
    v = tf.Variable(["a", "bc"], use_resource=use_resource)
    assert run(v).tolist() == [b"a", b"bc"]


@both_kinds
def test_a_variable_without_value_says_so(use_resource):
    v = tf.Variable(1.0, name="weights", use_resource=use_resource)
    with tf.Session() as session:
        with pytest.raises(tf.errors.FailedPreconditionError, match="weights"):
            session.run(v)
        session.run(v.initializer)
        assert session.run(v) == 1.0


@both_kinds
def test_state_belongs_to_the_session(use_resource):
    v = tf.Variable(1.0, use_resource=use_resource)
    add = v.assign_add(1.0)
    with tf.Session() as first, tf.Session() as second:
        first.run(v.initializer)
        second.run(v.initializer)
        for _ in range(3):
            first.run(add)
        assert (first.run(v), second.run(v)) == (4.0, 1.0)


@both_kinds
def test_a_fetched_value_is_no_view_of_the_state(use_resource):
    v = tf.Variable([1.0, 2.0], use_resource=use_resource)
    with tf.Session() as session:
        session.run(v.initializer)
        before = session.run(v)
        session.run(v.assign_add([1.0, 1.0]))
        assert before.tolist() == [1.0, 2.0]


@both_kinds
def test_eval_and_load(use_resource):
    v = tf.Variable([1.0, 2.0], use_resource=use_resource)
    with tf.Session() as session:
        v.load([3.0, 4.0], session)
        assert v.eval().tolist() == [3.0, 4.0]
        v.load([5.0, 6.0])
        assert v.eval(session).tolist() == [5.0, 6.0]


@both_kinds
def test_updates(use_resource):
    v = tf.Variable([1.0, 2.0, 3.0], use_resource=use_resource)
    with tf.Session() as session:
        session.run(v.initializer)
        assert session.run(v.assign([4.0, 5.0, 6.0])).tolist() == [4.0, 5.0, 6.0]
        assert session.run(tf.assign_add(v, [1.0, 1.0, 1.0])).tolist() == [5.0, 6.0, 7.0]
        assert session.run(v.assign_sub([1.0, 2.0, 3.0])).tolist() == [4.0, 4.0, 4.0]
        assert session.run(v.assign([0.0, 0.0, 0.0], read_value=False)) is None
        assert session.run(v).tolist() == [0.0, 0.0, 0.0]


@both_kinds
def test_reads_wait_for_control_dependencies(use_resource):
    v = tf.Variable(1.0, use_resource=use_resource)
    add = v.assign_add(10.0, read_value=False)
    with tf.control_dependencies([add]):
        after = v.read_value()
    assert run(after) == 11.0


def test_an_update_of_a_resource_variable_can_be_chained():
    v = tf.Variable(1.0, use_resource=True)
    chained = v.assign(2.0).assign_add(3.0).assign_sub(1.0)
    assert run(chained) == 4.0
    assert run(chained + 1.0) == 5.0
    assert run(chained.read_value()) == 4.0


SCATTER = {
    "update": lambda a, b: b,
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "min": np.minimum,
    "max": np.maximum,
}


@both_kinds
@pytest.mark.parametrize("kind", SCATTER)
def test_scatter(use_resource, kind):
    start = np.arange(1.0, 9.0, dtype=np.float32).reshape(4, 2)
    rows = np.array([[3.0, 3.0], [2.0, 5.0]], np.float32)
    expected = start.copy()
    expected[[2, 0]] = SCATTER[kind](start[[2, 0]], rows)
    v = tf.Variable(start, use_resource=use_resource)
    delta = tf.IndexedSlices(tf.constant(rows), tf.constant([2, 0]))
    by_function = getattr(tf, f"scatter_{kind}")(v, [2, 0], rows)
    by_method = getattr(v, f"scatter_{kind}")(delta)
    np.testing.assert_allclose(run(by_function), expected)
    np.testing.assert_allclose(run(by_method), expected)


@both_kinds
@pytest.mark.parametrize("kind", ["update", "add", "sub"])
def test_scatter_nd(use_resource, kind):
    start = np.arange(1.0, 7.0, dtype=np.float32).reshape(3, 2)
    expected = start.copy()
    expected[[2, 0], [1, 0]] = SCATTER[kind](start[[2, 0], [1, 0]], [10.0, 20.0])
    v = tf.Variable(start, use_resource=use_resource)
    indices = [[2, 1], [0, 0]]
    by_function = getattr(tf, f"scatter_nd_{kind}")(v, indices, [10.0, 20.0])
    by_method = getattr(v, f"scatter_nd_{kind}")(indices, [10.0, 20.0])
    np.testing.assert_allclose(run(by_function), expected)
    np.testing.assert_allclose(run(by_method), expected)


@both_kinds
def test_batch_scatter_update(use_resource):
    v = tf.Variable(np.zeros([2, 3], np.float32), use_resource=use_resource)
    updated = tf.batch_scatter_update(v, [[0, 2], [1, 0]], [[1.0, 2.0], [3.0, 4.0]])
    assert run(updated).tolist() == [[1.0, 0.0, 2.0], [4.0, 3.0, 0.0]]


@both_kinds
def test_assignment_to_a_slice(use_resource):
    v = tf.Variable(np.arange(6, dtype=np.float32).reshape(2, 3), use_resource=use_resource)
    assert run(v[1, ::2]).tolist() == [3.0, 5.0]
    assert run(v[0, 1:].assign([7.0, 8.0])).tolist() == [[0.0, 7.0, 8.0], [3.0, 4.0, 5.0]]


@both_kinds
def test_counting(use_resource):
    v = tf.Variable(0, use_resource=use_resource)
    step = v.count_up_to(2)
    with tf.Session() as session:
        session.run(v.initializer)
        assert [session.run(step), session.run(step)] == [0, 1]
        with pytest.raises(tf.errors.OutOfRangeError):
            session.run(step)


@both_kinds
def test_reading_rows(use_resource):
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], use_resource=use_resource)
    rows, elements = run(tf.gather(v, [2, 0]), tf.gather_nd(v, [[1, 1]]))
    assert rows.tolist() == [[5.0, 6.0], [1.0, 2.0]]
    assert elements.tolist() == [4.0]


@both_kinds
def test_operators(use_resource):
    v = tf.Variable([1.0, -2.0], use_resource=use_resource)
    results = run(v + 1.0, 3.0 - v, -v, abs(v), v * v, v < 0.0, np.float32(2.0) * v)
    assert [r.tolist() for r in results] == [
        [2.0, -1.0],
        [2.0, 5.0],
        [-1.0, 2.0],
        [1.0, 2.0],
        [1.0, 4.0],
        [False, True],
        [2.0, -4.0],
    ]


def test_a_variable_can_be_fed():
    ref = tf.Variable([1.0, 2.0])
    resource = tf.Variable([1.0, 2.0], use_resource=True)
    feeds = {ref: [10.0, 20.0], resource: [30.0, 40.0]}
    fetched = run(ref + 1.0, resource, feed_dict=feeds)
    assert [value.tolist() for value in fetched] == [[11.0, 21.0], [30.0, 40.0]]


def test_the_shape_may_change_unless_it_is_validated():
    v = tf.Variable([1.0, 2.0], validate_shape=False)
    grown = tf.assign(v, [1.0, 2.0, 3.0], validate_shape=False)
    assert run(grown).tolist() == [1.0, 2.0, 3.0]
    fixed = tf.Variable([1.0, 2.0])
    value = tf.placeholder(tf.float32)
    with tf.Session() as session:
        session.run(fixed.initializer)
        with pytest.raises(tf.errors.InvalidArgumentError):
            session.run(fixed.assign(value), {value: [1.0]})


# Initialization -------------------------------------------------------------------------------


@both_kinds
def test_initial_values_may_read_other_variables(use_resource):
    first = tf.Variable(np.float32(2.0))
    second = tf.Variable(first * 3.0, use_resource=use_resource)
    third = tf.Variable(first.initialized_value() + 1.0, use_resource=use_resource)
    assert run(second, third) == [6.0, 3.0]


def test_an_initial_value_reads_a_variable_that_has_a_value():
    first = tf.Variable(1.0)
    second = tf.Variable(first + 1.0)
    with tf.Session() as session:
        session.run(first.initializer)
        session.run(first.assign(10.0))
        session.run(second.initializer)
        assert session.run(second) == 11.0


@both_kinds
def test_reports_of_uninitialized_variables(use_resource):
    first = tf.Variable(1.0, name="first", use_resource=use_resource)
    tf.Variable(2.0, name="second", use_resource=use_resource)
    report = tf.report_uninitialized_variables()
    is_ready = tf.is_variable_initialized(first)
    with tf.Session() as session:
        assert session.run(report).tolist() == [b"first", b"second"]
        assert not session.run(is_ready)
        session.run(first.initializer)
        assert session.run(report).tolist() == [b"second"]
        assert session.run(is_ready)
        session.run(tf.global_variables_initializer())
        assert session.run(report).tolist() == []


def test_a_check_that_variables_are_initialized():
    tf.Variable(1.0)
    check = tf.assert_variables_initialized()
    with tf.Session() as session:
        with pytest.raises(tf.errors.FailedPreconditionError):
            session.run(check)
        session.run(tf.global_variables_initializer())
        session.run(check)


def test_local_variables_have_an_initializer_of_their_own():
    v = tf.Variable(1.0, collections=[tf.GraphKeys.LOCAL_VARIABLES], name="v")
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(tf.report_uninitialized_variables()).tolist() == [b"v"]
        session.run(tf.local_variables_initializer())
        assert session.run(v) == 1.0


# Messages -------------------------------------------------------------------------------------


@both_kinds
def test_a_variable_survives_an_export_of_its_graph(graph, use_resource):
    with tf.name_scope("model"):
        v = tf.Variable([1.0, 2.0], use_resource=use_resource, trainable=False)
        v._set_save_slice_info(tf.Variable.SaveSliceInfo("whole", [4], [2], [2]))
    message, definition = v.to_proto(), graph.as_graph_def()
    with tf.Graph().as_default():
        tf.import_graph_def(definition, name="copy")
        w = tf.Variable.from_proto(message, import_scope="copy")
        assert type(w) is type(v)
        assert (w.name, w.trainable) == ("copy/model/Variable:0", False)
        assert w._get_save_slice_info().spec == "4 2,2"
        with tf.Session() as session:
            session.run(w.initializer)
            assert session.run(w + 1.0).tolist() == [2.0, 3.0]
            assert session.run(w.assign_add([1.0, 1.0])).tolist() == [2.0, 3.0]


# Errors ---------------------------------------------------------------------------------------


def _placeholder():
    return tf.placeholder(tf.float32)


@pytest.mark.parametrize(
    ("make", "error", "phrase"),
    [
        (lambda: tf.Variable(None), ValueError, "initial_value must be specified"),
        (lambda: tf.Variable(_placeholder()), ValueError, "must have a shape specified"),
        (lambda: tf.Variable(1.0, collections="a"), ValueError, "must be a list, tuple, or set"),
        (lambda: tf.Variable(1.0, constraint=3), ValueError, "constraint"),
        (lambda: tf.Variable([1.0], dtype=tf.int32), TypeError, "int32"),
        (lambda: tf.Variable(lambda a: a), TypeError, "missing"),
        (lambda: iter(tf.Variable([1.0])), TypeError, "not iterable"),
        (lambda: tf.Variable([1.0]).eval(), ValueError, "No default session"),
        (lambda: tf.Variable([1.0]).load([2.0]), ValueError, "default session"),
        (lambda: tf.Variable([1.0, 2.0]).assign([1.0]), ValueError, "must be equal|compatible"),
        (lambda: tf.Variable([1.0]).scatter_add([1.0]), TypeError, "not IndexedSlices"),
        (lambda: tf.Variable([1.0]).set_shape([2]), ValueError, "must be equal, but are 1 and 2"),
        (lambda: tf.assign(tf.constant(1.0), 2.0), AttributeError, "assign"),
        (
            lambda: tf.convert_to_tensor(tf.Variable([1.0]), tf.int32),
            ValueError,
            "Incompatible type conversion requested to type 'int32'",
        ),
        (
            lambda: tf.Variable([1.0, 2.0], use_resource=True).assign([1.0]),
            ValueError,
            "are incompatible",
        ),
        (
            lambda: tf.Variable([1.0, 2.0], shape=[3], use_resource=True),
            ValueError,
            "not compatible with the explicitly supplied `shape`",
        ),
    ],
)
def test_refused(make, error, phrase):
    with pytest.raises(error, match=phrase):
        make()


def test_variables_are_equal_by_identity():
    v, w = tf.Variable(1.0), tf.Variable(1.0)
    assert v == v and v != w and v != 1.0 and len({v, w, v}) == 2


def test_assigning_operators_of_resource_variables_are_refused():
    ref, resource = tf.Variable(2.0, use_resource=False), tf.Variable(2.0, use_resource=True)
    for operator in ("iadd", "isub", "imul", "itruediv", "ipow"):
        with pytest.raises(RuntimeError, match=r"Variable (\+|-|\*|/|\*\*)= value not supported"):
            getattr(operators, operator)(resource, 3.0)
        assert isinstance(getattr(operators, operator)(ref, 3.0), tf.Tensor)


# Indexed slices -------------------------------------------------------------------------------


def test_slices_become_dense():
    slices = tf.IndexedSlices(
        tf.constant([[1.0], [2.0], [3.0]]), tf.constant([2, 0, 2]), tf.constant([4, 1])
    )
    assert run(tf.convert_to_tensor(slices)).tolist() == [[2.0], [0.0], [4.0], [0.0]]


def test_slices_of_unknown_or_large_shape_warn():
    values, indices = tf.constant([[1.0]]), tf.constant([0])
    unknown = tf.IndexedSlices(values, indices, tf.placeholder(tf.int32, [2]))
    large = tf.IndexedSlices(values, indices, tf.constant([200_000_000, 1]))
    with pytest.warns(UserWarning, match="dense Tensor of unknown shape"):
        tf.convert_to_tensor(unknown)
    with pytest.warns(UserWarning, match="with 200000000 elements"):
        tf.convert_to_tensor(large)
