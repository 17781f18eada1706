"""Old names in checkpoints, printed values, and predictors of `tf.contrib.learn`'s estimators."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.contrib import layers, learn, predictor
from penstock.contrib.framework.printing import experimental, print_op
from penstock.contrib.learn.estimators_under_test import iris_input_multiclass_fn
from penstock.contrib.rnn import checkpoint_convert


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("rnn/basic_lstm_cell/weights", "rnn/basic_lstm_cell/kernel"),
        ("rnn/gru_cell/gates/biases/Adam", "rnn/gru_cell/gates/bias/Adam"),
        ("attention_decoder/Linear/Matrix", "attention_decoder/kernel"),
        ("nas_rnn/recurrent_weights", "nas_rnn/recurrent_kernel"),
        ("dense/weights", "dense/weights"),
    ],
)
def test_variables_get_their_present_names(old: str, new: str, tmp_path: Any) -> None:
    tf.Variable([1.0, 2.0], name=old)
    source, target = str(tmp_path / "old"), str(tmp_path / "new")
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        tf.train.Saver().save(session, source)
    variables, renamed = checkpoint_convert.convert_names(source, target)
    assert list(variables) == [new] and renamed == ({} if old == new else {old: new})
    assert tf.train.load_variable(target, new).tolist() == [1.0, 2.0]


def test_values_are_printed_with_what_they_are(capfd: pytest.CaptureFixture[str]) -> None:
    dense = print_op(tf.constant([1, 2], name="c"), message="here: ")
    sparse = print_op(tf.SparseTensor([[0]], [3.0], [2]))
    flags = print_op(tf.constant([False, True]), print_shape=False)
    with tf.Session() as session:
        assert session.run(dense).tolist() == [1, 2]
        assert session.run(sparse).values.tolist() == [3.0]
        session.run(flags)
    printed = capfd.readouterr().err
    for part in ("here: [Name: c:0][Type: Tensor (int32)]", "[Type: SparseTensor (float32)]"):
        assert part in printed
    assert "[First True in Boolean tensor at:][1]" in printed
    with pytest.raises(ValueError, match="input_ must be of type Tensor"):
        print_op(None)


def test_experimental_functions_warn(caplog: pytest.LogCaptureFixture) -> None:
    @experimental
    def new(x: int) -> int:
        """Adds one."""
        return x + 1

    with caplog.at_level(logging.WARNING):
        assert new(1) == 2
    assert "is experimental and may change" in caplog.text
    assert new.__doc__ is not None and new.__doc__.startswith("Adds one. (experimental)")


def test_predictors_of_contrib_estimators(tmp_path: Any) -> None:
    columns = [layers.real_valued_column("feature", dimension=4)]
    classifier = learn.LinearClassifier(columns, str(tmp_path), n_classes=3)
    classifier.fit(input_fn=iris_input_multiclass_fn, steps=1)

    def inputs() -> Any:
        features = {"feature": tf.placeholder(tf.float32, [None, 4])}
        return learn.InputFnOps(features, None, features)

    predict = predictor.from_contrib_estimator(classifier, inputs)
    found = predict({"feature": np.ones((2, 4), np.float32)})
    assert found["probabilities"].shape == (2, 3)
    core = tf.estimator.LinearClassifier([tf.feature_column.numeric_column("feature")])
    with pytest.raises(TypeError, match="You likely want to call from_estimator"):
        predictor.from_contrib_estimator(core, inputs)
