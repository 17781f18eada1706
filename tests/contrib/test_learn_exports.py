"""Exports of `tf.contrib.learn`'s estimators: signatures, directories, strategies, bundles."""

from __future__ import annotations

import os
from typing import Any

import pytest

import penstock as tf
from penstock.contrib import layers, learn
from penstock.contrib.learn.estimators_under_test import (
    assert_estimator_contract,
    iris_input_multiclass_fn,
)
from penstock.contrib.learn.utils import export
from penstock.contrib.learn.utils import saved_model_export_utils as exports

COLUMNS = [layers.real_valued_column("feature", dimension=4)]


@pytest.fixture
def fitted(tmp_path: Any) -> Any:
    classifier = learn.DNNClassifier([3], COLUMNS, str(tmp_path / "model"), n_classes=3)
    return classifier.fit(input_fn=iris_input_multiclass_fn, steps=2)


def _signature(problem_type: int, inputs: Any, outputs: Any) -> Any:
    def made(types: dict[str, Any]) -> dict[str, Any]:
        return {name: tf.placeholder(dtype, [1], name=name) for name, dtype in types.items()}

    found = exports.build_standardized_signature_def(made(inputs), made(outputs), problem_type)
    return found.method_name.rsplit("/")[-1], sorted(found.inputs), sorted(found.outputs)


@pytest.mark.parametrize(
    ("problem_type", "outputs", "expected"),
    [
        (learn.ProblemType.LINEAR_REGRESSION, {"o": tf.float32}, ("regress", ["outputs"])),
        (learn.ProblemType.CLASSIFICATION, {"o": tf.string}, ("classify", ["classes"])),
        (
            learn.ProblemType.CLASSIFICATION,
            {"classes": tf.int64, "probabilities": tf.float32},
            ("classify", ["scores"]),
        ),
        (learn.ProblemType.CLASSIFICATION, {"x": tf.int64, "y": tf.int64}, ("predict", ["x", "y"])),
        (learn.ProblemType.UNSPECIFIED, {"o": tf.float32}, ("predict", ["o"])),
    ],
)
def test_signatures_fit_the_problem(problem_type: int, outputs: Any, expected: Any) -> None:
    method, inputs, names = _signature(problem_type, {"i": tf.string}, outputs)
    assert (method, names) == expected
    assert inputs == (["i"] if method == "predict" else ["inputs"])
    method, inputs, _ = _signature(problem_type, {"j": tf.string, "k": tf.string}, outputs)
    assert (method, inputs) == ("predict", ["j", "k"])


def test_which_output_is_the_default() -> None:
    def chosen(alternatives: Any, key: Any = None) -> Any:
        made = learn.ModelFnOps(
            "infer", predictions=tf.constant([1.0]), output_alternatives=alternatives
        )
        return exports.get_output_alternatives(made, key)[1]

    assert chosen(None) == "default_output_alternative"
    assert chosen({"h": (1, {})}) == "h" and chosen({"g": (1, {}), "h": (1, {})}, "g") == "g"
    with pytest.raises(ValueError, match="Please specify a default_output_alternative"):
        chosen({"g": (1, {}), "h": (1, {})})
    with pytest.raises(ValueError, match="Requested default_output_alternative: q, but available"):
        chosen({"h": (1, {})}, "q")


def test_old_exports_are_deleted(tmp_path: Any) -> None:
    for name in ("1000000001", "1000000002", "1000000003", "12", "other"):
        (tmp_path / name).mkdir()
    assert exports.get_most_recent_export(str(tmp_path)).export_version == 1000000003
    exports.garbage_collect_exports(str(tmp_path), 1)
    assert sorted(os.listdir(tmp_path)) == ["1000000003", "12", "other"]
    assert exports.get_temp_export_dir(b"/a/123") == b"/a/temp-123"


def test_a_saved_model_has_a_signature_for_each_pair(fitted: Any, tmp_path: Any) -> None:
    serving = learn.build_parsing_serving_input_fn(layers.create_feature_spec_for_parsing(COLUMNS))
    path = fitted.export_savedmodel(str(tmp_path / "exports"), serving).decode()
    with tf.Session(graph=tf.Graph()) as session:
        loaded = tf.saved_model.loader.load(session, ["serve"], path)
    assert sorted(loaded.signature_def) == ["default_input_alternative:None", "serving_default"]
    assert loaded.signature_def["serving_default"].method_name.endswith("classify")
    assert "input_feature_keys" in loaded.collection_def
    with pytest.raises(ValueError, match="serving_input_fn must be defined"):
        fitted.export_savedmodel("x", None)


def test_bundles_of_training(tmp_path: Any) -> None:
    classifier = learn.DNNClassifier([3], COLUMNS, str(tmp_path / "model"), n_classes=3)
    monitor = learn.monitors.ExportMonitor(
        every_n_steps=2,
        export_dir=str(tmp_path / "bundles"),
        exports_to_keep=2,
        signature_fn=export.classification_signature_fn,
    )
    classifier.fit(input_fn=iris_input_multiclass_fn, steps=3, monitors=[monitor])
    kept = os.listdir(tmp_path / "bundles")
    assert 1 <= len(kept) <= 2 and os.path.basename(monitor.last_export_dir).decode() in kept
    assert "export.meta" in os.listdir(monitor.last_export_dir.decode())


def test_signatures_of_bundles_need_examples() -> None:
    predictions = tf.placeholder(tf.float32, [None, 2], name="p")
    for signature_fn in (export.generic_signature_fn, export.logistic_regression_signature_fn):
        with pytest.raises(ValueError, match="examples cannot be None"):
            signature_fn(None, None, predictions)
    examples = tf.placeholder(tf.string, [None], name="e")
    signature, _ = export.classification_signature_fn_with_prob(examples, None, predictions)
    assert signature.classification_signature.scores.tensor_name == "p:0"


def test_only_the_best_is_exported(fitted: Any, tmp_path: Any) -> None:
    serving = learn.build_parsing_serving_input_fn(layers.create_feature_spec_for_parsing(COLUMNS))
    strategy = exports.make_best_model_export_strategy(serving)
    folder, checkpoint = str(tmp_path / "best"), tf.train.latest_checkpoint(fitted.model_dir)
    assert strategy.export(fitted, folder, checkpoint, {"loss": 1.0})
    assert strategy.export(fitted, folder, checkpoint, {"loss": 2.0}) == ""
    with pytest.raises(ValueError, match="no loss is found"):
        strategy.export(fitted, folder, checkpoint, {"accuracy": 2.0})


def test_what_is_made_of_an_export(tmp_path: Any) -> None:
    def export_fn(estimator: Any, folder: str, checkpoint_path: Any = None) -> str:
        path = os.path.join(folder, "first")
        os.mkdir(path)
        return path

    def after(first: str, folder: str) -> str:
        path = os.path.join(folder, os.path.basename(first) + "-second")
        os.mkdir(path)
        return path

    base = learn.ExportStrategy("base", export_fn)
    extended = exports.extend_export_strategy(base, after, "extended")
    assert extended.name == "extended"
    assert extended.export(None, str(tmp_path)) == str(tmp_path / "first-second")
    assert os.listdir(tmp_path) == ["first-second"]


def test_estimators_keep_the_contract() -> None:
    class Tester:
        def fail(self, message: str) -> None:
            raise AssertionError(message)

    assert_estimator_contract(Tester(), learn.LinearClassifier)
    with pytest.raises(AssertionError, match="lacks config"):
        assert_estimator_contract(Tester(), int)
