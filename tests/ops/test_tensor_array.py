"""tf.TensorArray when a step runs; recorded snapshots compare the built nodes.

Its methods make TensorArrayV3, TensorArrayGradV3, TensorArrayCloseV3 and so on.
"""

import numpy as np
import pytest

import penstock as tf
from penstock.ops import tensor_arrays as specs


@pytest.fixture(autouse=True)
def session():
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


def array(size=3, **options):
    return tf.TensorArray(tf.float32, size, tensor_array_name="foo", **options)


def fails(session, message, made, error=tf.errors.InvalidArgumentError):
    with pytest.raises(error, match=message):
        session.run(made)


class TestAccess:
    def test_write_and_read(self, session):
        written = array().write(0, [[4.0, 5.0]]).write(2, [[6.0, 7.0]])
        found = session.run([written.read(2), written.read(0), written.flow])
        assert found[0].tolist() == [[6.0, 7.0]]
        assert found[1].tolist() == [[4.0, 5.0]]

    @pytest.mark.parametrize("dtype", [tf.float16, tf.int64, tf.bool, tf.complex64, tf.string])
    def test_types(self, session, dtype):
        values = ["a", "b"] if dtype is tf.string else [0, 1]
        rows = tf.constant(np.array(values).astype(dtype.as_numpy_dtype))
        written = tf.TensorArray(dtype, 2, clear_after_read=False).unstack(rows)
        one, all_of_them = session.run([written.read(1), written.stack()])
        expected = session.run(rows)
        assert one == expected[1]
        assert all_of_them.tolist() == expected.tolist()

    def test_stack_gather_concat(self, session):
        written = array(clear_after_read=False).unstack([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
        assert session.run(written.stack()).tolist() == [[1, 2], [3, 4], [5, 6]]
        assert session.run(written.gather([2, 0])).tolist() == [[5, 6], [1, 2]]
        assert session.run(written.concat()).tolist() == [1, 2, 3, 4, 5, 6]
        assert written.stack().shape.as_list() == [None, 2]
        assert written.concat().shape.as_list() == [None]

    def test_split(self, session):
        parts = array(infer_shape=False).split([[1.0], [2.0], [3.0]], [1, 0, 2])
        found = session.run([parts.read(i) for i in range(3)])
        assert [part.tolist() for part in found] == [[[1.0]], [], [[2.0], [3.0]]]

    def test_growing(self, session):
        grown = array(0, dynamic_size=True).write(1, 1.0).scatter([4, 2], [2.0, 3.0])
        assert session.run([grown.size(), grown.stack()])[1].tolist() == [0, 1, 3, 0, 2]

    def test_what_was_not_written_is_zero_where_its_shape_is_known(self, session):
        assert session.run(array(element_shape=[2]).read(1)).tolist() == [0, 0]
        assert session.run(array().write(0, 1.0).stack()).tolist() == [1, 0, 0]
        assert session.run(array(0, element_shape=[2]).stack()).shape == (0, 2)
        assert session.run(array(0, element_shape=[2, 3]).concat()).shape == (0, 3)

    def test_a_variable_may_change_after_it_was_written(self, session):
        for resource in (False, True):
            v = tf.get_variable(f"v{resource}", initializer=[1.0], use_resource=resource)
            session.run(v.initializer)
            written = array().write(0, v)
            with tf.control_dependencies([written.flow]):
                changed = tf.assign_add(v, [10.0])
            with tf.control_dependencies([changed]):
                found = written.identity().read(0)
            assert session.run(found).tolist() == [1.0]

    def test_values_in_an_array_are_not_overwritten(self, session):
        x = tf.placeholder(tf.float32, [2])
        doubled = x * 2.0
        written = array().write(0, doubled)
        with tf.control_dependencies([written.flow]):
            other = tf.nn.relu(doubled) + 1.0
        with tf.control_dependencies([other]):
            kept = written.identity().read(0)
        assert session.run([kept, other], {x: [1, 2]})[0].tolist() == [2, 4]


class TestErrors:
    def test_indices(self, session):
        written = array().write(0, 1.0)
        fails(session, "Tried to read from index 3 but array size is: 3", written.read(3))
        fails(session, "Tried to read from index -1 but", written.read(-1))
        fails(session, "Tried to write to index 3 but array is not res", written.write(3, 1.0).flow)
        fails(session, "Max scatter index must be < array", written.scatter([3], [1.0]).flow)

    def test_once(self, session):
        written = array().write(0, 1.0)
        fails(session, "index 0 because it has already been written to", written.write(0, 2.0).flow)
        with tf.control_dependencies([written.read(0)]):
            fails(session, "Could not read index 0 twice because it was cl", written.read(0))
            fails(session, "0 because it has already been read", written.write(0, 2.0).flow)

    def test_shapes_and_types(self, session):
        unknown = tf.placeholder_with_default(np.float32([1]), None)
        fails(session, "incompatible with the Ten", array().write(0, 1.0).write(1, unknown).flow)
        fails(session, "is trying to write dtype string", array().write(0, tf.constant("a")).flow)
        wrong = tf.TensorArray(tf.int32, handle=array().handle, flow=array().flow)
        fails(session, "TensorArray dtype is float but Op requested dtype int32", wrong.read(0))
        loose = array(2, infer_shape=False).write(0, 1.0).write(1, [1.0])
        fails(session, "has inconsistent shapes.  Index 0 has shape", loose.stack())
        fails(session, "Concat saw a scalar shape at index 0", loose.concat())
        fails(session, "the element shape is not fully defined", array(infer_shape=False).read(0))
        fails(
            session, "size zero, but element shape", array(0).stack(), tf.errors.UnimplementedError
        )

    def test_split(self, session):
        message = "sum of lengths is 2 and value's shape is: \\[3\\]"
        fails(session, message, array(2).split([1.0, 2.0, 3.0], [1, 1]).flow)
        message = r"not equal to the size of lengths \(4 vs. 2\)"
        fails(session, message, array(4).split([1.0, 2.0], [1, 1]).flow)
        fails(session, "at least a vector, but", array(1).split(1.0, [1]).flow)

    def test_closed(self, session):
        written = array().write(0, 1.0)
        with tf.control_dependencies([written.close()]):
            fails(session, "foo_\\d+ has already been closed", written.read(0))


class TestGradients:
    def test_gradient_arrays_add_up(self, session):
        written = array(infer_shape=False).write(0, 1.0).write(1, [1.0, 2.0])
        gradient = written.grad("one").write(0, 1.0).write(0, 2.0).write(0, 4.0)
        other = written.grad("other").write(0, 5.0)
        found = session.run([gradient.read(0), gradient.read(1), other.read(0), other.size()])
        assert found[0] == 7.0
        assert found[1].tolist() == [0.0, 0.0]
        assert found[2:] == [5.0, 3]
        fails(session, "Could not aggregate to Ten", written.grad("x").write(0, [1.0]).flow)

    def test_gradient_with_a_shape_in_front(self, session):
        written = array(element_shape=[2]).write(0, [1.0, 2.0])
        made = specs.TensorArrayGradWithShape(written.handle, written.flow, [3], source="s")
        gradient = tf.TensorArray(tf.float32, handle=made[0], flow=made[1])
        assert session.run(gradient.read(0)).shape == (3, 2)

    def test_of_each_access(self, session):
        x = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
        source = array(clear_after_read=False).unstack(x)
        y = source.read(0) * source.read(2) + tf.reduce_sum(source.gather([1, 1]), 0)
        parts = array(2, infer_shape=False).split(x, [1, 2])
        z = tf.reduce_sum(tf.square(parts.concat())) + tf.reduce_sum(y)
        assert session.run(tf.gradients(z, x))[0].tolist() == [[7, 10], [8, 10], [11, 14]]

    def test_calls_have_arrays_of_their_own(self, session):
        x = tf.constant([1.0, 2.0])
        rows = array(2, clear_after_read=False).unstack(x)
        y = rows.read(0) + rows.read(1)
        first, second = tf.gradients(y, x), tf.gradients(y, x)
        found = session.run([first, second])
        assert [g[0].tolist() for g in found] == [[1, 1], [1, 1]]

    def test_through_a_loop(self, session):
        x = tf.placeholder(tf.float32, [None])
        w = tf.constant(2.0)
        count = tf.shape(x)[0]
        rows = tf.TensorArray(tf.float32, count).unstack(x)
        results = tf.TensorArray(tf.float32, count)
        _, last, results = tf.while_loop(
            lambda i, s, r: i < count,
            lambda i, s, r: (i + 1, s * w + rows.read(i), r.write(i, s * w)),
            [0, 0.0, results],
        )
        y = tf.reduce_sum(results.stack()) + last
        found = session.run([y, *tf.gradients(y, [x, w])], {x: [1, 2, 3]})
        assert found[0] == 0 + 2 + 8 + 11
        assert found[1].tolist() == [2 + 4 + 4, 2 + 2, 1]
        assert found[2] == pytest.approx((1 + 4 + 2) + (4 + 2))

    def test_through_a_branch(self, session):
        x, pred = tf.constant([1.0, 2.0]), tf.placeholder(tf.bool, [])
        first = array(2).write(0, x)
        second = tf.cond(pred, lambda: first.write(1, x * 2.0), lambda: first.write(1, x + 1.0))
        y = second.stack()
        (gradient,) = tf.gradients(y, x)
        assert session.run([y, gradient], {pred: True})[1].tolist() == [3, 3]
        assert session.run([y, gradient], {pred: False})[1].tolist() == [2, 2]


class TestLoops:
    def test_arrays_in_structures(self, session):
        found = tf.while_loop(
            lambda i, s: i < 3,
            lambda i, s: (i + 1, {"a": s["a"].write(i, [i, i]), "b": s["b"] + 1}),
            (0, {"a": tf.TensorArray(tf.int32, 3), "b": 5}),
        )[1]
        assert found["a"].element_shape.as_list() == [2]
        assert session.run(found["a"].stack()).tolist() == [[0, 0], [1, 1], [2, 2]]

    def test_an_array_made_in_each_iteration(self, session):
        def body(i, total):
            inner = tf.TensorArray(tf.int32, 2).write(0, i).write(1, i * i)
            return i + 1, total + tf.reduce_sum(inner.stack())

        assert session.run(tf.while_loop(lambda i, t: i < 4, body, [0, 0]))[1] == 6 + 14

    def test_each_step_has_an_array_of_its_own(self, session):
        written = array().write(0, 1.0).read(0)
        assert [session.run(written) for _ in range(3)] == [1.0, 1.0, 1.0]


def test_older_op_types(session):
    handle = specs.TensorArrayV2(3, dtype=tf.float32, tensor_array_name="old")
    flow = specs.TensorArrayWriteV2(handle, 0, [1.0], 0.0)
    flow = specs.TensorArrayScatterV2(handle, [1, 2], [[2.0], [3.0]], flow)
    read = specs.TensorArrayReadV2(handle, 0, flow, dtype=tf.float32)
    rest = specs.TensorArrayGatherV2(handle, [1, 2], flow, dtype=tf.float32)
    found = session.run([read, rest, specs.TensorArraySizeV2(handle, flow)])
    assert [found[0].tolist(), found[1].tolist(), found[2]] == [[1.0], [[2.0], [3.0]], 3]
    handle = specs.TensorArrayV2(2, dtype=tf.float32)
    flow = specs.TensorArraySplitV2(handle, [1.0, 2.0, 3.0], [1, 2], 0.0)
    joined = specs.TensorArrayConcatV2(handle, flow, dtype=tf.float32)
    assert session.run(joined.lengths).tolist() == [1, 2]
    gradient = specs.TensorArrayGradV2(handle, flow, source="s")
    flow = specs.TensorArrayWriteV2(gradient, 0, [5.0], flow)
    assert session.run(specs.TensorArrayReadV2(gradient, 0, flow, dtype=tf.float32)) == [5.0]
    session.run(specs.TensorArrayCloseV2(handle))


def test_oldest_op_types(session):
    handle = specs.TensorArrayV1(2, dtype=tf.float32)
    flow = specs.TensorArrayUnpack(handle, [1.0, 2.0], 0.0)
    assert session.run(specs.TensorArrayPack(handle, flow, dtype=tf.float32)).tolist() == [1, 2]
    flow = specs.TensorArrayWrite(handle, 0, [4.0], 0.0)
    flow = specs.TensorArrayScatter(handle, [1], [[5.0]], flow)
    read = specs.TensorArrayRead(handle, 0, flow, dtype=tf.float32)
    rest = specs.TensorArrayGather(handle, [1], flow, dtype=tf.float32)
    found = session.run([read, rest, specs.TensorArraySize(handle, flow)])
    assert [found[0].tolist(), found[1].tolist(), found[2]] == [[4.0], [[5.0]], 2]
    flow = specs.TensorArraySplit(handle, [1.0, 2.0, 3.0], [1, 2], 0.0)
    joined = specs.TensorArrayConcat(handle, flow, dtype=tf.float32)
    assert session.run(joined.value).tolist() == [1, 2, 3]
    gradient = specs.TensorArrayGrad(handle, flow, source="s")
    flow = specs.TensorArrayWrite(gradient, 0, [5.0], flow)
    assert session.run(specs.TensorArrayRead(gradient, 0, flow, dtype=tf.float32)) == [5.0]
    session.run(specs.TensorArrayClose(handle))


def test_the_gradient_of_a_split_has_its_length(session):
    """What is written behind the parts of a split value has a gradient of its own."""
    x = tf.constant([1.0, 2.0, 3.0])
    parts = tf.TensorArray(tf.float32, 3, dynamic_size=True).split(x, [1, 1, 1])
    joined = parts.write(3, [4.0]).concat()
    assert session.run(joined).tolist() == [1, 2, 3, 4]
    assert session.run(tf.gradients(joined, x)[0]).tolist() == [1, 1, 1]
