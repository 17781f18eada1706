"""Abort, CreateSummaryDbWriter, and two ops of old graphs alone: QuantizeAndDequantize and
StatefulStandardNormal, whose values were recorded from TensorFlow 1.15.
"""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import penstock as tf

VALUES = np.array([[-1.3, 0.2, 0.77], [2.0, -0.4, 0.05]], np.float32)


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, [[-1.3070866, 0.2047244, 0.7716535], [2.0, -0.3937008, 0.0472441]]),
        (
            {"range_given": True, "input_min": -1.0, "input_max": 1.5},
            [[-1.2992126, 0.2007874, 0.7677165], [1.5, -0.4015748, 0.0472441]],
        ),
    ],
)
def test_quantized_and_back(settings: dict, expected: list) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        result = tf.raw_ops.QuantizeAndDequantize(input=VALUES, **settings)
        np.testing.assert_allclose(session.run(result), expected, rtol=1e-6)


def test_normal_numbers_of_a_state_with_its_algorithm() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        state = tf.get_variable(
            "state", initializer=np.array([1, 5, 6, 7], np.int64), use_resource=True
        )
        drawn = tf.raw_ops.StatefulStandardNormal(resource=state.handle, shape=np.array([2]))
        session.run(state.initializer)
        np.testing.assert_allclose(session.run(drawn), [-1.2876658, 1.1990221], rtol=1e-5)
        assert session.run(state)[1] > 5


def test_no_databases_of_summaries() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        texts = dict.fromkeys(("db_uri", "experiment_name", "run_name", "user_name"), "")
        node = tf.raw_ops.CreateSummaryDbWriter(writer=tf.raw_ops.SummaryWriter(), **texts)
        with pytest.raises(tf.errors.UnimplementedError, match="event files"):
            session.run(node)


@pytest.mark.parametrize("quietly", [True, False])
def test_abort_ends_the_process(quietly: bool) -> None:
    program = (
        "import penstock as tf\n"
        f"node = tf.raw_ops.Abort(error_msg='the end', exit_without_error={quietly})\n"
        "tf.Session().run(node)\n"
        "print('still here')\n"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert "still here" not in ended.stdout
    assert (ended.returncode == 0) is quietly
    assert ("Abort_op intentional failure; the end" in ended.stderr) is not quietly
