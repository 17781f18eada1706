"""Graphs that training sessions need, and a loop with hooks, written for any `tf` module."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any


def _training(tf: Any, name: str) -> Any:
    root = "penstock" if tf.__name__ == "penstock" else "tensorflow"
    return import_module(f"{root}.python.training.{name}")


def scaffold(tf: Any) -> None:
    variable = tf.get_variable("v", [2], initializer=tf.zeros_initializer())
    tf.get_local_variable("l", [], initializer=tf.zeros_initializer())
    tf.summary.scalar("s", tf.reduce_sum(variable, axis=0))
    tf.train.Scaffold().finalize()


def scaffold_of_nothing(tf: Any) -> None:
    tf.train.Scaffold().finalize()


def global_step(tf: Any) -> None:
    tf.train.get_or_create_global_step()
    _training(tf, "training_util")._increment_global_step(1)


def global_step_of_a_resource(tf: Any) -> None:
    with tf.variable_scope("", use_resource=True):
        tf.train.get_or_create_global_step()
    _training(tf, "training_util")._get_or_create_global_step_read()


def supervisor(tf: Any) -> None:
    tf.get_variable("v", [2], initializer=tf.zeros_initializer())
    tf.train.Supervisor()


def evaluation(tf: Any) -> None:
    module = _training(tf, "evaluation")
    value = tf.constant(1.0)
    tf.train.get_or_create_global_step()
    hook = module._StopAfterNEvalsHook(2)
    module._evaluate_once(None, eval_ops=value, final_ops=value, hooks=[hook])


def steps_per_run(tf: Any) -> None:
    tf.train.get_or_create_global_step()
    hook = _training(tf, "basic_session_run_hooks")._MultiStepStopAtStepHook(num_steps=3)
    hook.begin()


PROGRAMS: dict[str, Callable[[Any], None]] = {
    each.__name__: each
    for each in (
        scaffold,
        scaffold_of_nothing,
        global_step,
        global_step_of_a_resource,
        supervisor,
        evaluation,
        steps_per_run,
    )
}


def built(tf: Any, name: str) -> Any:
    """The graph of a program."""
    graph = tf.Graph()
    with graph.as_default():
        PROGRAMS[name](tf)
    return graph
