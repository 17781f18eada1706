"""BlockLSTMV2 and BlockLSTMGradV2: BlockLSTM with another order of gates and no bias of its own."""

from __future__ import annotations

import numpy as np

import penstock as tf

INPUTS = {
    name: np.array(value, np.float32)
    for name, value in {
        "x": np.linspace(-1, 1, 8).reshape(2, 1, 4),
        "cs_prev": [[0.5, -0.5]],
        "h_prev": [[0.1, 0.2]],
        "w": np.linspace(-0.9, 0.7, 48).reshape(6, 8) ** 3,
        "wci": [0.1, 0.2],
        "wcf": [0.3, -0.1],
        "wco": [0.2, 0.1],
        "b": np.linspace(-0.2, 0.3, 8),
    }.items()
}
SETTINGS = {"seq_len_max": np.int64(2), "use_peephole": True}


def _reordered(columns: np.ndarray) -> np.ndarray:
    """Weights with the second and third of four gates exchanged."""
    first, second, third, fourth = np.split(columns, 4, axis=-1)
    return np.concatenate([first, third, second, fourth], axis=-1)


def test_values_are_those_of_tensorflow() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        found = tf.raw_ops.BlockLSTMV2(**SETTINGS, **INPUTS)
        assert found.h.shape == (2, 1, 2)
        h, cs = session.run([found.h, found.cs])
    np.testing.assert_allclose(h[1], [[0.19970173, 0.0319401]], rtol=1e-5)
    np.testing.assert_allclose(cs[0], [[0.7503432, 0.04341292]], rtol=1e-5)


def test_gradients_are_those_of_the_older_op() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        newer = {name: tf.constant(value) for name, value in INPUTS.items()}
        older = {**newer, "w": tf.constant(_reordered(INPUTS["w"]))}
        older["b"] = tf.constant(_reordered(INPUTS["b"]))
        results = []
        for op_type, inputs, more in (
            (tf.raw_ops.BlockLSTMV2, newer, {}),
            (tf.raw_ops.BlockLSTM, older, {"forget_bias": 0.0, "cell_clip": 0.0}),
        ):
            cells = op_type(**SETTINGS, **inputs, **more)
            results.append(tf.gradients([cells.h * 2.0, cells.cs], list(inputs.values())))
        found, expected = (
            dict(zip(INPUTS, values, strict=True)) for values in session.run(results)
        )
    for name, value in expected.items():
        wanted = _reordered(value) if name in ("w", "b") else value
        np.testing.assert_allclose(found[name], wanted, rtol=1e-5, atol=1e-6, err_msg=name)
