"""The cells of `tf.contrib.rnn`, run for two steps with given variables."""

from __future__ import annotations

from typing import Any

import numpy as np

_GRID = {"feature_size": 2, "frequency_skip": 1, "num_frequency_blocks": [3]}

# For each case: the class, its arguments, and the size of its state where the class gives none.
CELLS: dict[str, tuple[str, tuple[Any, ...], dict[str, Any], int | None]] = {
    "IndRNN": ("IndRNNCell", (3,), {}, None),
    "IndyGRU": ("IndyGRUCell", (3,), {}, None),
    "IndyLSTM": ("IndyLSTMCell", (3,), {"forget_bias": 0.5}, None),
    "Minimal": ("MinimalRNNCell", (3,), {}, None),
    "CFN": ("CFNCell", (3,), {}, None),
    "Phased": ("PhasedLSTMCell", (3,), {}, None),
    "PhasedPeepholes": (
        "PhasedLSTMCell",
        (3,),
        {"use_peepholes": True, "leak": 0.1, "ratio_on": 0.3, "trainable_ratio_on": False},
        None,
    ),
    "Grouped": ("GLSTMCell", (4,), {"number_of_groups": 2}, None),
    "GroupedProjected": ("GLSTMCell", (4,), {"num_proj": 2, "number_of_groups": 2}, None),
    "LayerNorm": (
        "LayerNormLSTMCell",
        (3,),
        {
            "use_peepholes": True,
            "layer_norm": True,
            "num_proj": 2,
            "proj_clip": 0.5,
            "cell_clip": 0.7,
            "norm_gain": 0.9,
            "norm_shift": 0.1,
        },
        None,
    ),
    "WithoutLayerNorm": ("LayerNormLSTMCell", (3,), {}, None),
    "WeightNorm": (
        "WeightNormLSTMCell",
        (3,),
        {"use_peepholes": True, "num_proj": 2, "proj_clip": 0.1, "cell_clip": 0.3},
        None,
    ),
    "WithoutWeightNorm": ("WeightNormLSTMCell", (3,), {"norm": False}, None),
    "TimeFrequency": ("TimeFreqLSTMCell", (2,), {"feature_size": 2, "frequency_skip": 1}, 12),
    "TimeFrequencyPeepholes": (
        "TimeFreqLSTMCell",
        (2,),
        {
            "use_peepholes": True,
            "cell_clip": 0.2,
            "feature_size": 2,
            "frequency_skip": 2,
            "num_unit_shards": 2,
        },
        8,
    ),
    "Grid": ("GridLSTMCell", (2,), {"use_peepholes": True, "cell_clip": 0.4, **_GRID}, None),
    "GridShared": (
        "GridLSTMCell",
        (2,),
        {"use_peepholes": True, "share_time_frequency_weights": True, **_GRID},
        None,
    ),
    "GridCoupled": (
        "GridLSTMCell",
        (2,),
        {"couple_input_forget_gates": True, "num_unit_shards": 2, **_GRID},
        None,
    ),
    "GridBlocks": (
        "GridLSTMCell",
        (2,),
        {
            "feature_size": 1,
            "frequency_skip": 1,
            "num_frequency_blocks": [1, 2],
            "start_freqindex_list": [0, 2],
            "end_freqindex_list": [1, 4],
        },
        None,
    ),
    "GridOneTensor": ("GridLSTMCell", (2,), {"state_is_tuple": False, **_GRID}, None),
    "TwoGrids": ("BidirectionalGridLSTMCell", (2,), {"use_peepholes": True, **_GRID}, None),
    "TwoGridsApart": (
        "BidirectionalGridLSTMCell",
        (2,),
        {"backward_slice_offset": 1, **_GRID},
        None,
    ),
}


def _numbers(shape: list[int], step: float, scale: float, start: float = 0.0) -> np.ndarray:
    count = int(np.prod(shape))
    return (np.sin(np.arange(count) * step + start) * scale).reshape(shape).astype(np.float32)


def _variable_value(variable: Any, number: int) -> np.ndarray:
    positive = any(part in variable.name for part in ("period", "ratio"))
    return _numbers(variable.shape.as_list(), 0.7, 0.4, number) + np.float32(0.6 * positive)


def cell_results(tf: Any, cells: Any, name: str) -> dict[str, Any]:
    """Names and shapes of the variables, the output, the state and the gradients."""
    kind, positional, keywords, state_size = CELLS[name]
    nest = tf.contrib.framework.nest
    with tf.Graph().as_default():
        cell = getattr(cells, kind)(*positional, **keywords)
        x = tf.constant(_numbers([2, 4], 0.9, 1.0, 0.5))
        inputs = (tf.constant([[0.3], [1.7]]), x) if name.startswith("Phased") else x
        size = cell.state_size if state_size is None else state_size
        state = nest.map_structure(lambda n: tf.constant(_numbers([2, n], 1.3, 0.5)), size)
        with tf.variable_scope("s"):
            _, state = cell(inputs, state)
            output, state = cell(inputs, state)
        variables = tf.global_variables()
        trained = tf.trainable_variables()
        parts = nest.flatten(state)
        total = tf.reduce_sum(output * output) + tf.add_n([tf.reduce_sum(p) for p in parts])
        sums = [
            tf.constant(0.0) if g is None else tf.reduce_sum(tf.convert_to_tensor(g))
            for g in tf.gradients(total, [x, *trained])
        ]
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            for number, variable in enumerate(variables):
                variable.load(_variable_value(variable, number), session)
            found, states, gradients = session.run([output, parts, sums])
        return {
            "variables": [[v.name, v.shape.as_list(), v in trained] for v in variables],
            "state": type(state).__name__,
            "output": found.tolist(),
            "states": [each.tolist() for each in states],
            "gradients": [float(each) for each in gradients],
        }
