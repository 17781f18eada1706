"""The nodes of recurrent networks: cells, static and dynamic loops, and their gradients."""

from __future__ import annotations

from typing import Any


def _inputs(tf: Any, *shape: Any) -> Any:
    return tf.placeholder(tf.float32, list(shape), name="x")


def basic_cells(tf: Any) -> Any:
    cells = tf.nn.rnn_cell
    x = _inputs(tf, None, 3)
    made = [
        cells.BasicRNNCell(2),
        cells.BasicRNNCell(2, activation="relu", name="mine"),
        cells.GRUCell(2),
        cells.GRUCell(2, tf.nn.relu, bias_initializer=tf.constant_initializer(0.5), name="gru"),
        cells.BasicLSTMCell(2),
        cells.BasicLSTMCell(2, forget_bias=0.0, state_is_tuple=False, name="flat"),
    ]
    size = tf.shape(x)[0]
    found = [cell(x, cell.zero_state(size, tf.float32)) for cell in made]
    again = made[0](x, made[0].zero_state(4, tf.float32))
    return [found, again, [variable.name for cell in made for variable in cell.variables]]


def lstm_cells(tf: Any) -> Any:
    cells = tf.nn.rnn_cell
    x = _inputs(tf, 4, 3)
    made = [
        cells.LSTMCell(2),
        cells.LSTMCell(
            2,
            use_peepholes=True,
            cell_clip=1.0,
            num_proj=3,
            proj_clip=0.5,
            initializer=tf.ones_initializer(),
            name="full",
        ),
        cells.LSTMCell(2, num_proj=3, state_is_tuple=False, name="flat"),
        cells.LSTMCell(2, num_unit_shards=2, num_proj=4, num_proj_shards=2, name="parts"),
    ]
    found = [cell(x, cell.zero_state(4, tf.float32)) for cell in made]
    with tf.variable_scope("outer"):
        shared = cells.LSTMCell(2, reuse=tf.AUTO_REUSE, name="shared")
        one = shared(x, shared.zero_state(4, tf.float32), scope="scoped")
    return [found, one, [variable.name for variable in tf.global_variables()]]


def stacked_and_wrapped(tf: Any) -> Any:
    cells = tf.nn.rnn_cell
    x = _inputs(tf, 4, 2)
    dropped = cells.DropoutWrapper(
        cells.BasicLSTMCell(2), input_keep_prob=0.5, output_keep_prob=0.7, seed=3
    )
    keep = tf.placeholder(tf.float32, [], name="keep")
    whole = cells.DropoutWrapper(cells.GRUCell(2), state_keep_prob=keep)
    kept = cells.ResidualWrapper(cells.BasicRNNCell(2))
    placed = cells.DeviceWrapper(cells.BasicRNNCell(2, name="placed"), "/cpu:0")
    variational = cells.DropoutWrapper(
        cells.LSTMCell(2),
        input_keep_prob=0.5,
        state_keep_prob=0.6,
        output_keep_prob=0.7,
        variational_recurrent=True,
        input_size=2,
        dtype=tf.float32,
        seed=7,
    )
    stacked = cells.MultiRNNCell([dropped, whole, kept, placed, variational])
    flat = cells.MultiRNNCell([cells.GRUCell(2), cells.GRUCell(3)], state_is_tuple=False)
    return [
        stacked(x, stacked.zero_state(4, tf.float32)),
        flat(x, flat.zero_state(4, tf.float32), scope="flat"),
        [variable.name for variable in flat.variables],
    ]


def dynamic(tf: Any) -> Any:
    cells = tf.nn.rnn_cell
    x = _inputs(tf, None, None, 3)
    outputs, state = tf.nn.dynamic_rnn(cells.BasicLSTMCell(2), x, dtype=tf.float32)
    return [outputs, state, tf.gradients([outputs, state.c], [x, *tf.trainable_variables()])]


def dynamic_with_lengths(tf: Any) -> Any:
    cells = tf.nn.rnn_cell
    x = _inputs(tf, 5, 4, 3)
    lengths = tf.placeholder(tf.int64, [4], name="lengths")
    cell = cells.MultiRNNCell([cells.GRUCell(2), cells.LSTMCell(3, num_proj=2)])
    outputs, state = tf.nn.dynamic_rnn(
        cell,
        x,
        lengths,
        initial_state=cell.zero_state(4, tf.float32),
        time_major=True,
        swap_memory=True,
        parallel_iterations=2,
        scope="mine",
    )
    return [outputs, state, tf.gradients(outputs, tf.trainable_variables())]


def dynamic_both_ways(tf: Any) -> Any:
    cells = tf.nn.rnn_cell
    x = _inputs(tf, None, 5, 3)
    lengths = tf.placeholder(tf.int32, [None], name="lengths")
    both = [cells.GRUCell(2), cells.GRUCell(2)]
    with tf.variable_scope("first"):
        first = tf.nn.bidirectional_dynamic_rnn(*both, x, dtype=tf.float32)
    both = [cells.BasicRNNCell(2), cells.BasicRNNCell(2)]
    second = tf.nn.bidirectional_dynamic_rnn(
        *both, x, sequence_length=lengths, dtype=tf.float32, scope="second"
    )
    return [first, second, [variable.name for variable in tf.global_variables()]]


def static(tf: Any) -> Any:
    cells = tf.nn.rnn_cell
    xs = [tf.placeholder(tf.float32, [None, 3]) for _ in range(3)]
    outputs, state = tf.nn.static_rnn(cells.BasicLSTMCell(2), xs, dtype=tf.float32)
    return [outputs, state, tf.gradients(outputs, tf.trainable_variables())]


def static_with_lengths(tf: Any) -> Any:
    cells = tf.nn.rnn_cell
    xs = [tf.placeholder(tf.float32, [4, 3]) for _ in range(2)]
    lengths = tf.placeholder(tf.int64, [4], name="lengths")
    cell = cells.GRUCell(2)
    first = tf.nn.static_rnn(
        cell, xs, initial_state=cell.zero_state(4, tf.float32), sequence_length=lengths
    )
    both = [cells.BasicRNNCell(2), cells.BasicRNNCell(2)]
    second = tf.nn.static_bidirectional_rnn(
        *both, xs, dtype=tf.float32, sequence_length=lengths, scope="both"
    )
    both = [cells.BasicRNNCell(2), cells.BasicRNNCell(2)]
    third = tf.nn.static_bidirectional_rnn(*both, xs, dtype=tf.float32, scope="plain")
    return [first, second, third]


def raw(tf: Any) -> Any:
    x = _inputs(tf, 5, 4, 3)
    lengths = tf.placeholder(tf.int32, [4], name="lengths")
    cell = tf.nn.rnn_cell.LSTMCell(2)
    rows = tf.TensorArray(tf.float32, 5).unstack(x)

    def loop(time: Any, output: Any, state: Any, count: Any) -> Any:
        if output is None:
            state, count = cell.zero_state(4, tf.float32), tf.constant(0)
        else:
            count = count + 1
        finished = time >= lengths
        done = tf.reduce_all(finished)
        following = tf.cond(done, lambda: tf.zeros([4, 3]), lambda: rows.read(time))
        return finished, following, state, output, count

    outputs, state, count = tf.nn.raw_rnn(cell, loop)
    return [outputs.stack(), state, count]


def own_cell(tf: Any) -> Any:
    class Scaled(tf.nn.rnn_cell.RNNCell):
        state_size = 3
        output_size = 3

        def call(self, inputs: Any, state: Any) -> Any:
            scale = tf.get_variable("scale", [3], initializer=tf.ones_initializer())
            state = state + inputs * scale
            return state, state

    x = _inputs(tf, 2, 5, 3)
    cell = Scaled()
    outputs, state = tf.nn.dynamic_rnn(cell, x, dtype=tf.float32)
    xs = [tf.constant([[1.0, 2.0, 3.0]])] * 2
    with tf.variable_scope("static"):
        other = Scaled(name="named")
        outputs = [outputs, tf.nn.static_rnn(other, xs, dtype=tf.float32)[0]]
    return [outputs, state, [v.name for v in cell.variables + other.trainable_variables]]
