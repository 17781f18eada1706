"""`penstock doctor`: what a program needs of TensorFlow, read from its text."""

import subprocess
import sys

from penstock.cli import doctor

PROGRAM = """
import tensorflow as tf
import tensorflow.contrib.nowhere as nowhere
from tensorflow.python.ops import array_ops as arrays, control_flow_ops
from tensorflow import nn

def build(x):
    later.flatten(x)
    return nn.relu(arrays.concat([x, x], 0)) + tf.nn.no_such_layer(x).shape + tf.float32.name

from tensorflow.contrib import nosuch as later
y = [tf.load_op_library("x"), tf.Session().graph.version]
"""


def test_symbols_are_resolved_through_imports():
    found = {symbol for symbol, _ in doctor.symbols(PROGRAM, "program.py")}
    assert {
        "tf.contrib.nowhere",
        "tf.python.ops.array_ops.concat",
        "tf.nn.relu",
        "tf.nn.no_such_layer",
        "tf.contrib.nosuch.flatten",
        "tf.float32.name",
        "tf.load_op_library",
        "tf.Session",
    } <= found


def test_report(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    shown = subprocess.run(
        [sys.executable, "-m", "penstock", "doctor", str(tmp_path)], capture_output=True, text=True
    )
    assert shown.returncode == 1, shown.stderr
    assert f"tf.nn.no_such_layer  ({program}:9)" in shown.stdout
    assert "or use tf.py_func" in shown.stdout
    assert "tf.nn.relu" not in shown.stdout


def test_a_program_with_all_it_needs(tmp_path):
    program = tmp_path / "program.py"
    program.write_text("import tensorflow as tf\nprint 'Python 2', tf.add(1, 2)\n")
    assert doctor.report([str(program)]) == 0


def test_what_cannot_be_read_is_said(tmp_path, capsys):
    program = tmp_path / "program.py"
    program.write_text("def (:\n")
    assert doctor.report([str(program), str(tmp_path / "absent.py")]) == 1
    shown = capsys.readouterr().err
    assert "program.py" in shown and "absent.py" in shown
