"""Values of a checkpoint that a program did not take."""

import gc
from unittest import mock

import pytest

import penstock as tf
from penstock.ir.trackable import Trackable
from penstock.platform import logging


@pytest.fixture
def path(tmp_path):
    saved = tf.train.Checkpoint(v1=tf.Variable(2.0), v2=tf.Variable(3.0))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return saved.save(str(tmp_path / "model"), session=session)


def warnings_of(restore):
    with mock.patch.object(logging, "warning") as warning:
        restore()
        gc.collect()
    return str(warning.call_args_list)


def test_an_object_that_nothing_can_take_any_more_is_told(path):
    told = warnings_of(lambda: tf.train.Checkpoint(v1=tf.Variable(0.0)).restore(path))
    assert "(root).v2'" in told
    assert "(root).v1'" not in told
    assert "expect_partial()" in told


def test_a_value_that_an_object_does_not_have_is_told(path):
    told = warnings_of(
        lambda: tf.train.Checkpoint(v1=Trackable(), v2=tf.Variable(0.0)).restore(path)
    )
    assert "Unused attribute" in told
    assert "(root).v2" not in told


@pytest.mark.parametrize(
    "restore",
    [
        lambda path: tf.train.Checkpoint(v1=tf.Variable(0.0)).restore(path).expect_partial(),
        lambda path: tf.train.Checkpoint(v1=tf.Variable(0.0), v2=tf.Variable(0.0)).restore(path),
    ],
)
def test_nothing_is_told_of_what_is_meant(path, restore):
    assert warnings_of(lambda: restore(path)) == "[]"
