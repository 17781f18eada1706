"""Loops and branches that make no sense, and loops that don't end: TensorFlow's errors."""

import _thread
import threading

import numpy as np
import pytest

import penstock as tf
from tests.control_flow_conformance.executor_session import as_written


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def tensor_of_a_loop():
    kept = []

    def body(i):
        kept.append(tf.constant(1))
        return i + kept[0]

    tf.while_loop(lambda i: i < 10, body, [0])
    return kept[0]


def tensor_of_a_branch():
    kept = []

    def on_true():
        kept.append(tf.constant(1))
        return kept[0]

    tf.cond(tf.less(1, 2), on_true, lambda: tf.constant(0))
    return kept[0]


class TestFrames:
    def test_a_tensor_of_a_loop_outside(self):
        inner = tensor_of_a_loop()
        message = "Cannot use 'while/Const_1' as input to 'Add' because 'while/Const_1' is in a"
        with pytest.raises(ValueError, match=message):
            tf.add(1, inner)

    def test_in_a_branch(self):
        inner = tensor_of_a_loop()
        with pytest.raises(ValueError, match="as input to 'cond/Add' because .* in a while loop"):
            tf.cond(tf.less(1, 2), lambda: tf.add(1, inner), lambda: tf.constant(0))

    def test_in_another_loop(self):
        inner = tensor_of_a_loop()
        with pytest.raises(ValueError, match="'while_1/Add' because they are in different while"):
            tf.while_loop(lambda i: i < 10, lambda i: tf.add(1, inner), [0])
        with pytest.raises(ValueError, match="'while_2/NextIteration' because they are in diff"):
            tf.while_loop(lambda i: i < 10, lambda i: inner, [0])

    def test_what_is_allowed(self):
        inner = tensor_of_a_branch()
        tf.add(1, inner)

        def body(i):
            of_branch = tensor_of_a_branch()
            of_loop = tf.constant(1)
            deeper = tf.while_loop(lambda j: j < 3, lambda j: j + of_branch * of_loop, [0])
            return i + deeper

        result = tf.while_loop(lambda i: i < 5, body, [0])
        with tf.Session() as session:
            assert session.run(result) == 6

    def test_inputs_from_two_frames(self):
        entered = [tf.raw_ops.Enter(data=1.0, frame_name=name) for name in ("one", "two")]
        with (
            tf.Session() as session,
            pytest.raises(tf.errors.InvalidArgumentError, match="inputs from different frames"),
        ):
            session.run(tf.add(*entered))

    def test_a_gradient_through_the_first_value(self):
        x = tf.placeholder(tf.float32, (), name="x")
        y = x + 1
        message = "Cannot compute gradient inside while loop with respect to op 'x'"
        with pytest.raises(ValueError, match=message):
            tf.while_loop(
                lambda i, v: i < 3, lambda i, v: (i + 1, tf.gradients(v * 2, x)[0]), [0, y]
            )

    def test_a_second_gradient_of_a_loop(self):
        x = tf.constant(1.5)
        loop = tf.while_loop(lambda v: v < 9.0, lambda v: v * x, [x])
        with pytest.raises(TypeError, match="Second-order gradient for while loops not supported"):
            tf.gradients(tf.gradients(loop, x), x)

    def test_a_dead_value_is_fetched(self):
        dead = tf.identity(tf.raw_ops.Switch(data=[1, 2], pred=True).output_false)
        with (
            tf.Session() as session,
            pytest.raises(tf.errors.InvalidArgumentError, match=r"Retval\[1\] does not have value"),
        ):
            session.run([tf.constant(1), dead])


class TestStructures:
    def test_a_body_that_returns_another_structure(self):
        for body in (
            lambda i, j: i + 1,
            lambda i, j: (i, j, j),
            lambda i, j: (i + 1, (j, j)),
        ):
            with pytest.raises(ValueError, match="don't have the same nested structure"):
                tf.while_loop(lambda i, j: i < 3, body, [0, 0])
        with pytest.raises(TypeError, match="don't have the same nested structure"):
            tf.while_loop(lambda i, j: i < 3, lambda i, j: (i + 1, j), [0, 0], maximum_iterations=2)

    def test_the_result_has_the_structure_of_the_body(self):
        assert isinstance(tf.while_loop(lambda i, j: i < 3, lambda i, j: (i + 1, j), [0, 0]), tuple)
        (pair,) = tf.while_loop(lambda p: p[0] < 3, lambda p: [(p[0] + 1, p[1])], [(0, 0)])
        assert isinstance(pair, tuple)
        kept = tf.while_loop(lambda i: i < 3, lambda i: [i + 1], [0], return_same_structure=True)
        assert isinstance(kept, list)

    def test_a_shape_that_changes(self):
        ones = tf.ones([2, 2])
        message = r"Input tensor 'ones:0' enters the loop with shape \(2, 2\), but has shape \(4, 2"
        with pytest.raises(ValueError, match=message):
            tf.while_loop(lambda i, m: i < 2, lambda i, m: (i + 1, tf.tile(m, [2, 1])), [0, ones])

    def test_an_invariant_that_does_not_hold_at_first(self):
        with pytest.raises(ValueError, match="is not compatible with"):
            tf.while_loop(
                lambda i: tf.reduce_all(i < 3), lambda i: i, [np.ones(2)], [tf.TensorShape([5])]
            )

    def test_invariants_as_specs(self):
        x = tf.SparseTensor([[0]], [1.0], [10])
        specs = [tf.TensorSpec([], tf.int32), tf.SparseTensorSpec([None])]
        loop = lambda i, value, shapes: tf.while_loop(  # noqa: E731
            lambda i, _: i < 2, lambda i, v: (i + 1, v), [i, value], shapes
        )
        loop(tf.constant(0), x, specs)
        for first, value in ((0.0, x), (0, tf.constant([1]))):
            with pytest.raises(TypeError, match="is not compatible with"):
                loop(tf.constant(first), value, specs)
        with pytest.raises(ValueError, match="list of shapes"):
            loop(tf.constant(0), tf.constant([1]), ["one", "two"])

    def test_sparse_variables_may_grow(self):
        x = tf.SparseTensor([[0]], [1.0], [10])

        def body(i, value):
            index = tf.cast(tf.fill([1, 1], i), tf.int64)
            return i + 1, tf.sparse.add(value, tf.SparseTensor(index, [1.0], [10]))

        _, grown = tf.while_loop(lambda i, _: i < 4, body, [1, x])
        assert grown.indices.shape.as_list() == [None, 1]
        with tf.Session() as session:
            assert session.run(grown).indices.tolist() == [[0], [1], [2], [3]]
        with pytest.raises(ValueError, match="is not compatible with"):
            tf.while_loop(
                lambda i, _: i < 4, body, [1, x], [tf.TensorShape([]), tf.TensorShape([5])]
            )

    def test_a_condition_that_is_no_bool(self):
        with pytest.raises(TypeError, match="'LoopCond' Op has type int32"):
            tf.while_loop(lambda i: i, lambda i: i, [0])
        with pytest.raises(TypeError, match="'Switch' Op has type int32"):
            tf.cond(tf.constant(1), lambda: 1, lambda: 2)

    def test_branches_with_indices_of_two_types(self):
        rows = [
            tf.IndexedSlices(tf.constant([1.0]), tf.constant([0], t)) for t in (tf.int32, tf.int64)
        ]
        chosen = tf.cond(tf.constant(False), lambda: rows[0], lambda: rows[1])
        assert chosen.indices.dtype is tf.int64

    def test_lists_of_one_are_unpacked_twice(self):
        assert isinstance(tf.cond(tf.constant(True), lambda: [[1]], lambda: [[2]]), tf.Tensor)


@pytest.mark.parametrize("executor", [False, True])
class TestEndless:
    def session(self, executor):
        return tf.Session(config=as_written() if executor else None)

    def test_stopped_by_a_timeout(self, executor):
        loop = tf.while_loop(lambda i: True, lambda i: i + 1, [0])
        with (
            self.session(executor) as session,
            pytest.raises(tf.errors.DeadlineExceededError),
        ):
            session.run(loop, options=tf.RunOptions(timeout_in_ms=20))

    def test_stopped_by_the_keyboard(self, executor):
        started = threading.Event()

        def mark(i):
            started.set()
            return i

        def body(i):
            return tf.py_func(mark, [i], tf.int32, stateful=True) + 1

        loop = tf.while_loop(lambda i: True, body, [0], [tf.TensorShape(None)])

        def interrupt():
            started.wait()
            _thread.interrupt_main()

        thread = threading.Thread(target=interrupt)
        thread.start()
        with self.session(executor) as session:
            with pytest.raises(KeyboardInterrupt):
                session.run(loop)
            thread.join()
            assert session.run(tf.constant(3)) == 3  # the session goes on


@pytest.mark.parametrize("executor", [False, True])
class TestReferences:
    def test_updates_are_seen_inside_the_loop(self, executor):
        a, b = tf.Variable(0, use_resource=False), tf.Variable(0, use_resource=False)

        def body(i):
            with tf.control_dependencies([tf.assign_add(a, 1)]):
                added = tf.assign_add(b, a)
            with tf.control_dependencies([added]):
                return i + 1

        loop = tf.while_loop(lambda i: i < 10, body, [0], parallel_iterations=1)
        with tf.Session(config=as_written() if executor else None) as session:
            session.run(tf.global_variables_initializer())
            session.run(loop)
            assert session.run([a, b]) == [10, 55]

    def test_and_in_a_branch_of_it(self, executor):
        v = tf.Variable(2.0, use_resource=False)

        def body(i):
            squared = tf.cond(tf.constant(True), lambda: tf.assign(v, tf.square(v)), lambda: v)
            with tf.control_dependencies([squared]):
                return i + 1

        loop = tf.while_loop(lambda i: i < 4, body, [0])
        with tf.Session(config=as_written() if executor else None) as session:
            session.run(tf.global_variables_initializer())
            session.run(loop)
            assert session.run(v) == 65536.0

    def test_a_condition_on_a_variable(self, executor):
        v = tf.Variable(0, use_resource=False)

        def body(_):
            with tf.control_dependencies([tf.assign_add(v, 1)]):
                return tf.identity(v)

        loop = tf.while_loop(lambda _: tf.less(v, 10), body, [v], parallel_iterations=1)
        with tf.Session(config=as_written() if executor else None) as session:
            session.run(tf.global_variables_initializer())
            session.run(loop)
            assert session.run(v) == 10

    def test_a_reference_as_a_loop_variable(self, executor):
        v = tf.Variable(7.0, use_resource=False)

        def body(i, x):
            assert x.dtype.is_ref_dtype
            return i + 1, tf.raw_ops.RefIdentity(input=x)

        count, left = tf.while_loop(lambda i, x: i < 5, body, [0, v._ref()])
        assert left.dtype.is_ref_dtype
        with tf.Session(config=as_written() if executor else None) as session:
            session.run(tf.global_variables_initializer())
            assert session.run([count, left]) == [5, 7.0]
            assert session.run(tf.gradients(left, v._ref())) == [1.0]


def test_ref_select(graph):
    first, second = (tf.Variable([float(i)], use_resource=False) for i in range(2))
    index = tf.placeholder(tf.int32, [])
    chosen = tf.raw_ops.RefSelect(index=index, inputs=[first._ref(), second._ref()])
    assert chosen.shape.as_list() == [1]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(chosen, {index: 1}) == np.array([1.0])
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"in the range \[0, 2\)"):
            session.run(chosen, {index: 2})
