"""Cells: values with constant weights, variables, states, refusals."""

import copy

import numpy as np
import pytest

import penstock as tf

cells = tf.nn.rnn_cell


@pytest.fixture(autouse=True)
def session():
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


@pytest.fixture
def halves():
    with tf.variable_scope("root", initializer=tf.constant_initializer(0.5)) as scope:
        yield scope


def run(session, *fetches):
    session.run(tf.global_variables_initializer())
    return session.run(list(fetches))


def ones(*shape, scale=1.0):
    return tf.constant(scale * np.ones(shape), tf.float32)


class TestValues:
    """The numbers are those of TensorFlow's own tests of these cells."""

    def test_gru(self, session, halves):
        output, _ = cells.GRUCell(2)(ones(1, 2), ones(1, 2, scale=0.1))
        np.testing.assert_allclose(run(session, output)[0], [[0.175991] * 2], rtol=1e-5)

    @pytest.mark.parametrize("is_tuple", [False, True])
    def test_stacked_basic_lstm(self, session, halves, is_tuple):
        parts = [cells.BasicLSTMCell(2, state_is_tuple=is_tuple) for _ in range(2)]
        cell = cells.MultiRNNCell(parts, state_is_tuple=is_tuple)
        part = ones(1, 2, scale=0.1)
        state = ((part, part), (part, part)) if is_tuple else ones(1, 8, scale=0.1)
        output, state = cell(ones(1, 2), state)
        if is_tuple:
            state = tf.concat([*state[0], *state[1]], 1)
        expected = [0.68967271, 0.44848421, 0.39897051, 0.24024698]
        output, state = run(session, output, state)
        np.testing.assert_allclose(output, [[0.24024698] * 2], rtol=1e-5)
        np.testing.assert_allclose(state, [np.repeat(expected, 2)], rtol=1e-5)

    def test_stacked_gru(self, session, halves):
        cell = cells.MultiRNNCell([cells.GRUCell(2) for _ in range(2)], state_is_tuple=False)
        _, state = cell(ones(1, 2), ones(1, 4, scale=0.1))
        expected = [[0.175991, 0.175991, 0.13248, 0.13248]]
        np.testing.assert_allclose(run(session, state)[0], expected, rtol=1e-4)

    def test_dropout_that_keeps_all(self, session, halves):
        keep = tf.get_variable("keep", initializer=1.0)
        cell = cells.DropoutWrapper(cells.LSTMCell(3), keep, keep, keep)
        x = tf.constant([[[2.0, 2, 2]], [[1.0, 1, 1]]])
        state = cells.LSTMStateTuple(ones(1, 3, scale=0.1), ones(1, 3, scale=0.1))
        outputs, state = tf.nn.dynamic_rnn(cell, x, initial_state=state, time_major=True)
        outputs, state = run(session, outputs, state)
        np.testing.assert_allclose(outputs, [[[0.751109] * 3], [[0.895509] * 3]], rtol=1e-5)
        np.testing.assert_allclose(state.c, [[1.949385] * 3], rtol=1e-5)

    def test_dropout_spares_the_memory(self, session, halves):
        cell = cells.DropoutWrapper(cells.LSTMCell(3), state_keep_prob=1e-6)
        state = cells.LSTMStateTuple(ones(1, 3), ones(1, 3))
        _, state = cell(ones(1, 3), state)
        state = run(session, state)[0]
        assert (state.c != 0).all()
        assert (state.h == 0).all()

    def test_residual(self, session, halves):
        cell = cells.GRUCell(3)
        x, state = ones(1, 3), ones(1, 3, scale=0.1)
        plain, with_residual = cell(x, state), cells.ResidualWrapper(cell)(x, state)
        summed = cells.ResidualWrapper(cell, lambda i, o: i[:, :3] * 2 + o)(x, state)
        plain, with_residual, summed = run(session, plain, with_residual, summed)
        np.testing.assert_allclose(with_residual[0], plain[0] + 1)
        np.testing.assert_allclose(summed[0], plain[0] + 2)
        np.testing.assert_allclose(with_residual[1], plain[1])


class TestVariables:
    def test_a_cell_is_a_layer(self):
        cell = cells.BasicRNNCell(2)
        assert isinstance(cell, tf.layers.Layer)
        assert cell.dtype is None
        cell(ones(1, 3), ones(1, 2))
        assert cell.dtype == "float32"
        assert [v.name for v in cell.trainable_variables] == [
            "basic_rnn_cell/kernel:0",
            "basic_rnn_cell/bias:0",
        ]
        assert cell.non_trainable_variables == []

    def test_reuse(self):
        x, state = ones(1, 3), ones(1, 2)
        with tf.variable_scope("scope"):
            cells.GRUCell(2, name="gru")(x, state)
            cells.GRUCell(2, name="gru")(x, state)
            cells.GRUCell(2, name="gru", reuse=True)(x, state)
            other = cells.GRUCell(2)
            other(x, state, scope="chosen")
            other(x, state)
            with pytest.raises(ValueError, match="already exists"):
                cells.GRUCell(2)(x, state, scope="chosen")
        names = {v.name.rsplit("/", 2)[0] for v in tf.global_variables()}
        assert names == {"scope/gru", "scope/gru_1", "scope/chosen"}

    def test_a_getter_that_freezes(self):
        def frozen(getter, *args, **kwargs):
            kwargs["trainable"] = False
            return getter(*args, **kwargs)

        with tf.variable_scope("root", custom_getter=frozen):
            cell = cells.BasicRNNCell(2)
            cell(ones(1, 3), ones(1, 2))
        assert cell.trainable_variables == []
        assert len(cell.non_trainable_variables) == 2

    def test_wrappers_have_the_variables_of_their_cell(self):
        cell = cells.MultiRNNCell([cells.DropoutWrapper(cells.GRUCell(2), 0.5)])
        cell(ones(1, 2), cell.zero_state(1, tf.float32))
        assert len(cell.trainable_weights) == 4
        cell.trainable = False
        assert cell.trainable_weights == []
        assert len(cell.non_trainable_weights) == 4

    def test_variables_of_an_own_cell(self):
        class Scaled(cells.RNNCell):
            state_size = output_size = 2

            def call(self, inputs, state):
                with tf.variable_scope("inner"):
                    scale = tf.get_variable("scale", [])
                    tf.get_variable("fixed", [], trainable=False)
                return inputs * scale, state

        cell = Scaled()
        for _ in range(2):
            cell(ones(1, 2), ones(1, 2))
        assert [v.name for v in cell.trainable_variables] == ["scaled/inner/scale:0"]
        assert [v.name for v in cell.non_trainable_variables] == ["scaled/inner/fixed:0"]

    def test_copies(self, session):
        cell = cells.BasicLSTMCell(2)
        other = copy.deepcopy(cell)
        for each in (cell, other):
            each(ones(1, 2), each.zero_state(1, tf.float32))
        assert len(tf.global_variables()) == 4

    def test_config(self):
        cell = cells.LSTMCell(3, use_peepholes=True, num_proj=2, activation="relu", name="mine")
        config = cell.get_config()
        again = cells.LSTMCell.from_config(config)
        assert again.state_size == (3, 2)
        assert again.get_config() == config


class TestStates:
    def test_zero_states(self, session):
        size = tf.placeholder_with_default(3, [])
        cell = cells.MultiRNNCell([cells.LSTMCell(4, num_proj=2), cells.GRUCell(5)])
        state = cell.zero_state(size, tf.float64)
        assert isinstance(state[0], cells.LSTMStateTuple)
        assert state[0].h.shape.as_list() == [None, 2]
        found = session.run(state)
        assert [found[0].c.shape, found[0].h.shape, found[1].shape] == [(3, 4), (3, 2), (3, 5)]
        assert found[1].dtype == np.float64

    def test_initial_state_of_inputs(self):
        cell = cells.GRUCell(4)
        assert cell.get_initial_state(inputs=ones(3, 2)).shape.as_list() == [3, 4]
        with pytest.raises(ValueError, match="batch size from input tensor is different"):
            cell.get_initial_state(inputs=ones(3, 2), batch_size=4)
        with pytest.raises(ValueError, match="dtype from input tensor is different"):
            cell.get_initial_state(inputs=ones(3, 2), dtype=tf.float64)
        with pytest.raises(ValueError, match="batch_size and dtype cannot be None"):
            cell.get_initial_state(batch_size=3)

    def test_state_tuples_have_one_type(self):
        assert cells.LSTMStateTuple(ones(1), ones(1)).dtype is tf.float32
        with pytest.raises(TypeError, match="Inconsistent internal state"):
            _ = cells.LSTMStateTuple(ones(1), tf.constant(1.0, tf.float64)).dtype


class TestRefused:
    def test_types(self):
        with pytest.raises(ValueError, match="RNN cell only supports floating"):
            cells.GRUCell(2, dtype=tf.int32)
        with pytest.raises(ValueError, match="RNN cell only supports floating"):
            cells.LSTMCell(2)(tf.zeros([1, 2], tf.int32), cells.LSTMStateTuple(ones(1), ones(1)))

    def test_shapes(self):
        with pytest.raises(ValueError, match=r"Expected inputs.shape\[-1\] to be known"):
            cells.BasicRNNCell(2)(tf.placeholder(tf.float32, [1, None]), ones(1, 2))
        with pytest.raises(ValueError, match="ndim=2"):
            cells.BasicRNNCell(2)(ones(1, 2, 3), ones(1, 2))
        with pytest.raises(ValueError):
            cells.BasicLSTMCell(2, state_is_tuple=False)(ones(3, 4), ones(2, 4))

    def test_stacks(self):
        with pytest.raises(ValueError, match="Must specify at least one cell"):
            cells.MultiRNNCell([])
        with pytest.raises(TypeError, match="cells must be a list or tuple"):
            cells.MultiRNNCell(cells.GRUCell(2))
        with pytest.raises(ValueError, match="Some cells return tuples of states"):
            cells.MultiRNNCell([cells.LSTMCell(2)], state_is_tuple=False)
        with pytest.raises(ValueError, match="Expected state .* a tuple"):
            cells.MultiRNNCell([cells.GRUCell(2)] * 2)(ones(1, 2), ones(1, 4))

    def test_wrappers(self):
        with pytest.raises(TypeError, match="is not an RNNCell"):
            cells.DropoutWrapper(None)
        with pytest.raises(ValueError, match="input_keep_prob must be between 0 and 1"):
            cells.DropoutWrapper(cells.GRUCell(2), 1.5)
        with pytest.raises(ValueError, match="dtype must be provided"):
            cells.DropoutWrapper(cells.GRUCell(2), 0.5, variational_recurrent=True)
        with pytest.raises(ValueError, match="input_size must be provided"):
            cells.DropoutWrapper(
                cells.GRUCell(2), 0.5, variational_recurrent=True, dtype=tf.float32
            )
        with pytest.raises(TypeError, match="must be callable"):
            cells.DropoutWrapper(cells.GRUCell(2), dropout_state_filter_visitor=3)


def test_nodes_of_a_cell_count_the_constants_of_splits():
    with tf.Graph().as_default() as graph:
        cells.GRUCell(2)(ones(1, 3), ones(1, 2))
        names = [op.name for op in graph.get_operations() if op.name.startswith("gru_cell/")]
    at = names.index("gru_cell/split")
    assert names[at - 2 : at + 1] == [
        "gru_cell/Const",
        "gru_cell/split/split_dim",
        "gru_cell/split",
    ]


def test_configurations_of_wrappers_keep_their_functions():
    cell = tf.nn.rnn_cell.LSTMCell(2)
    wrappers = [
        tf.nn.rnn_cell.ResidualWrapper(cell, residual_fn=lambda x, y: 2 * x + y),
        tf.nn.rnn_cell.DropoutWrapper(cell, dropout_state_filter_visitor=lambda state: True),
        tf.nn.rnn_cell.DropoutWrapper(cell),
    ]
    residual, filtering, plain = (
        type(each).from_config({**each.get_config(), "cell": cell}) for each in wrappers
    )
    assert residual._residual_fn(1, 2) == 4
    assert filtering._dropout_state_filter(None) is True
    assert "dropout_state_filter_visitor" not in plain.get_config()
