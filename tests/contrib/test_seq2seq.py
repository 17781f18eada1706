"""`tf.contrib.seq2seq` against small NumPy computations, and decoders against each other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.contrib.seq2seq.beam_step import (
    BeamSearchDecoderState,
    _beam_search_step,
    _length_penalty,
    _mask_probs,
)
from penstock.contrib.seq2seq.gather_trees import gather_tree_from_array

seq2seq = tf.contrib.seq2seq
BATCH, TIME, DEPTH, UNITS, CLASSES = 3, 5, 4, 6, 7


@pytest.fixture(autouse=True)
def graph() -> Any:
    with tf.Graph().as_default() as graph:
        tf.set_random_seed(7)
        yield graph


def run(*fetches: Any, feed: Any = None) -> Any:
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        values = session.run(fetches, feed)
    return values[0] if len(fetches) == 1 else values


def numbers(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.RandomState(seed).randn(*shape).astype(np.float32)


def softmax(x: np.ndarray) -> np.ndarray:
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def variable(name: str) -> Any:
    (found,) = [v for v in tf.global_variables() if v.op.name.endswith(name)]
    return found


def test_luong_attention_is_the_softmax_of_inner_products() -> None:
    memory, query = numbers(BATCH, TIME, DEPTH), numbers(BATCH, UNITS, seed=1)
    mechanism = seq2seq.LuongAttention(UNITS, tf.constant(memory), [5, 2, 3], scale=True)
    alignments, state = mechanism(tf.constant(query), None)
    assert state is alignments
    found, kernel = run(alignments, variable("memory_layer/kernel"))
    masked = memory * (np.arange(TIME) < np.array([[5], [2], [3]]))[..., None]
    score = np.einsum("btu,bu->bt", masked @ kernel, query)
    score[1, 2:] = score[2, 3:] = -np.inf
    np.testing.assert_allclose(found, softmax(score), rtol=2e-5)
    assert [v.op.name for v in tf.trainable_variables()] == [
        "memory_layer/kernel",
        "luong_attention/attention_g",
    ]


@pytest.mark.parametrize("normalize", [False, True])
def test_bahdanau_attention(normalize: bool) -> None:
    memory, query = numbers(BATCH, TIME, DEPTH), numbers(BATCH, 2, seed=1)
    mechanism = seq2seq.BahdanauAttention(UNITS, tf.constant(memory), normalize=normalize)
    alignments, _ = mechanism(tf.constant(query), None)
    names = ["memory_layer/kernel", "query_layer/kernel", "attention_v"]
    found, keys, queries, v = run(alignments, *map(variable, names))
    if normalize:
        v = v / np.linalg.norm(v) * np.sqrt(1 / UNITS)
    score = np.tanh(memory @ keys + (query @ queries)[:, None]) @ v
    np.testing.assert_allclose(found, softmax(score), rtol=2e-5)
    scope = "bahdanau_attention/"
    own = {f"{scope}query_layer/kernel", f"{scope}attention_v"}
    own |= {f"{scope}attention_g", f"{scope}attention_b"} if normalize else set()
    assert {v.op.name for v in tf.trainable_variables()} == {"memory_layer/kernel", *own}


def test_attention_needs_a_query_of_the_depth_of_its_keys() -> None:
    mechanism = seq2seq.LuongAttention(UNITS, tf.constant(numbers(BATCH, TIME, DEPTH)))
    with pytest.raises(ValueError, match="Incompatible or unknown inner dimensions"):
        mechanism(tf.constant(numbers(BATCH, 2)), None)
    with pytest.raises(ValueError, match="fully defined inner dims"):
        seq2seq.LuongAttention(UNITS, tf.placeholder(tf.float32, [None, None, None]))


def test_lengths_of_a_memory_are_positive() -> None:
    lengths = tf.placeholder(tf.int32, [BATCH])
    mechanism = seq2seq.LuongAttention(UNITS, tf.constant(numbers(BATCH, TIME, DEPTH)), lengths)
    alignments, _ = mechanism(tf.constant(numbers(BATCH, UNITS)), None)
    with pytest.raises(tf.errors.InvalidArgumentError, match="must be greater than zero"):
        run(alignments, feed={lengths: [1, 0, 2]})


def test_modes_of_monotonic_attention_agree() -> None:
    p = np.random.RandomState(0).uniform(0.1, 0.9, (BATCH, TIME)).astype(np.float32)
    before = softmax(numbers(BATCH, TIME))
    recursive, parallel, hard = run(
        seq2seq.monotonic_attention(p, before, "recursive"),
        seq2seq.monotonic_attention(p, before, "parallel"),
        seq2seq.monotonic_attention(np.round(p), np.eye(TIME, dtype=np.float32)[:BATCH], "hard"),
    )
    expected, reached = np.zeros_like(p), np.zeros(BATCH, np.float32)
    for t in range(TIME):
        reached = (1 - p[:, t - 1] if t else 1) * reached + before[:, t]
        expected[:, t] = p[:, t] * reached
    np.testing.assert_allclose(recursive, expected, rtol=1e-5)
    np.testing.assert_allclose(parallel, expected, rtol=1e-4)
    for entry in range(BATCH):  # the first place from the last one on that is chosen
        chosen = [t for t in range(entry, TIME) if p[entry, t] > 0.5][:1]
        assert np.flatnonzero(hard[entry]).tolist() == chosen
    with pytest.raises(ValueError, match="mode must be"):
        seq2seq.monotonic_attention(p, before, "soft")


def test_monotonic_mechanisms_begin_at_the_first_place() -> None:
    memory = tf.constant(numbers(BATCH, TIME, DEPTH))
    for kind in (seq2seq.LuongMonotonicAttention, seq2seq.BahdanauMonotonicAttention):
        with tf.variable_scope(kind.__name__):
            mechanism = kind(UNITS, memory, score_bias_init=-1.0)
            start = mechanism.initial_state(BATCH, tf.float32)
            alignments, _ = mechanism(tf.constant(numbers(BATCH, UNITS)), start)
        first, found, bias = run(start, alignments, tf.global_variables()[-1])
        assert first.tolist() == [[1, 0, 0, 0, 0]] * BATCH
        assert bias == -1
        assert (found.sum(1) <= 1).all() and (found >= 0).all()


def test_hardmax() -> None:
    assert run(seq2seq.hardmax([[1.0, 3.0, 2.0]])).tolist() == [[0, 1, 0]]


def test_wrapper_step() -> None:
    memory, inputs = numbers(BATCH, TIME, DEPTH), numbers(BATCH, 2, seed=2)
    mechanism = seq2seq.LuongAttention(UNITS, tf.constant(memory))
    cell = seq2seq.AttentionWrapper(
        tf.nn.rnn_cell.GRUCell(UNITS), mechanism, attention_layer_size=8, alignment_history=True
    )
    start = cell.zero_state(BATCH, tf.float32)
    output, state = cell(tf.constant(inputs), start)
    history = state.alignment_history.stack()
    found, cell_state, alignments, kernel, kept = run(
        output, state.cell_state, state.alignments, variable("attention_layer/kernel"), history
    )
    context = np.einsum("bt,btd->bd", alignments, memory)
    np.testing.assert_allclose(
        found, np.concatenate([cell_state, context], 1) @ kernel, rtol=2e-4, atol=1e-5
    )
    np.testing.assert_array_equal(kept[0], alignments)
    assert cell.output_size == 8
    assert [v.op.name for v in tf.trainable_variables()] == [
        "memory_layer/kernel",
        "attention_wrapper/gru_cell/gates/kernel",
        "attention_wrapper/gru_cell/gates/bias",
        "attention_wrapper/gru_cell/candidate/kernel",
        "attention_wrapper/gru_cell/candidate/bias",
        "attention_wrapper/attention_layer/kernel",
    ]


def test_wrapper_with_several_mechanisms() -> None:
    memory = tf.constant(numbers(BATCH, TIME, DEPTH))
    mechanisms = [seq2seq.LuongAttention(UNITS, memory), seq2seq.BahdanauAttention(2, memory)]
    cell = seq2seq.AttentionWrapper(tf.nn.rnn_cell.BasicLSTMCell(UNITS), mechanisms, [3, 4])
    output, state = cell(tf.constant(numbers(BATCH, 2)), cell.zero_state(BATCH, tf.float32))
    assert output.shape.as_list() == [BATCH, 7]
    assert [a.shape.as_list() for a in state.alignments] == [[BATCH, TIME]] * 2
    with pytest.raises(ValueError, match="exactly one integer per attention_mechanism"):
        seq2seq.AttentionWrapper(tf.nn.rnn_cell.GRUCell(2), mechanisms, [3])
    with pytest.raises(TypeError, match="must contain only instances of AttentionMechanism"):
        seq2seq.AttentionWrapper(tf.nn.rnn_cell.GRUCell(2), [memory])


def test_state_is_cloned_with_the_same_shapes() -> None:
    mechanism = seq2seq.LuongAttention(UNITS, tf.constant(numbers(BATCH, TIME, DEPTH)))
    cell = seq2seq.AttentionWrapper(tf.nn.rnn_cell.GRUCell(UNITS), mechanism)
    state = cell.zero_state(BATCH, tf.float32)
    cloned = state.clone(cell_state=tf.ones([BATCH, UNITS]))
    assert run(cloned.cell_state).sum() == BATCH * UNITS
    with pytest.raises(ValueError, match="[Ss]hape"):
        state.clone(cell_state=tf.ones([BATCH, UNITS + 1]))


def test_wrong_batch_size_is_explained() -> None:
    mechanism = seq2seq.LuongAttention(UNITS, tf.constant(numbers(BATCH, TIME, DEPTH)))
    cell = seq2seq.AttentionWrapper(tf.nn.rnn_cell.GRUCell(UNITS), mechanism)
    with pytest.raises((ValueError, tf.errors.InvalidArgumentError), match="Non-matching batch"):
        cell.zero_state(BATCH + 1, tf.float32)


# Decoders -------------------------------------------------------------------------------------


def test_training_helper_decodes_as_dynamic_rnn() -> None:
    inputs, lengths = tf.constant(numbers(BATCH, TIME, DEPTH)), [4, 2, 5]
    cell = tf.nn.rnn_cell.LSTMCell(UNITS)
    start = cell.zero_state(BATCH, tf.float32)
    with tf.variable_scope("root") as scope:
        outputs, state = tf.nn.dynamic_rnn(cell, inputs, lengths, initial_state=start, scope=scope)
        scope.reuse_variables()
        helper = seq2seq.TrainingHelper(inputs, lengths)
        decoder = seq2seq.BasicDecoder(cell, helper, start)
        decoded, last, ends = seq2seq.dynamic_decode(decoder, impute_finished=True, scope=scope)
    assert isinstance(decoded, seq2seq.BasicDecoderOutput)
    assert decoded.rnn_output.shape.as_list() == [BATCH, None, UNITS]
    for ours, theirs in (run(decoded.rnn_output, outputs), run(last.c, state.c)):
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-6)
    assert run(ends).tolist() == lengths
    step = tf.gradients(tf.reduce_sum(decoded.rnn_output), tf.trainable_variables())
    there = tf.gradients(tf.reduce_sum(outputs), tf.trainable_variables())
    for ours, theirs in zip(run(*step), run(*there), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-5)


def test_greedy_decoding_follows_the_table() -> None:
    """A cell whose output says: after class i comes class i + 1."""
    embedding = tf.constant(np.eye(CLASSES, dtype=np.float32))
    following = tf.constant(np.roll(np.eye(CLASSES, dtype=np.float32), 1, axis=1))

    class Next(tf.nn.rnn_cell.RNNCell):
        state_size = property(lambda self: 1)
        output_size = property(lambda self: CLASSES)

        def call(self, inputs: Any, state: Any) -> Any:
            return tf.matmul(inputs, following), state + 1

    helper = seq2seq.GreedyEmbeddingHelper(embedding, [0, 2, 4], 5)
    start = tf.zeros([3, 1])
    outputs, state, lengths = seq2seq.dynamic_decode(
        seq2seq.BasicDecoder(Next(), helper, start), impute_finished=True, maximum_iterations=4
    )
    ids, steps, ends = run(outputs.sample_id, state, lengths)
    assert ids.tolist() == [[1, 2, 3, 4], [3, 4, 5, 0], [5, 0, 0, 0]]
    assert ends.tolist() == [4, 3, 1]
    assert steps[:, 0].tolist() == [4, 3, 1]


def test_sampling_helpers_draw_classes() -> None:
    cell = tf.nn.rnn_cell.GRUCell(CLASSES)
    table = tf.constant(numbers(CLASSES, DEPTH))
    inputs = tf.constant(numbers(BATCH, TIME, DEPTH))
    start = cell.zero_state(BATCH, tf.float32)
    lengths = [5, 3, 4]
    helpers = [
        seq2seq.SampleEmbeddingHelper(table, [0] * BATCH, 1, softmax_temperature=2.0, seed=3),
        seq2seq.ScheduledEmbeddingTrainingHelper(inputs, lengths, table, 0.5, seed=3),
        seq2seq.ScheduledOutputTrainingHelper(
            inputs, lengths, 0.5, seed=3, next_inputs_fn=lambda o: o[:, :DEPTH]
        ),
    ]
    ids = []
    for helper in helpers:
        with tf.variable_scope("cell", reuse=tf.AUTO_REUSE):
            decoder = seq2seq.BasicDecoder(cell, helper, start)
            outputs, _, _ = seq2seq.dynamic_decode(decoder, maximum_iterations=TIME)
        ids.append(run(outputs.sample_id))
    assert ids[0].min() >= 0 and ids[0].max() < CLASSES
    assert ids[1].min() == -1 and ids[1].max() >= 0
    assert set(ids[2].ravel()) == {0, 1}


def test_scheduled_outputs_with_probability_one_are_fed_back() -> None:
    """With auxiliary inputs: the next inputs are the outputs and the auxiliary ones."""
    inputs, more = numbers(BATCH, TIME, 2), numbers(BATCH, TIME, 1, seed=1)
    helper = seq2seq.ScheduledOutputTrainingHelper(
        inputs, [TIME] * BATCH, 1.0, auxiliary_inputs=more
    )
    helper.initialize()
    outputs = tf.constant(numbers(BATCH, 2, seed=3))
    ids = helper.sample(tf.constant(1), outputs, ())
    _, following, _ = helper.next_inputs(tf.constant(1), outputs, (), ids)
    expected = np.concatenate([numbers(BATCH, 2, seed=3), more[:, 2]], 1)
    np.testing.assert_array_equal(run(following), expected)


def test_custom_and_inference_helpers() -> None:
    cell = tf.nn.rnn_cell.GRUCell(DEPTH)
    start = cell.zero_state(BATCH, tf.float32)
    first = tf.constant(numbers(BATCH, DEPTH))
    helpers = [
        seq2seq.InferenceHelper(lambda o: o, [DEPTH], tf.float32, first, _never),
        seq2seq.CustomHelper(
            lambda: (tf.fill([BATCH], False), first),
            lambda time, outputs, state: outputs,
            lambda time, outputs, state, sample_ids: (_never(sample_ids), sample_ids, state),
            sample_ids_shape=[DEPTH],
            sample_ids_dtype=tf.float32,
        ),
    ]
    found = []
    for helper in helpers:
        with tf.variable_scope("cell", reuse=tf.AUTO_REUSE):
            decoder = seq2seq.BasicDecoder(cell, helper, start)
            outputs, _, _ = seq2seq.dynamic_decode(decoder, maximum_iterations=3)
        found += [outputs.rnn_output, outputs.sample_id]
    values = run(*found)
    assert values[0].shape == (BATCH, 3, DEPTH)
    for other in values[1:]:
        np.testing.assert_array_equal(values[0], other)


def _never(ids: Any) -> Any:
    return tf.fill([BATCH], False)


def test_arguments_of_decoders_are_checked() -> None:
    cell = tf.nn.rnn_cell.GRUCell(DEPTH)
    with pytest.raises(TypeError, match="helper must be a Helper"):
        seq2seq.BasicDecoder(cell, None, None)
    with pytest.raises(TypeError, match="Expected decoder to be type Decoder"):
        seq2seq.dynamic_decode(cell)
    with pytest.raises(ValueError, match="start_tokens must be a vector"):
        seq2seq.GreedyEmbeddingHelper(tf.identity, 1, 1)


# Beam search ----------------------------------------------------------------------------------


def test_gather_tree() -> None:
    steps = np.array([[[1, 2, 3]], [[4, 5, 6]], [[7, 8, 9]], [[-1, -1, -1]]], np.int32)
    parents = np.array([[[0, 0, 0]], [[0, 1, 1]], [[2, 1, 2]], [[-1, -1, -1]]], np.int32)
    beams = run(seq2seq.gather_tree(steps, parents, [3], 10))
    assert beams[:, 0].T.tolist() == [[2, 6, 7, 10], [2, 5, 8, 10], [2, 6, 9, 10]]
    parents[1, 0, 1] = -1
    with pytest.raises(tf.errors.InvalidArgumentError, match="Saw invalid parent id -1"):
        run(seq2seq.gather_tree(steps, parents, [3], 10))


def test_gather_tree_from_array() -> None:
    values = np.array([[[1, 2, 3]], [[4, 5, 6]], [[7, 8, 9]], [[0, 0, 0]]], np.int32)
    parents = np.array([[[0, 0, 0]], [[0, 1, 1]], [[2, 1, 2]], [[-1, -1, -1]]], np.int32)
    ordered = run(
        gather_tree_from_array(tf.constant(values), tf.constant(parents), tf.constant([[3, 3, 3]]))
    )
    assert ordered[:, 0].T.tolist() == [[2, 6, 7, 0], [2, 5, 8, 0], [2, 6, 9, 0]]


def test_finished_beams_only_end_again() -> None:
    probs = numbers(1, 2, 4)
    found = run(_mask_probs(tf.constant(probs), 1, tf.constant([[True, False]])))
    assert found[0, 0].tolist() == [np.finfo("f").min, 0, np.finfo("f").min, np.finfo("f").min]
    np.testing.assert_array_equal(found[0, 1], probs[0, 1])


def test_length_penalty() -> None:
    assert _length_penalty([3], 0.0) == 1.0
    found = run(_length_penalty(tf.constant([1, 4]), 0.6))
    np.testing.assert_allclose(found, [1, 1.5**0.6], rtol=1e-6)


def test_beam_search_step_takes_the_best_continuations() -> None:
    log_probs = np.log(softmax(np.array([[1.0, 0.5], [0.2, 0.1]], np.float32)))
    state = BeamSearchDecoderState(
        cell_state=tf.constant([[[1.0], [2.0]], [[3.0], [4.0]]]),
        log_probs=tf.constant(log_probs),
        finished=tf.constant([[False, False], [False, True]]),
        lengths=tf.constant([[2, 3], [1, 2]], tf.int64),
        accumulated_attention_probs=(),
    )
    logits = numbers(2, 2, 4)
    output, after = _beam_search_step(
        2, tf.constant(logits), state.cell_state, state, tf.constant(2), 2, 0, 0.0, 0.0
    )
    step = np.log(softmax(logits))
    step[1, 1] = [0, *[np.finfo("f").min] * 3]
    total = (log_probs[..., None] + step).reshape(2, -1)
    order = np.argsort(-total, axis=1)[:, :2]
    found, moved = run(output, after)
    np.testing.assert_array_equal(found.predicted_ids, order % 4)
    np.testing.assert_array_equal(found.parent_ids, order // 4)
    np.testing.assert_allclose(found.scores, np.take_along_axis(total, order, 1), rtol=1e-5)
    np.testing.assert_allclose(moved.log_probs, found.scores, rtol=1e-6)
    was = np.take_along_axis(np.array([[False, False], [False, True]]), order // 4, 1)
    np.testing.assert_array_equal(moved.finished, was | (order % 4 == 0))
    lengths = np.take_along_axis(np.array([[2, 3], [1, 2]]), order // 4, 1) + ~was
    np.testing.assert_array_equal(moved.lengths, lengths)
    cells = np.take_along_axis(np.array([[1.0, 2], [3, 4]]), order // 4, 1)
    np.testing.assert_array_equal(moved.cell_state[..., 0], cells)


@pytest.mark.parametrize("attention", [False, True])
def test_beam_of_one_decodes_greedily(attention: bool) -> None:
    cell: Any = tf.nn.rnn_cell.GRUCell(UNITS)
    if attention:
        memory = tf.placeholder_with_default(numbers(BATCH, TIME, DEPTH), [BATCH, None, DEPTH])
        mechanism = seq2seq.LuongAttention(UNITS, memory)
        cell = seq2seq.AttentionWrapper(cell, mechanism, UNITS, alignment_history=True)
    table = tf.constant(numbers(CLASSES, UNITS))
    layer = tf.layers.Dense(CLASSES, kernel_initializer=tf.random_normal_initializer(seed=1))
    start = cell.zero_state(BATCH, tf.float32)
    with tf.variable_scope("decoder", reuse=tf.AUTO_REUSE) as scope:
        helper = seq2seq.GreedyEmbeddingHelper(table, [0, 1, 2], 3)
        decoder = seq2seq.BasicDecoder(cell, helper, start, output_layer=layer)
        greedy, _, lengths = seq2seq.dynamic_decode(decoder, maximum_iterations=6, scope=scope)
        beam = seq2seq.BeamSearchDecoder(
            cell, table, [0, 1, 2], 3, start, beam_width=1, output_layer=layer
        )
        found, state, _ = seq2seq.dynamic_decode(beam, maximum_iterations=6, scope=scope)
    assert isinstance(found, seq2seq.FinalBeamSearchDecoderOutput)
    ids, beams, ends = run(greedy.sample_id, found.predicted_ids, lengths)
    for entry, end in enumerate(ends):
        assert beams[entry, :end, 0].tolist() == ids[entry, :end].tolist()
    if attention:
        assert run(state.cell_state.alignment_history).shape[1:] == (BATCH, TIME)


def test_wide_beam_with_attention_and_penalties() -> None:
    width = 4
    memory = seq2seq.tile_batch(tf.constant(numbers(BATCH, TIME, DEPTH)), width)
    mechanism = seq2seq.BahdanauAttention(UNITS, memory)
    cell = seq2seq.AttentionWrapper(tf.nn.rnn_cell.BasicLSTMCell(UNITS), mechanism, UNITS)
    decoder = seq2seq.BeamSearchDecoder(
        cell,
        tf.constant(numbers(CLASSES, UNITS)),
        [0, 1, 2],
        3,
        cell.zero_state(BATCH * width, tf.float32),
        width,
        output_layer=tf.layers.Dense(CLASSES),
        length_penalty_weight=0.6,
        coverage_penalty_weight=0.1,
    )
    outputs, state, lengths = seq2seq.dynamic_decode(decoder, maximum_iterations=5)
    ids, scores, ends = run(
        outputs.predicted_ids, outputs.beam_search_decoder_output.scores, lengths
    )
    assert ids.shape == scores.shape == (BATCH, 5, width)
    assert (np.diff(scores[:, -1]) <= 0).all()  # the best beam comes first
    assert ends.shape == (BATCH, width)
    assert state.cell_state.cell_state.c.shape.as_list() == [BATCH, width, UNITS]


def test_tile_batch() -> None:
    tiled = seq2seq.tile_batch((tf.constant([[1, 2], [3, 4]]), tf.constant([5, 6])), 2)
    first, second = run(*tiled)
    assert first.tolist() == [[1, 2], [1, 2], [3, 4], [3, 4]]
    assert second.tolist() == [5, 5, 6, 6]
    assert tiled[0].shape.as_list() == [4, 2]
    with pytest.raises(ValueError, match="t must have statically known rank"):
        seq2seq.tile_batch(tf.placeholder(tf.float32), 2)


# The loss -------------------------------------------------------------------------------------


def test_sequence_loss() -> None:
    logits, weights = numbers(BATCH, TIME, CLASSES), np.ones((BATCH, TIME), np.float32)
    weights[0, 3:] = 0
    weights[:, 4] = 0
    targets = np.random.RandomState(1).randint(0, CLASSES, (BATCH, TIME))
    each = -np.log(np.take_along_axis(softmax(logits), targets[..., None], 2)[..., 0]) * weights
    arguments = (tf.constant(logits), tf.constant(targets), tf.constant(2 * weights))

    def loss(**options: bool) -> Any:
        chosen = {"average_across_timesteps": False, "average_across_batch": False, **options}
        return run(seq2seq.sequence_loss(*arguments, **chosen))

    both = {"average_across_timesteps": True, "average_across_batch": True}
    np.testing.assert_allclose(loss(**both), each.sum() / weights.sum(), rtol=1e-5)
    np.testing.assert_allclose(
        loss(average_across_timesteps=True), each.sum(1) / weights.sum(1), rtol=1e-5
    )
    with np.errstate(invalid="ignore"):
        expected = np.nan_to_num(each.sum(0) / weights.sum(0))
    np.testing.assert_allclose(loss(average_across_batch=True), expected, rtol=1e-5)
    np.testing.assert_allclose(loss(), 2 * each, rtol=1e-5)
    sums = {"sum_over_timesteps": True, "sum_over_batch": True}
    np.testing.assert_allclose(loss(**sums), 2 * each.sum() / weights.sum(), rtol=1e-5)
    with pytest.raises(ValueError, match="cannot be set to True at same time"):
        loss(average_across_batch=True, sum_over_batch=True)
    with pytest.raises(ValueError, match="Logits must be a"):
        seq2seq.sequence_loss(tf.zeros([2, 3]), tf.zeros([2, 3]), tf.zeros([2, 3]))
