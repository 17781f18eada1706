"""Cells run over time: lengths, directions, structures, refusals."""

import numpy as np
import pytest

import penstock as tf

cells = tf.nn.rnn_cell


@pytest.fixture(autouse=True)
def session():
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


def run(session, fetches, feeds=None):
    session.run(tf.global_variables_initializer())
    return session.run(fetches, feeds)


class Plus(cells.RNNCell):
    """Adds one to its inputs and to its state."""

    @property
    def output_size(self):
        return 5

    @property
    def state_size(self):
        return 5

    def call(self, inputs, state):
        return inputs + 1, state + 1


class TestLengths:
    lengths = (3, 1, 0, 4)

    def check(self, outputs, state):
        for row, length in enumerate(self.lengths):
            assert (outputs[:length, row] == 2).all()
            assert (outputs[length:, row] == 0).all()
            assert (state[row] == length).all()

    def test_dynamic(self, session):
        x = tf.ones([4, 5, 5])
        outputs, state = tf.nn.dynamic_rnn(Plus(), x, self.lengths, dtype=tf.float32)
        outputs, state = run(session, [outputs, state])
        self.check(outputs.swapaxes(0, 1), state)

    def test_static(self, session):
        x = [tf.ones([4, 5])] * 5
        found = tf.nn.static_rnn(Plus(), x, dtype=tf.float32, sequence_length=self.lengths)
        outputs, state = run(session, found)
        self.check(np.stack(outputs), state)

    def test_a_wrong_number_of_lengths(self, session):
        x, lengths = tf.ones([4, 5, 5]), tf.placeholder(tf.int32, [None])
        outputs, _ = tf.nn.dynamic_rnn(Plus(), x, lengths, dtype=tf.float32)
        with pytest.raises(tf.errors.InvalidArgumentError, match="Expected shape for Tensor"):
            session.run(outputs, {lengths: [1, 2]})
        with pytest.raises(ValueError, match="must be a vector"):
            tf.nn.dynamic_rnn(Plus(), x, [[1]], dtype=tf.float32)
        with pytest.raises(ValueError, match="must be a vector"):
            tf.nn.static_rnn(Plus(), [x[0]], dtype=tf.float32, sequence_length=[[1]])


class TestAgreement:
    def test_static_and_dynamic(self, session):
        x = tf.constant(np.random.RandomState(0).randn(3, 4, 2), tf.float32)
        lengths = [4, 2, 3]
        with tf.variable_scope("shared", reuse=tf.AUTO_REUSE):
            dynamic = tf.nn.dynamic_rnn(
                cells.LSTMCell(3, name="cell"), x, lengths, dtype=tf.float32
            )
            steps, last = tf.nn.static_rnn(
                cells.LSTMCell(3, name="cell"),
                tf.unstack(x, axis=1),
                dtype=tf.float32,
                sequence_length=lengths,
            )
        static = (tf.stack(steps, 1), last)
        variables = tf.trainable_variables()
        gradients = [tf.gradients([f[0], f[1].c], [x, *variables]) for f in (dynamic, static)]
        dynamic, static, gradients = run(session, [dynamic, static, gradients])
        np.testing.assert_allclose(dynamic[0], static[0], rtol=1e-5)
        np.testing.assert_allclose(dynamic[1].c, static[1].c, rtol=1e-5)
        assert len(variables) == 2
        for one, other in zip(*gradients, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-6)

    def test_raw_and_dynamic(self, session):
        x = tf.constant(np.random.RandomState(0).randn(4, 3, 2), tf.float32)
        lengths = tf.constant([4, 2, 3])
        rows = tf.TensorArray(tf.float32, 4).unstack(x)
        with tf.variable_scope("rnn", reuse=tf.AUTO_REUSE) as scope:
            cell = cells.GRUCell(3)

            def loop(time, output, state, _):
                state = cell.zero_state(3, tf.float32) if output is None else state
                done = time >= lengths
                following = tf.cond(
                    tf.reduce_all(done), lambda: tf.zeros([3, 2]), lambda: rows.read(time)
                )
                return done, following, state, output, None

            raw, raw_state, nothing = tf.nn.raw_rnn(cell, loop, scope=scope)
            other = tf.nn.dynamic_rnn(
                cell, x, lengths, dtype=tf.float32, time_major=True, scope=scope
            )
        assert nothing is None
        found = run(session, [raw.stack(), raw_state, *other])
        np.testing.assert_allclose(found[0], found[2], rtol=1e-5)
        np.testing.assert_allclose(found[1], found[3], rtol=1e-5)

    def test_both_ways(self, session):
        x = tf.constant(np.random.RandomState(0).randn(2, 3, 2), tf.float32)
        lengths = [3, 2]
        with tf.variable_scope("a"):
            (fw, bw), states = tf.nn.bidirectional_dynamic_rnn(
                cells.GRUCell(2), cells.GRUCell(2), x, lengths, dtype=tf.float32
            )
        with tf.variable_scope("a/bidirectional_rnn/bw", reuse=True):
            backwards = tf.reverse_sequence(x, lengths, 1, 0)
            alone, state = tf.nn.dynamic_rnn(
                cells.GRUCell(2, name="gru_cell"),
                backwards,
                lengths,
                dtype=tf.float32,
                scope=tf.get_variable_scope(),
            )
        alone = tf.reverse_sequence(alone, lengths, 1, 0)
        found = run(session, [bw, alone, states[1], state, fw])
        np.testing.assert_allclose(found[0], found[1])
        np.testing.assert_allclose(found[2], found[3])


class TestStructures:
    def test_several_inputs_and_states(self, session):
        class Pairs(cells.RNNCell):
            output_size = (3, tf.TensorShape([2, 2]))

            @property
            def state_size(self):
                return {"sum": 3, "image": tf.TensorShape([2, 2])}

            def call(self, inputs, state):
                row, image = inputs
                state = {"sum": state["sum"] + row, "image": state["image"] + image}
                return (state["sum"], state["image"]), state

        x = tf.ones([2, 4, 3]), tf.ones([2, 4, 2, 2])
        outputs, state = tf.nn.dynamic_rnn(Pairs(), x, [4, 2], dtype=tf.float32)
        assert outputs[1].shape.as_list() == [2, 4, 2, 2]
        outputs, state = run(session, [outputs, state])
        assert outputs[0][:, :, 0].tolist() == [[1, 2, 3, 4], [1, 2, 0, 0]]
        assert state["image"][:, 0, 0].tolist() == [4, 2]

    def test_an_array_as_state(self, session):
        class Recording(cells.RNNCell):
            output_size = 2
            state_size = (tf.TensorShape([]), ())

            def zero_state(self, batch_size, dtype):
                return tf.constant(0), tf.TensorArray(tf.float32, 3)

            def call(self, inputs, state):
                time, array = state
                return inputs, (time + 1, array.write(time, inputs))

        cell = Recording()
        x = tf.constant(np.arange(6, dtype=np.float32).reshape(1, 3, 2))
        state = cell.zero_state(1, tf.float32)
        _, state = tf.nn.dynamic_rnn(cell, x, initial_state=state, dtype=tf.float32)
        assert session.run(state[1].stack())[:, 0].tolist() == [[0, 1], [2, 3], [4, 5]]

    def test_scalar_states(self, session):
        class Counting(cells.RNNCell):
            output_size = 1
            state_size = tf.TensorShape([])

            def zero_state(self, batch_size, dtype):
                return tf.zeros([], dtype=tf.int32)

            def call(self, inputs, state):
                return inputs, state + 1

        x = tf.zeros([1, 4, 1])
        _, state = tf.nn.dynamic_rnn(Counting(), x, [2], dtype=tf.float32)
        assert session.run(state) == 2

    def test_state_saving(self, session):
        class Saver:
            def __init__(self):
                self.saved = {}

            def state(self, name):
                return tf.ones([2, 3])

            def save_state(self, name, value):
                self.saved[name] = value
                return tf.identity(value)

        cell, saver = cells.LSTMCell(3), Saver()
        x = [tf.ones([2, 3])] * 2
        outputs, state = tf.nn.static_state_saving_rnn(cell, x, saver, ("c", "h"))
        assert set(saver.saved) == {"c", "h"}
        assert isinstance(state, cells.LSTMStateTuple)
        run(session, [outputs, state])
        with pytest.raises(ValueError, match="same type as cell.state_size"):
            tf.nn.static_state_saving_rnn(cell, x, saver, "c")
        with pytest.raises(ValueError, match=r"#elems\(state_name\)"):
            tf.nn.static_state_saving_rnn(cell, x, saver, ("c", "h", "x"))


class TestRefused:
    def test_what_is_missing(self):
        x = tf.placeholder(tf.float32, [None, 3, 2])
        with pytest.raises(ValueError, match="you must give a dtype"):
            tf.nn.dynamic_rnn(cells.GRUCell(2), x)
        with pytest.raises(ValueError, match="dtype must be specified"):
            tf.nn.static_rnn(cells.GRUCell(2), [x[:, 0]])
        with pytest.raises(TypeError, match="'cell' .* is not an RNNCell"):
            tf.nn.dynamic_rnn(None, x, dtype=tf.float32)
        with pytest.raises(TypeError, match="'cell_bw' .* is not an RNNCell"):
            tf.nn.bidirectional_dynamic_rnn(cells.GRUCell(2), None, x, dtype=tf.float32)
        with pytest.raises(TypeError, match="must be a sequence"):
            tf.nn.static_rnn(cells.GRUCell(2), x, dtype=tf.float32)
        with pytest.raises(ValueError, match="must not be empty"):
            tf.nn.static_rnn(cells.GRUCell(2), [], dtype=tf.float32)
        with pytest.raises(TypeError, match="loop_fn must be a callable"):
            tf.nn.raw_rnn(cells.GRUCell(2), None)

    def test_shapes(self):
        x = tf.placeholder(tf.float32, [None, 3, None])
        with pytest.raises(ValueError, match="must be accessible via shape inference"):
            tf.nn.dynamic_rnn(cells.GRUCell(2), x, dtype=tf.float32)
        with pytest.raises(ValueError, match="must be accessible via shape inference"):
            tf.nn.static_rnn(cells.GRUCell(2), [x[:, 0]], dtype=tf.float32)
        pair = tf.ones([2, 3, 1]), tf.ones([2, 4, 1])
        with pytest.raises(ValueError, match="Time steps is not the same"):
            tf.nn.dynamic_rnn(Plus(), pair, dtype=tf.float32)
