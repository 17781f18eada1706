"""tf.contrib.rnn. Numbers are those of TensorFlow's own tests, with all weights one half."""

import numpy as np
import pytest

import penstock as tf

rnn = tf.contrib.rnn


@pytest.fixture(autouse=True)
def session():
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


@pytest.fixture
def halves():
    with tf.variable_scope("root", initializer=tf.constant_initializer(0.5)) as scope:
        yield scope


X = np.float32([[1, 1, 1, 1], [2, 2, 2, 2], [3, 3, 3, 3]])


def run(session, fetches):
    session.run(tf.global_variables_initializer())
    return session.run(fetches)


def tenths(*shape):
    return tf.constant(np.full(shape, 0.1, np.float32))


def test_names_of_the_core():
    for name in ("BasicLSTMCell", "MultiRNNCell", "LSTMStateTuple", "DropoutWrapper", "GRUCell"):
        assert getattr(rnn, name) is getattr(tf.nn.rnn_cell, name)
    assert rnn.static_rnn is tf.nn.static_rnn


class TestBlockCells:
    @pytest.mark.parametrize("peephole", [False, True])
    def test_lstm(self, session, peephole):
        x = tf.constant(np.random.RandomState(0).randn(2, 4, 3), tf.float32)
        options = {"num_units": 3, "forget_bias": 0.7, "cell_clip": 0.6}
        with tf.variable_scope("rnn", reuse=tf.AUTO_REUSE) as scope:
            plain = tf.nn.rnn_cell.LSTMCell(use_peepholes=peephole, **options)
            block = rnn.LSTMBlockCell(use_peephole=peephole, **options)
            found = [
                tf.nn.dynamic_rnn(cell, x, dtype=tf.float32, scope=scope) for cell in (plain, block)
            ]
        assert len(tf.trainable_variables()) == (5 if peephole else 2)
        found = run(session, found)
        np.testing.assert_allclose(found[0][0], found[1][0], rtol=1e-4, atol=1e-6)
        np.testing.assert_allclose(found[0][1].c, found[1][1].c, rtol=1e-4, atol=1e-6)

    def test_lstm_gradients(self, session):
        x = tf.constant(np.random.RandomState(0).randn(2, 4, 3), tf.float32)
        with tf.variable_scope("rnn", reuse=tf.AUTO_REUSE) as scope:
            found = [
                tf.nn.dynamic_rnn(cell, x, dtype=tf.float32, scope=scope)[0]
                for cell in (tf.nn.rnn_cell.LSTMCell(3), rnn.LSTMBlockCell(3))
            ]
        gradients = [tf.gradients(f, [x, *tf.trainable_variables()]) for f in found]
        for one, other in zip(*run(session, gradients), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-6)

    @pytest.mark.parametrize("lengths", [None, [4, 2]])
    def test_fused_lstm(self, session, lengths):
        x = tf.constant(np.random.RandomState(0).randn(4, 2, 3), tf.float32)
        with tf.variable_scope("scope"):
            fused = rnn.LSTMBlockFusedCell(3, name="cell", use_peephole=True)
            outputs, state = fused(x, dtype=tf.float32, sequence_length=lengths)
            cell = tf.nn.rnn_cell.LSTMCell(3, use_peepholes=True, name="cell", reuse=True)
            others, other = tf.nn.dynamic_rnn(
                cell, x, lengths, dtype=tf.float32, time_major=True, scope=tf.get_variable_scope()
            )
        variables = tf.trainable_variables()
        assert len(variables) == 5
        gradients = [
            tf.gradients([o, s.c], [x, *variables]) for o, s in ((outputs, state), (others, other))
        ]
        found = run(session, [outputs, others, state, other, gradients])
        np.testing.assert_allclose(found[0], found[1], rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(found[2].c, found[3].c, rtol=1e-5)
        for one, two in zip(*found[4], strict=True):
            np.testing.assert_allclose(one, two, rtol=1e-4, atol=1e-6)

    def test_other_fused_cells(self, session):
        x = tf.ones([4, 2, 3])
        cell = rnn.LSTMBlockFusedCell(3)
        outputs, _ = cell(x, dtype=tf.float32)
        backwards, _ = rnn.TimeReversedFusedRNN(cell)(x, dtype=tf.float32)
        outputs, backwards = run(session, [outputs, backwards])
        np.testing.assert_allclose(outputs[0], backwards[3], rtol=1e-6)

    @pytest.mark.parametrize("dynamic", [False, True])
    def test_adaptors(self, session, dynamic):
        cell = rnn.FusedRNNCellAdaptor(rnn.GRUCell(3), use_dynamic_rnn=dynamic)
        whole, _ = cell(tf.ones([4, 2, 3]), dtype=tf.float32, scope="a")
        parts, _ = cell([tf.ones([2, 3])] * 4, dtype=tf.float32, scope="b")
        assert len(parts) == 4
        whole, parts = run(session, [whole, parts])
        np.testing.assert_allclose(whole, parts, rtol=1e-6)

    def test_gru(self, session):
        x = tf.constant(np.random.RandomState(0).randn(2, 3), tf.float32)
        state = tenths(2, 3)
        with tf.variable_scope("scope", reuse=tf.AUTO_REUSE):
            cells = tf.nn.rnn_cell.GRUCell(3, name="g"), rnn.GRUBlockCellV2(3, name="g")
            found = [cell(x, state, scope="g")[0] for cell in cells]
        gradients = [tf.gradients(f, [x, state, *tf.trainable_variables()]) for f in found]
        found, gradients = run(session, [found, gradients])
        np.testing.assert_allclose(found[0], found[1], rtol=1e-5)
        for one, other in zip(*gradients, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-6)

    def test_refused(self):
        with pytest.raises(ValueError, match="Exactly one of num_units or cell_size"):
            rnn.GRUBlockCell()
        with pytest.raises(ValueError, match="initial_state or dtype needs to be"):
            rnn.LSTMBlockFusedCell(2)(tf.ones([2, 3, 4]))


class TestProjections:
    def test_output(self, session, halves):
        cell = rnn.OutputProjectionWrapper(rnn.GRUCell(3), 2)
        output, _ = cell(tf.ones([1, 3]), tenths(1, 3))
        np.testing.assert_allclose(run(session, output), [[0.231907] * 2], rtol=1e-5)
        assert cell.output_size == 2
        with pytest.raises(ValueError, match="output_size must be > 0"):
            rnn.OutputProjectionWrapper(rnn.GRUCell(3), 0)

    def test_input(self, session, halves):
        cell = rnn.InputProjectionWrapper(rnn.GRUCell(3), num_proj=3)
        output, _ = cell(tf.ones([1, 2]), tenths(1, 3))
        np.testing.assert_allclose(run(session, output), [[0.154605] * 3], rtol=1e-5)

    def test_embedding(self, session, halves):
        cell = rnn.EmbeddingWrapper(rnn.GRUCell(2), embedding_classes=3, embedding_size=2)
        output, _ = cell(tf.constant([[1]]), tenths(1, 2))
        np.testing.assert_allclose(run(session, output), [[0.17139] * 2], rtol=1e-4)
        names = [v.name for v in tf.global_variables()]
        assert names[0] == "root/embedding_wrapper/embedding:0"
        with pytest.raises(ValueError, match="must be > 0"):
            rnn.EmbeddingWrapper(rnn.GRUCell(2), 0, 2)

    def test_embedding_in_a_loop(self, session):
        cell = rnn.EmbeddingWrapper(rnn.BasicLSTMCell(1), 1, 2)
        inputs = tf.constant([[[0], [0]]], tf.int64)
        outputs, _ = tf.nn.dynamic_rnn(cell, inputs, [2], dtype=tf.float32)
        assert run(session, outputs).shape == (1, 2, 1)


class TestCells:
    def test_coupled_gates(self, session, halves):
        cell = rnn.CoupledInputForgetGateLSTMCell(2, state_is_tuple=False)
        output, state = run(session, cell(tf.constant(X), tenths(3, 4)))
        expected = np.float32([[0.121753] * 2, [0.103349] * 2, [0.100178] * 2])
        np.testing.assert_allclose(output, expected, rtol=1e-4)
        memory = np.float32([[0.137523] * 2, [0.105450] * 2, [0.100742] * 2])
        np.testing.assert_allclose(state, np.hstack([memory, expected]), rtol=1e-4)

    def test_coupled_gates_in_parts(self, session, halves):
        cell = rnn.CoupledInputForgetGateLSTMCell(
            2, use_peepholes=True, num_proj=3, proj_clip=0.5, num_unit_shards=2, layer_norm=True
        )
        output, state = run(session, cell(tf.constant(X), cell.zero_state(3, tf.float32)))
        assert output.shape == (3, 3)
        assert state.c.shape == (3, 2)
        assert np.abs(output).max() <= 0.5

    def test_nas(self, session, halves):
        state = rnn.LSTMStateTuple(tenths(3, 6), tenths(3, 6))
        output, state = run(session, rnn.NASCell(6)(tf.constant(X), state))
        expected = np.repeat([[0.57675087], [0.6189357], [0.62739348]], 6, 1)
        np.testing.assert_allclose(output, expected, rtol=1e-5)
        memory = np.repeat([[0.71579772], [0.78041625], [0.79457647]], 6, 1)
        np.testing.assert_allclose(state.c, memory, rtol=1e-5)

    def test_nas_projected(self, session, halves):
        state = rnn.LSTMStateTuple(tenths(3, 6), tenths(3, 5))
        output, _ = run(session, rnn.NASCell(6, num_proj=5)(tf.constant(X), state))
        expected = np.repeat([[1.697418], [1.840037], [1.873985]], 5, 1)
        np.testing.assert_allclose(output, expected, rtol=1e-5)

    def test_update_gate(self, session, halves):
        output, state = run(session, rnn.UGRNNCell(2)(tf.constant(X), tenths(3, 2)))
        expected = np.repeat([[0.13752282], [0.10545051], [0.10074195]], 2, 1)
        np.testing.assert_allclose(output, expected, rtol=1e-5)
        np.testing.assert_allclose(state, expected, rtol=1e-5)

    def test_intersection(self, session, halves):
        cell = rnn.IntersectionRNNCell(2, num_in_proj=2)
        output, state = run(session, cell(tf.constant(X), tenths(3, 2)))
        expected = np.repeat([[2.00431061], [4.00060606], [6.00008249]], 2, 1)
        np.testing.assert_allclose(output, expected, rtol=1e-5)
        expected = np.repeat([[0.13752282], [0.10545051], [0.10074195]], 2, 1)
        np.testing.assert_allclose(state, expected, rtol=1e-5)
        with pytest.raises(ValueError, match="Must have input size == output size"):
            rnn.IntersectionRNNCell(2)(tf.constant(X), tenths(3, 2))

    @pytest.mark.parametrize("dims", [1, 2, 3])
    def test_convolutional(self, session, dims):
        make = [rnn.Conv1DLSTMCell, rnn.Conv2DLSTMCell, rnn.Conv3DLSTMCell][dims - 1]
        image = [2] * dims
        ones = np.ones([1, *image, 1], np.float32)
        x = np.concatenate([ones, 2 * ones])
        with tf.variable_scope("root", initializer=tf.constant_initializer(0.5**dims)):
            cell = make(input_shape=[*image, 1], kernel_shape=[3] * dims, output_channels=1)
            state = cell.zero_state(2, tf.float32)
            state = rnn.LSTMStateTuple(tf.constant(x), state.h)
            output, state = run(session, cell(tf.constant(x), state))
        for row, memory, value in (
            (0, 1.4375670191, 0.6529865603),
            (1, 2.7542609292, 0.8736877431),
        ):
            np.testing.assert_allclose(state.c[row], np.full([*image, 1], memory), rtol=1e-5)
            np.testing.assert_allclose(output[row], np.full([*image, 1], value), rtol=1e-5)
        with pytest.raises(ValueError, match="Invalid input_shape"):
            rnn.ConvLSTMCell(2, [3, 1], 1, [3])

    def test_highway(self, session, halves):
        x, state = tf.ones([1, 3]), tenths(1, 3)
        plain, _ = rnn.GRUCell(3)(x, state)
        with tf.variable_scope("other"):
            closed, _ = rnn.HighwayWrapper(rnn.GRUCell(3), carry_bias_init=-100.0)(x, state)
        with tf.variable_scope("open"):
            carried, _ = rnn.HighwayWrapper(
                rnn.GRUCell(3), couple_carry_transform_gates=False, carry_bias_init=100.0
            )(x, state)
        plain, closed, carried = run(session, [plain, closed, carried])
        np.testing.assert_allclose(plain, closed, rtol=1e-5)
        np.testing.assert_allclose(carried, [[1, 1, 1]], rtol=1e-5)

    def test_simple_recurrent_unit(self, session, halves):
        output, state = run(session, rnn.SRUCell(2)(tf.ones([1, 2]), tenths(1, 2)))
        gate = 1 / (1 + np.exp(-1))
        memory = gate * 0.1 + (1 - gate)
        np.testing.assert_allclose(state, [[memory] * 2], rtol=1e-5)
        expected = gate * np.tanh(memory) + (1 - gate)
        np.testing.assert_allclose(output, [[expected] * 2], rtol=1e-5)


class TestLayerNorm:
    def test_rows_are_normalized(self, session):
        x = np.float32([[1, 2, 4]])
        w = np.random.RandomState(0).randn(5, 8).astype(np.float32)
        state = rnn.LSTMStateTuple(tenths(1, 2), tenths(1, 2))
        with tf.variable_scope("root", initializer=lambda shape, **_: tf.constant(w)):
            cell = rnn.LayerNormBasicLSTMCell(2, norm_gain=0.5, norm_shift=0.1)
            output, state = run(session, cell(tf.constant(x), state))

        def norm(v):
            return (v - v.mean()) / np.sqrt(v.var() + 1e-12) * 0.5 + 0.1

        def sigmoid(v):
            return 1 / (1 + np.exp(-v))

        i, j, f, o = (norm(p) for p in np.split((np.hstack([x, [[0.1, 0.1]]]) @ w)[0], 4))
        memory = norm(0.1 * sigmoid(f + 1) + sigmoid(i) * np.tanh(j))
        np.testing.assert_allclose(state.c[0], memory, rtol=1e-4)
        np.testing.assert_allclose(output[0], np.tanh(memory) * sigmoid(o), rtol=1e-4)
        names = {v.name for v in cell.variables}
        assert "root/layer_norm_basic_lstm_cell/transform/gamma:0" in names
        assert len(names) == 11

    def test_dropout_and_no_norm(self, session, halves):
        cell = rnn.LayerNormBasicLSTMCell(2, layer_norm=False, dropout_keep_prob=1e-6)
        _, state = run(session, cell(tf.ones([1, 2]), cell.zero_state(1, tf.float32)))
        assert (state.c == 0).all()
        assert [v.name.rsplit("/", 1)[1] for v in cell.variables] == ["kernel:0", "bias:0"]


class TestAttention:
    @pytest.mark.parametrize("is_tuple", [False, True])
    def test_zeros_stay_zeros(self, session, is_tuple):
        cell = rnn.BasicLSTMCell(8, state_is_tuple=is_tuple)
        cell = rnn.AttentionCellWrapper(cell, 16, state_is_tuple=is_tuple)
        state = cell.zero_state(3, tf.float32)
        output, state = cell(tf.zeros([3, 4]), state)
        assert output.shape.as_list() == [3, 8]
        if is_tuple:
            assert state[2].shape.as_list() == [3, 16 * 8]
        found = run(session, [output, state])
        assert np.abs(found[0]).max() < 1e-6

    def test_in_a_loop(self, session):
        cell = rnn.AttentionCellWrapper(rnn.BasicLSTMCell(3), 4, attn_size=5, attn_vec_size=2)
        x = tf.constant(np.random.RandomState(0).randn(2, 6, 3), tf.float32)
        outputs, _ = tf.nn.dynamic_rnn(cell, x, dtype=tf.float32)
        gradients = tf.gradients(outputs, tf.trainable_variables())
        found = run(session, [outputs, gradients])
        assert found[0].shape == (2, 6, 5)
        assert all(np.abs(gradient).max() > 0 for gradient in found[1])

    def test_refused(self):
        with pytest.raises(ValueError, match="attn_length should be greater than zero, got 0"):
            rnn.AttentionCellWrapper(rnn.BasicLSTMCell(3), 0)
        with pytest.raises(ValueError, match="state_is_tuple is not set"):
            rnn.AttentionCellWrapper(rnn.BasicLSTMCell(3), 4, state_is_tuple=False)
        with pytest.raises(TypeError, match="is not an RNNCell"):
            rnn.AttentionCellWrapper(None, 4)


class TestStacks:
    def test_dynamic(self, session):
        x = tf.ones([2, 4, 3])
        cells = [[rnn.GRUCell(2), rnn.GRUCell(5)] for _ in range(2)]
        outputs, forward, backward = rnn.stack_bidirectional_dynamic_rnn(
            *cells, x, dtype=tf.float32, sequence_length=[4, 2]
        )
        assert outputs.shape.as_list() == [2, 4, 10]
        found = run(session, [outputs, forward, backward])
        assert [state.shape for state in found[1]] == [(2, 2), (2, 5)]
        assert (found[0][1, 2:] == 0).all()
        names = {v.name for v in tf.global_variables()}
        assert (
            "stack_bidirectional_rnn/cell_1/bidirectional_rnn/bw/gru_cell/gates/kernel:0" in names
        )

    def test_static(self, session):
        x = [tf.ones([2, 3])] * 3
        cells = [[rnn.GRUCell(2), rnn.GRUCell(5)] for _ in range(2)]
        outputs, forward, _ = rnn.stack_bidirectional_rnn(*cells, x, dtype=tf.float32)
        found = run(session, [outputs, forward])
        assert found[0][0].shape == (2, 10)
        assert "stack_bidirectional_rnn/cell_0/fw/gru_cell/gates/kernel:0" in {
            v.name for v in tf.global_variables()
        }

    def test_refused(self):
        x, cell = tf.ones([2, 4, 3]), rnn.GRUCell(2)
        stack = rnn.stack_bidirectional_dynamic_rnn
        with pytest.raises(ValueError, match="at least one fw cell"):
            stack([], [cell], x)
        with pytest.raises(ValueError, match="cells_bw must be a list"):
            stack([cell], (cell,), x)
        with pytest.raises(ValueError, match="same depth"):
            stack([cell], [cell, cell], x)
        with pytest.raises(ValueError, match="initial_states_fw must be a list"):
            stack([cell], [cell], x, initial_states_fw=[])


def test_nodes_of_a_compiled_cell_are_marked():
    cell = rnn.CompiledWrapper(tf.nn.rnn_cell.GRUCell(2))
    output, _ = cell(tf.constant(X), cell.zero_state(3, tf.float32))
    assert output.op.get_attr("_XlaCompile")
    assert output.op.get_attr("_XlaScope") == b"jit_scope_0"
    drawn = [op for op in tf.get_default_graph().get_operations() if op.type == "RandomUniform"]
    assert not any(op.get_attr("_XlaCompile") for op in drawn) and drawn


def test_the_order_of_variables_of_a_normalized_coupled_cell():
    cell = rnn.CoupledInputForgetGateLSTMCell(2, use_peepholes=True, layer_norm=True)
    cell(tf.constant(X), cell.zero_state(3, tf.float32))
    last = [v.op.name.split("cell/")[1] for v in tf.global_variables()][-4:]
    assert last == ["W_F_diag", "W_O_diag", "state/gamma", "state/beta"]
