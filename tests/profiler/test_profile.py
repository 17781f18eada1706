"""Profiles are TensorFlow's: the printed reports, the messages and the files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from penstock.python.framework import ops

import penstock as tf
from tests.profiler.profiled_model import REPORTS, build, report

RECORDED = json.loads((Path(__file__).parent / "recorded.json").read_text())


@pytest.mark.parametrize("name", REPORTS)
def test_report(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with tf.Graph().as_default():
        build(tf)
        message = report(tf, name, str(tmp_path / "report"))
    expected = RECORDED[name]
    assert capsys.readouterr().out.splitlines() == expected["printed"]
    assert str(message).splitlines() == expected["message"]
    if name == "file":
        assert (tmp_path / "report").read_text().splitlines() == expected["file"]


def test_old_names(capsys: pytest.CaptureFixture[str]) -> None:
    analyzer = tf.contrib.tfprof.model_analyzer
    with tf.Graph().as_default() as graph:
        build(tf)
        found = analyzer.print_model_analysis(
            graph, tfprof_options=analyzer.TRAINABLE_VARS_PARAMS_STAT_OPTIONS
        )
    assert found.total_parameters == 100 + 4 + 1960 + 10
    assert "fc/w (196x10, 1.96k/1.96k params)" in capsys.readouterr().out


def test_unknown_shapes_have_no_operations(capsys: pytest.CaptureFixture[str]) -> None:
    with tf.Graph().as_default():
        tf.square(tf.placeholder(tf.float32, [None]))
        builder = tf.profiler.ProfileOptionBuilder
        options = builder(builder.float_operation())
        found = tf.profiler.profile(options=options.with_empty_output().build())
    assert found.total_float_ops == 0
    captured = capsys.readouterr()
    assert captured.out == "" and "1 ops no flops stats" in captured.err


def test_an_unknown_command_is_an_error() -> None:
    with tf.Graph().as_default(), pytest.raises(tf.errors.InvalidArgumentError, match="unknown"):
        tf.profiler.profile(cmd="sunshine")


def test_statistics_of_other_types() -> None:
    @ops.RegisterStatistics("Cosh", "flops")
    def _(graph: Any, node: Any) -> Any:
        return ops.OpStats("flops", 7)

    with tf.Graph().as_default() as graph:
        tf.cosh(tf.constant(1.0), name="c")
        node = graph.get_operation_by_name("c").node_def
        found = ops.get_stats_for_node_def(graph, node, "flops")
    assert found.value == 7
    with pytest.raises(KeyError, match="Registering two statistics"):
        ops.RegisterStatistics("MatMul", "flops")(lambda graph, node: ops.OpStats("flops", 1))


def test_op_logs(tmp_path: Path) -> None:
    with tf.Graph().as_default() as graph:
        build(tf)
        tf.profiler.write_op_log(graph, str(tmp_path))
    log = tf.profiler.OpLogProto.FromString((tmp_path / "tfprof_log").read_bytes())
    entries = {entry.name: entry for entry in log.log_entries}
    assert entries["fc/MatMul"].float_ops == 2 * 8 * 196 * 10
    assert list(entries["fc/w"].types) == ["_trainable_variables"]
