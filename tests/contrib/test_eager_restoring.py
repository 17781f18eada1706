"""`tf.contrib.eager.restore_variables_on_create`."""

from __future__ import annotations

import pytest

import penstock as tf
from penstock.contrib import eager
from penstock.internal_paths.graph_mode import eager_mode


def test_new_variables_get_saved_values(tmp_path):
    with eager_mode():
        saved = tf.get_variable("first", initializer=3.0, use_resource=True)
        other = tf.get_variable("second", initializer=4.0, use_resource=True)
        path = eager.Saver([saved, other]).save(str(tmp_path / "model"))
        with eager.restore_variables_on_create(path):
            assert tf.get_variable("first", initializer=0.0, use_resource=True).numpy() == 3
        with eager.restore_variables_on_create(path, lambda name: name.replace("new", "second")):
            assert tf.get_variable("new", initializer=0.0, use_resource=True).numpy() == 4
        with (
            eager.restore_variables_on_create(path),
            pytest.raises(tf.errors.NotFoundError, match="third not found in checkpoint"),
        ):
            tf.get_variable("third", initializer=0.0, use_resource=True)
        with eager.restore_variables_on_create(None):
            assert tf.get_variable("free", initializer=5.0, use_resource=True).numpy() == 5


def test_only_eagerly():
    with (
        pytest.raises(ValueError, match="only be used with eager"),
        eager.restore_variables_on_create("path"),
    ):
        pass
