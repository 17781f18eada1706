"""The tools for graph files as commands."""

import importlib
import subprocess
import sys

import numpy as np
import pytest

import penstock as tf
from penstock.tools import import_pb_to_tensorboard, inspect_checkpoint


@pytest.fixture
def model(tmp_path):
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    w = tf.Variable([[1.0], [2.0]], name="w")
    tf.matmul(x, w, name="y")
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        tf.train.Saver().save(session, str(tmp_path / "model"))
        tf.train.write_graph(session.graph_def, str(tmp_path), "graph.pb", as_text=False)
    return tmp_path


@pytest.fixture
def run_tool(monkeypatch):
    def run(name, *arguments):
        monkeypatch.setattr(sys, "argv", [name, *map(str, arguments)])
        with pytest.raises(SystemExit) as exit:
            importlib.import_module(f"penstock.tools.{name}").run_main()
        return exit.value.code

    return run


def freezing(folder):
    return [
        f"--input_graph={folder / 'graph.pb'}",
        "--input_binary",
        f"--input_checkpoint={folder / 'model'}",
        "--output_node_names=y",
        f"--output_graph={folder / 'frozen.pb'}",
    ]


def value_of(path, name):
    graph_def = tf.GraphDef.FromString(path.read_bytes())
    with tf.Graph().as_default(), tf.Session() as session:
        tf.import_graph_def(graph_def, name="")
        return session.run(name, {"x:0": [[3.0, 4.0]]})


def test_freezing_then_optimizing(model, run_tool):
    assert not run_tool("freeze_graph", *freezing(model))
    assert not run_tool(
        "optimize_for_inference",
        "--input",
        model / "frozen.pb",
        "--output",
        model / "small.pb",
        "--input_names=x",
        "--output_names=y",
    )
    np.testing.assert_allclose(value_of(model / "small.pb", "y:0"), [[11.0]])


def test_stripping(model, run_tool, capsys):
    run_tool("freeze_graph", *freezing(model))
    assert not run_tool(
        "strip_unused",
        f"--input_graph={model / 'frozen.pb'}",
        "--input_binary=true",
        f"--output_graph={model / 'part.pb'}",
        "--input_node_names=x",
        "--output_node_names=y",
    )
    assert "ops in the final graph" in capsys.readouterr().out
    np.testing.assert_allclose(value_of(model / "part.pb", "y:0"), [[11.0]])


def test_inspecting_a_checkpoint(model, run_tool, capsys):
    assert not run_tool(
        "inspect_checkpoint", f"--file_name={model / 'model'}", "--all_tensor_names"
    )
    assert capsys.readouterr().out == "tensor_name:  w\n# Total number of params: 2\n"
    assert run_tool("inspect_checkpoint") == 1
    assert "Usage: inspect_checkpoint" in capsys.readouterr().out


def test_tensors_that_are_not_counted_are_told(model, capsys):
    inspect_checkpoint.print_tensors_in_checkpoint_file(
        str(model / "model"), None, False, True, count_exclude_pattern="w"
    )
    lines = capsys.readouterr().out.splitlines()
    assert lines[1:] == [
        "# Excluding 1 tensors (2 params) that match w when counting.",
        "# Total number of params: 0",
    ]


def test_a_graph_file_becomes_an_event_file(model, capsys):
    import_pb_to_tensorboard.import_to_tensorboard(str(model / "graph.pb"), str(model / "log"))
    assert "tensorboard --logdir" in capsys.readouterr().out
    (path,) = (model / "log").iterdir()
    events = list(tf.train.summary_iterator(str(path)))
    graph_def = tf.GraphDef.FromString(next(e.graph_def for e in events if e.graph_def))
    assert "import/y" in {node.name for node in graph_def.node}


def penstock_run_module(name, *arguments):
    command = [sys.executable, "-m", "penstock", "run", "-m", name, *arguments]
    return subprocess.run(command, capture_output=True, text=True)


def test_a_module_of_tensorflow_runs_by_its_name(model):
    done = penstock_run_module("tensorflow.python.tools.freeze_graph", *freezing(model))
    assert done.returncode == 0, done.stderr
    np.testing.assert_allclose(value_of(model / "frozen.pb", "y:0"), [[11.0]])


def test_a_module_that_is_not_there():
    done = penstock_run_module("tensorflow.python.tools.absent_tool")
    assert done.returncode == 2
    assert "there is no module" in done.stderr
