"""An error in a loop says in which iteration it happened, however the loop is run."""

import pytest

import penstock as tf
from tests.control_flow_conformance.executor_session import as_written


@pytest.mark.parametrize("config", [None, as_written()], ids=["plan", "executor"])
def test_iterations_of_nested_loops(config):
    def inner(i):
        def body(j, total):
            logarithm = tf.log(tf.cast(3 - i - j, tf.float32))
            return j + 1, total + tf.check_numerics(logarithm, "not finite")

        return tf.while_loop(lambda j, _: j < 2, body, [0, 0.0])[1]

    with tf.Graph().as_default(), tf.Session(config=config) as session:
        outer = tf.while_loop(
            lambda i, _: i < 5, lambda i, total: (i + 1, total + inner(i)), [0, 0.0]
        )
        with pytest.raises(tf.errors.InvalidArgumentError) as caught:
            session.run(outer)
    places = [line.strip() for line in str(caught.value).splitlines() if "in iteration" in line]
    assert places == [
        "in iteration 1 of the loop 'while/while/while_context'",
        "in iteration 2 of the loop 'while/while_context'",
    ]
