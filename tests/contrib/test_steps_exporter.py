"""`StepsExporter` of `tf.contrib.estimator`."""

from __future__ import annotations

from pathlib import Path
from unittest import mock

import pytest
from penstock.contrib.estimator.python.estimator import exporter
from penstock.python.estimator import estimator as estimator_names

import penstock as tf


def estimator_in(folder: Path) -> mock.Mock:
    made = mock.Mock(spec=tf.estimator.Estimator)
    made.model_dir = str(folder)
    made.export_saved_model.return_value = "written"
    return made


def test_a_step_that_was_not_evaluated_is_made_up_for(tmp_path: Path) -> None:
    steps = exporter.StepsExporter(steps_to_keep=[10, 1, 5, 8, 0, 1.5])
    estimator = estimator_in(tmp_path)
    found = {
        step: steps.export(estimator, "out", "checkpoint", {"global_step": step}, False)
        for step in (1, 2, 5, 10, 15)
    }
    assert found == {1: "written", 2: None, 5: "written", 10: "written", 15: None}
    with pytest.raises(ValueError, match="does not have global step"):
        steps.export(estimator, "out", "checkpoint", {}, False)
    with pytest.raises(ValueError, match="at least one positive integer"):
        exporter.StepsExporter(steps_to_keep=[-1, 0])


def test_steps_of_an_earlier_run_are_known_by_its_event_files(tmp_path: Path) -> None:
    for step in (1, 2):
        estimator_names._write_dict_to_summary(str(tmp_path / "eval"), {"loss": 1.0}, step)
    steps = exporter.StepsExporter(steps_to_keep=[1, 2, 6])
    estimator = estimator_in(tmp_path)
    assert steps.export(estimator, "out", "checkpoint", {"global_step": 3}, False) is None
    assert steps.export(estimator, "out", "checkpoint", {"global_step": 6}, False) == "written"
    tf.summary.FileWriterCache.clear()
