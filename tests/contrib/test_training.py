"""`tf.contrib.training`: hyperparameters, training and evaluation loops, sampled input."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.contrib.testing import latest_summaries

training = tf.contrib.training


@pytest.fixture(autouse=True)
def graph() -> Iterator[Any]:
    with tf.Graph().as_default() as graph:
        yield graph
    tf.summary.FileWriterCache.clear()


# HParams --------------------------------------------------------------------------------------


def hparams() -> Any:
    return training.HParams(aaa=1, b=2.0, c_c="relu6", d=True, layers=[64, 32], n=None)


def test_parsing() -> None:
    h = hparams().parse("aaa=12,b=-1e3,c_c=-1+1/2,d=false,layers=[1, 2,3]")
    assert h.values() == {
        "aaa": 12,
        "b": -1000.0,
        "c_c": "-1+1/2",
        "d": False,
        "layers": [1, 2, 3],
        "n": None,
    }
    assert h.parse("") is h
    assert str(training.HParams(a=1, b="x")) == "a=1,b=x"
    assert repr(training.HParams(b="x", a=1)) == "HParams([('a', 1), ('b', 'x')])"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("x=123", "Unknown hyperparameter type for x"),
        ("aaa=poipoi", "Could not parse hparam 'aaa' of type 'int' with value 'poipoi'"),
        ("aaa=1.0", "Could not parse"),
        ("d=12a", "Could not parse"),
        ("relu=", "Unknown"),
        ("aaa", "Malformed hyperparameter value: aaa"),
        ("aaa=1,aaa=2", "Multiple assignments to variable 'aaa'"),
        ("layers=5", "Must pass a list for multi-valued parameter: layers"),
        ("aaa=[1]", "Must not pass a list for single-valued parameter: aaa"),
        ("layers[1]=[2]", "Assignment of a list to a list index"),
    ],
)
def test_what_does_not_parse(text: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem.replace("[", r"\[")):
        hparams().parse(text)


def test_parse_values() -> None:
    types = {"a": int, "b": float}
    assert training.parse_values("a[3]=1,a[1]=2,b=3,c=x", types, ignore_unknown=True) == {
        "a": {3: 1, 1: 2},
        "b": 3.0,
    }
    with pytest.raises(ValueError, match=r"Multiple assignments to variable 'a\[1\]'"):
        training.parse_values("a[1]=1,a[1]=2", types)


def test_setting_keeps_types() -> None:
    h = hparams()
    h.set_hparam("b", 1)
    assert isinstance(h.b, float)
    for name, value in (("aaa", 1.5), ("aaa", True), ("c_c", 3), ("d", 1), ("b", "x")):
        with pytest.raises(ValueError, match=f"Could not cast hparam '{name}'"):
            h.set_hparam(name, value)
    with pytest.raises(ValueError, match="reserved"):
        h.add_hparam("parse", 1)
    with pytest.raises(ValueError, match="cannot be empty"):
        h.add_hparam("empty", [])
    h.del_hparam("b")
    assert "b" not in h and not hasattr(h, "b")


def test_json_and_messages() -> None:
    h = training.HParams(a=1, b=[2.0, 3.0], c="x", d=True)
    assert h.to_json(sort_keys=True) == '{"a": 1, "b": [2.0, 3.0], "c": "x", "d": true}'
    other = training.HParams(a=0, b=[0.0], c="", d=False).parse_json(h.to_json())
    assert other.values() == h.values()
    assert training.HParams.from_proto(h.to_proto()).values() == h.values()
    assert training.HParams(hparam_def=h.to_proto()).values() == h.values()


def test_get() -> None:
    h = hparams()
    assert h.get("aaa") == 1 and h.get("aaa", 5) == 1 and h.get("missing", 7) == 7
    assert h.get("layers", [1]) == [64, 32]
    for key, default in (("aaa", "x"), ("layers", 3), ("layers", ["x"])):
        with pytest.raises(ValueError, match=f"Hparam '{key}' of type .* is incompatible"):
            h.get(key, default)


# Training and evaluation ----------------------------------------------------------------------


def _model() -> tuple[Any, Any]:
    x = tf.constant(np.random.RandomState(0).rand(16, 4).astype(np.float32))
    y = tf.reduce_sum(x, 1, keepdims=True)
    loss = tf.losses.mean_squared_error(y, tf.layers.dense(x, 1, name="dense"))
    return loss, tf.losses.get_total_loss()


def test_training_and_evaluation(tmp_path: Path) -> None:
    logdir = str(tmp_path)
    _, total = _model()
    updated = tf.Variable(0.0, trainable=False, name="updated")
    tf.add_to_collection(tf.GraphKeys.UPDATE_OPS, updated.assign_add(1.0))
    train_op = training.create_train_op(
        total,
        tf.train.GradientDescentOptimizer(0.1),
        transform_grads_fn=training.clip_gradient_norms_fn(1.0),
        summarize_gradients=True,
    )
    assert train_op in tf.get_collection(tf.GraphKeys.TRAIN_OP)
    loss = training.train(train_op, logdir, hooks=[tf.train.StopAtStepHook(num_steps=300)])
    assert loss < 0.01
    assert tf.train.load_variable(logdir, "updated") == 300
    tags = {value.tag for event in latest_summaries(logdir) for value in event.summary.value}
    assert any(tag.endswith("dense/kernel_gradient_norm") for tag in tags)

    with tf.Graph().as_default():
        loss, _ = _model()
        tf.train.get_or_create_global_step()
        mean, update = tf.metrics.mean(loss)
        tf.summary.scalar("average", mean)
        evaluated = str(tmp_path / "eval")
        found = training.evaluate_repeatedly(
            logdir,
            eval_ops=update,
            final_ops=mean,
            hooks=[training.StopAfterNEvalsHook(3), training.SummaryAtEndHook(evaluated)],
            max_number_of_evaluations=1,
        )
        once = training.evaluate_once(tf.train.latest_checkpoint(logdir), final_ops=loss)
    assert found == pytest.approx(once, rel=1e-5) and found < 0.01
    (event,) = latest_summaries(evaluated)
    assert event.step == 300 and event.summary.value[0].tag == "average"


def test_a_loss_that_is_not_finite(tmp_path: Path) -> None:
    variable = tf.Variable(1.0)
    train_op = training.create_train_op(variable / 0.0, tf.train.GradientDescentOptimizer(0.1))
    with pytest.raises(tf.errors.InvalidArgumentError, match="LossTensor is inf or nan"):
        training.train(train_op, str(tmp_path))
    with pytest.raises(ValueError, match="logdir cannot be None"):
        training.train(train_op, None)


def test_gradients_are_multiplied() -> None:
    v, w = tf.Variable(1.0, name="v"), tf.Variable([1.0, 2.0], name="w")
    rows = tf.IndexedSlices(tf.constant([3.0]), tf.constant([1]))
    pairs = [(tf.constant(2.0), v), (rows, w)]
    scaled = training.multiply_gradients(pairs, {v: 3.0, "w": 0.5})
    with tf.Session() as sess:
        assert sess.run([scaled[0][0], scaled[1][0].values]) == [6.0, [1.5]]
    with pytest.raises(ValueError, match="multiple of `None`"):
        training.multiply_gradients([(None, v)], {v: 2.0})


# Input ----------------------------------------------------------------------------------------


def _run_with_queues(fetches: Any, steps: int) -> list[Any]:
    with tf.train.MonitoredSession() as session:
        return [session.run(fetches) for _ in range(steps)]


def test_sequences_of_similar_length() -> None:
    step = tf.train.range_input_producer(12, shuffle=False, num_epochs=1).dequeue()
    length, batch = training.bucket_by_sequence_length(
        step, [tf.fill([step], step)], batch_size=2, bucket_boundaries=[4, 8], dynamic_pad=True
    )
    lengths = [found[0].tolist() for found in _run_with_queues((length, batch), 6)]
    assert sorted(map(tuple, lengths)) == [(0, 1), (2, 3), (4, 5), (6, 7), (8, 9), (10, 11)]


@pytest.mark.parametrize("boundaries", [3, [], [1, 1], [1.5, 2]])
def test_boundaries(boundaries: Any) -> None:
    with pytest.raises((TypeError, ValueError), match="[bB]ucket"):
        training.bucket_by_sequence_length(1, [tf.constant(1)], 1, boundaries)


def test_stratified_sample() -> None:
    label = tf.cast(tf.random_uniform([], seed=1) < 0.25, tf.int32)
    (values,), labels = training.stratified_sample(
        [tf.cast(label, tf.float32) * 10], label, [0.5, 0.5], 20, init_probs=[0.75, 0.25]
    )
    found = _run_with_queues([values, labels], 20)
    all_labels = np.concatenate([each for _, each in found])
    assert abs(all_labels.mean() - 0.5) < 0.15
    assert all((value == each * 10).all() for value, each in found)


def test_rejection_sample() -> None:
    value = tf.random_uniform([], seed=2)
    (batch,) = training.rejection_sample(
        [value], lambda tensors: tf.cast(tensors[0] > 0.5, tf.float32), 8, runtime_checks=True
    )
    assert all((found > 0.5).all() for found in _run_with_queues(batch, 3))


def test_resampling() -> None:
    rows = tf.constant([[1.0], [2.0], [3.0]])
    (taken,) = training.resample_at_rate([rows], [0.0, 5.0, 0.0], seed=3)
    weighted, rates = training.weighted_resample(
        [rows], tf.constant([0.0, 1.0, 3.0]), 2.0, mean_decay=0.0
    )
    with tf.Session() as sess:
        sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        assert set(sess.run(taken).ravel()) <= {2.0}
        found, rate = sess.run([weighted[0], rates])
        assert set(found.ravel()) <= {2.0, 3.0} and len(found) == len(rate)
