"""`penstock saved_model`: TensorFlow's saved_model_cli."""

import numpy as np
import pytest

import penstock as tf
from penstock.cli import main
from penstock.eager.context import eager_mode
from penstock.tools import freeze_graph, saved_model_cli
from penstock.tools.saved_model_inputs import evaluate


@pytest.fixture
def model(tmp_path):
    folder = str(tmp_path / "model")
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None, 2], name="x")
        y = tf.multiply(x, tf.Variable(3.0, name="v"), name="y")
        session.run(tf.global_variables_initializer())
        tf.saved_model.simple_save(session, folder, {"x": x}, {"y": y})
    return folder


def test_show(model, capsys):
    assert main(["saved_model", "show", "--dir", model]) == 0
    assert capsys.readouterr().out.splitlines()[1:] == ["serve"]
    main(["saved_model", "show", "--dir", model, "--tag_set", "serve"])
    assert 'SignatureDef key: "serving_default"' in capsys.readouterr().out
    main(["saved_model", "show", "--dir", model, "--all"])
    shown = capsys.readouterr().out
    assert "MetaGraphDef with tag-set: 'serve' contains the following SignatureDefs:" in shown
    assert "    inputs['x'] tensor_info:\n        dtype: DT_FLOAT\n        shape: (-1, 2)" in shown
    assert "  Method name is: tensorflow/serving/predict\n" in shown


def test_run(model, tmp_path, capsys):
    command = ["saved_model", "run", "--dir", model, "--tag_set", "serve"]
    command += ["--signature_def", "serving_default"]
    out = str(tmp_path / "out")
    assert main([*command, "--input_exprs", "x=np.ones((1, 2)) * 2", "--outdir", out]) == 0
    assert "Result for output key y:\n[[6. 6.]]" in capsys.readouterr().out
    assert np.load(f"{out}/y.npy").tolist() == [[6.0, 6.0]]
    again = [*command, "--inputs", f"x={out}/y.npy", "--outdir", out]
    assert main(again) == 1
    assert "already exists" in capsys.readouterr().err
    assert main([*again, "--overwrite"]) == 0
    assert np.load(f"{out}/y.npy").tolist() == [[18.0, 18.0]]
    assert main(command) == 1
    assert main([*command, "--input_exprs", "z=1"]) == 1
    assert '"z" is not a valid input key. Please choose from "x"' in capsys.readouterr().err


def test_scan(model, capsys):
    main(["saved_model", "scan", "--dir", model])
    assert "does not contain blacklisted ops" in capsys.readouterr().out
    with tf.Graph().as_default() as graph:
        tf.read_file("x")
    saved_model_cli.scan_meta_graph_def(tf.train.export_meta_graph(graph=graph))
    assert "contains the following blacklisted ops: {'ReadFile'}" in capsys.readouterr().out


def test_inputs_from_files(tmp_path):
    several = str(tmp_path / "several.npz")
    np.savez(several, a=np.arange(2), b=np.arange(3))
    load = saved_model_cli.load_inputs_from_input_arg_string
    assert load(f"x={several}[b]", "", "")["x"].tolist() == [0, 1, 2]
    with pytest.raises(RuntimeError, match="more than one"):
        load(f"x={several}", "", "")
    with pytest.raises(RuntimeError, match='name "c"'):
        load(f"x={several}[c]", "", "")
    objects = str(tmp_path / "objects.npy")
    np.save(objects, np.array([{}], dtype=object), allow_pickle=True)
    with pytest.raises(RuntimeError, match=r"objects\.npy is no \.npy or \.npz file of numbers"):
        load(f"x={objects}", "", "")
    with pytest.raises(RuntimeError, match="format is incorrect"):
        load("x:file", "", "")


def test_examples():
    found = saved_model_cli.preprocess_input_examples_arg_string('x=[{"a": [1.5], "b": ["t"]}]')
    message = tf.train.Example.FromString(found["x"][0])
    assert message.features.feature["a"].float_list.value[:] == [1.5]
    assert message.features.feature["b"].bytes_list.value[:] == [b"t"]
    with pytest.raises(ValueError, match="must be a list"):
        saved_model_cli.preprocess_input_examples_arg_string('x={"a": [1.5]}')


def test_expressions_compute_and_nothing_else():
    assert evaluate("np.zeros([2, 2], dtype=np.int32).reshape(4)").tolist() == [0, 0, 0, 0]
    assert evaluate("[1, -2.5, 'a', (2 ** 3,)]") == [1, -2.5, "a", (8,)]
    for text in (
        "__import__('os').system('true')",
        "np.load('file')",
        "open('file')",
        "np.ones.__globals__",
        "().__class__",
        "[x for x in (1, 2)]",
        "lambda: 1",
    ):
        with pytest.raises(RuntimeError, match="not allowed"):
            evaluate(text)


def test_a_saved_model_is_frozen(model, tmp_path):
    arguments = [None, "", True, None, "y", None, None, str(tmp_path / "frozen.pb"), False, ""]
    frozen = freeze_graph.freeze_graph(*arguments, input_saved_model_dir=model)
    assert "VariableV2" not in {node.op for node in frozen.node}
    assert tf.GraphDef.FromString((tmp_path / "frozen.pb").read_bytes()) == frozen


def test_show_functions(tmp_path, capsys):
    class Model(tf.Module):
        @tf.function
        def __call__(self, y, c=7):
            return y + 2 * c

        @tf.function(input_signature=[tf.TensorSpec([2], tf.float32)])
        def named(self, x):
            return x

    folder = str(tmp_path / "model")
    with eager_mode():
        model = Model()
        model(tf.constant(5))
        tf.saved_model.save(model, folder)
    main(["saved_model", "show", "--dir", folder, "--all"])
    shown = capsys.readouterr().out.partition("\nDefined Functions:")[2]
    assert shown == (
        "\n  Function Name: '__call__'\n    Option #1\n      Callable with:\n"
        "        Argument #1\n          y: TensorSpec(shape=(), dtype=tf.int32, name='y')\n"
        "        Argument #2\n          DType: int\n          Value: 7\n"
        "\n  Function Name: 'named'\n    Option #1\n      Callable with:\n"
        "        Argument #1\n          x: TensorSpec(shape=(2,), dtype=tf.float32, name='x')\n"
    )
