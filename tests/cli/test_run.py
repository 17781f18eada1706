"""`penstock run`: programs that import tensorflow, as processes of their own."""

import subprocess
import sys
import textwrap

import pytest


@pytest.fixture
def run(tmp_path):
    def run(program, *arguments, module="penstock"):
        script = tmp_path / "program.py"
        script.write_text(textwrap.dedent(program))
        command = [sys.executable, "-m", module, "run", str(script), *arguments]
        return subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=120)

    return run


def test_an_unmodified_program(run, tmp_path):
    (tmp_path / "beside.py").write_text("import tensorflow as tf\nTWO = tf.constant(2.0)\n")
    result = run(
        """
        import sys
        import numpy as np
        import tensorflow as tf
        from tensorflow.examples.tutorials.mnist import input_data
        from tensorflow import nn
        import tensorflow.train as train
        import beside

        assert tf.__version__.startswith("1.15") and int(tf.__version__.split(".")[0]) == 1
        assert __name__ == "__main__" and sys.argv[1:] == ["--flag", "3"]
        x = np.zeros(3, np.float) + np.int(1)
        with tf.Session() as sess:
            print(sess.run(nn.relu(tf.constant(x)) * tf.cast(beside.TWO, tf.float64)))
        print(train.AdamOptimizer is tf.train.AdamOptimizer, tf.nn.relu is nn.relu)
        """,
        "--flag",
        "3",
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout == "[2. 2. 2.]\nTrue True\n"


def test_missing_symbols_are_named(run):
    result = run(
        """
        import tensorflow as tf
        print(hasattr(tf, "no_such_thing"))
        tf.another_missing_thing()
        """
    )
    assert result.returncode == 1
    assert result.stdout == "False\n"
    assert "penstock has no tf.another_missing_thing yet" in result.stderr
    assert "met what is not there yet: tf.another_missing_thing, tf.no_such_thing" in result.stderr


def test_missing_modules_are_named(run):
    result = run("import tensorflow.contrib.nowhere as nowhere\n")
    assert result.returncode == 1
    assert "penstock has no module 'tensorflow.contrib" in result.stderr


def test_python_2_is_pointed_out(run):
    result = run("import tensorflow as tf\nprint 'hello'\n")
    assert result.returncode == 1
    assert "program.py:2" in result.stderr
    assert "print(...) with parentheses" in result.stderr


def test_exit_statuses(run):
    assert run("import sys; sys.exit(3)").returncode == 3
    assert run("pass").returncode == 0
    failed = subprocess.run(
        [sys.executable, "-m", "penstock", "run", "nowhere.py"], capture_output=True, text=True
    )
    assert failed.returncode == 2 and "no file 'nowhere.py'" in failed.stderr


def test_help():
    shown = subprocess.run(
        [sys.executable, "-m", "penstock", "--help"], capture_output=True, text=True
    )
    assert shown.returncode == 0 and "run an unmodified TensorFlow 1.x program" in shown.stdout
