"""The variable by which the chief tells all workers to stop."""

import pytest
from penstock.python.estimator import early_stopping

import penstock as tf


@pytest.mark.parametrize("stop", [False, True])
def test_the_chief_keeps_its_answer_in_the_stop_variable(stop):
    hook = early_stopping._StopOnPredicateHook(lambda: stop, run_every_secs=0)
    tf.train.create_global_step()
    step = tf.no_op()
    with tf.train.SingularMonitoredSession(hooks=[hook]) as session:
        session.run(step)
        assert session.should_stop() == stop
        assert session.raw_session().run(hook._stop_var) == stop


def test_a_worker_stops_once_the_variable_is_set():
    step = tf.no_op()
    variable = early_stopping._get_or_create_stop_var()
    assert variable.op.name == "signal_early_stopping/STOP"
    tell = tf.assign(variable, True)
    hook = early_stopping._CheckForStoppingHook()
    with tf.train.SingularMonitoredSession(hooks=[hook]) as session:
        session.run(step)
        assert not session.should_stop()
        session.run(tell)
        assert session.should_stop()
