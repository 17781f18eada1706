"""Lets a real TensorFlow read what Penstock writes: checkpoints, graphs, models, event files.

    python tools/check_with_tensorflow.py TF_ENV/bin/python

TF_ENV is an environment with tensorflow-cpu==2.21.0. Penstock writes the files in this process;
TensorFlow reads them in another, which runs this script with `--read`.
"""

from __future__ import annotations

import argparse
import glob
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from typing import Any

import numpy as np

TYPES = (
    "float16 float32 float64 int8 int16 int32 int64 uint8 uint16 uint32 uint64 bool complex64 "
    "complex128"
).split()


def _value(dtype: str) -> np.ndarray:
    return (np.arange(6).reshape(3, 2) % 2).astype(dtype)


# What Penstock writes -------------------------------------------------------------------------


def _model(tf: Any) -> dict[str, Any]:
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    w = tf.get_variable("w", initializer=tf.constant([[1.0, 2.0], [3.0, 4.0]]))
    b = tf.get_variable("b", initializer=tf.constant([0.5, -0.5]), use_resource=True)
    parts = tf.get_variable(
        "parts",
        initializer=tf.constant(np.arange(10, dtype=np.float32).reshape(5, 2)),
        partitioner=tf.fixed_size_partitioner(2),
    )
    looped = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * 2), [0, x])[1]
    y = tf.add(tf.matmul(looped, w), b + tf.reduce_sum(parts), name="y")
    return {"x": x, "y": y}


def write(directory: str) -> None:
    """Writes one file, or set of files, of each kind."""
    import penstock as tf

    path = os.path.join
    with tf.Graph().as_default(), tf.Session() as session:
        for dtype in TYPES:
            tf.Variable(_value(dtype), name=dtype)
        tf.Variable(tf.constant(_value("float32"), tf.bfloat16), name="bfloat16")
        tf.Variable([["a", "", "Grüße"]], name="string")
        session.run(tf.global_variables_initializer())
        tf.train.Saver().save(session, path(directory, "types"), write_state=False)
        old = [v for v in tf.global_variables() if v.op.name in ("float32", "int64", "string")]
        old_saver = tf.train.Saver(old, write_version=tf.train.SaverDef.V1)
        old_saver.save(session, path(directory, "old"), write_state=False, write_meta_graph=False)
    with tf.Graph().as_default(), tf.Session() as session:
        tensors = _model(tf)
        session.run(tf.global_variables_initializer())
        tf.train.Saver().save(session, path(directory, "model"), global_step=7)
        tf.saved_model.simple_save(
            session, path(directory, "saved_model"), {"x": tensors["x"]}, {"y": tensors["y"]}
        )
        frozen = tf.graph_util.convert_variables_to_constants(
            session, session.graph.as_graph_def(), ["y"]
        )
        tf.train.write_graph(frozen, directory, "frozen.pb", as_text=False)
        tf.summary.scalar("mean", tf.reduce_mean(tensors["y"]))
        tf.summary.histogram("values", tensors["y"])
        tf.summary.image("image", tf.reshape(tensors["y"], [1, 1, 2, 1]))
        with tf.summary.FileWriter(path(directory, "events"), session.graph) as writer:
            writer.add_summary(session.run(tf.summary.merge_all(), {"x:0": [[1.0, 2.0]]}), 7)


# x * 8 times w, plus b and the sum of the parts.
EXPECTED = np.array([[56.0 + 45.5, 80.0 + 44.5]], np.float32)


# What TensorFlow reads ------------------------------------------------------------------------


def _types(tf: Any, directory: str) -> str:
    reader = tf.train.load_checkpoint(os.path.join(directory, "types"))
    for dtype in TYPES:
        value = reader.get_tensor(dtype)
        assert value.dtype == dtype, (dtype, value.dtype)
        assert (value == _value(dtype)).all(), dtype
    assert reader.get_variable_to_dtype_map()["bfloat16"] == tf.bfloat16
    assert reader.get_tensor("string").tolist() == [[b"a", b"", "Grüße".encode()]]
    return f"{len(reader.get_variable_to_shape_map())} variables of all types"


def _old(tf: Any, directory: str) -> str:
    reader = tf.train.load_checkpoint(os.path.join(directory, "old"))
    assert (reader.get_tensor("int64") == _value("int64")).all()
    return f"{len(reader.get_variable_to_shape_map())} variables in the first format"


def _run(tf: Any, session: Any, name: str = "y:0", x: str = "x:0") -> None:
    np.testing.assert_allclose(session.run(name, {x: [[1.0, 2.0]]}), EXPECTED, rtol=1e-6)


def _meta_graph(tf: Any, directory: str) -> str:
    prefix = tf.train.latest_checkpoint(directory)
    with tf.Graph().as_default() as graph, tf.Session() as session:
        saver = tf.train.import_meta_graph(f"{prefix}.meta")
        saver.restore(session, prefix)
        _run(tf, session)
        gradient = tf.gradients(graph.get_tensor_by_name("y:0"), tf.trainable_variables())
        session.run(gradient, {"x:0": [[1.0, 2.0]]})
        names = [variable.name for variable in tf.global_variables()]
    return f"{os.path.basename(prefix)} with {', '.join(names)}, and gradients through its loop"


def _saved_model(tf: Any, directory: str) -> str:
    with tf.Graph().as_default(), tf.Session() as session:
        message = tf.saved_model.loader.load(
            session, ["serve"], os.path.join(directory, "saved_model")
        )
        signature = message.signature_def["serving_default"]
        _run(tf, session, signature.outputs["y"].name, signature.inputs["x"].name)
    return f"signature of {signature.method_name}"


def _frozen(tf: Any, directory: str) -> str:
    with tf.Graph().as_default(), tf.Session() as session:
        graph_def = tf.GraphDef()
        with open(os.path.join(directory, "frozen.pb"), "rb") as file:
            graph_def.ParseFromString(file.read())
        tf.import_graph_def(graph_def, name="")
        _run(tf, session)
    return f"{len(graph_def.node)} nodes"


def _events(tf: Any, directory: str) -> str:
    (file,) = glob.glob(os.path.join(directory, "events", "*tfevents*"))
    events = list(tf.train.summary_iterator(file))
    assert events[0].file_version == "brain.Event:2"
    summary = next(event.summary for event in events if event.summary.value)
    values = {value.tag: value for value in summary.value}
    assert values["values"].histo.num == 2
    with tf.Session() as session:
        image = tf.image.decode_png(values["image/image/0"].image.encoded_image_string)
        assert session.run(image).shape == (1, 2, 1)
    kinds = [event.WhichOneof("what") for event in events]
    return f"{', '.join(kinds)}; tags {', '.join(sorted(values))}"


CHECKS: dict[str, Callable[[Any, str], str]] = {
    "checkpoint of all types": _types,
    "checkpoint of the first format": _old,
    "MetaGraphDef with checkpoint": _meta_graph,
    "SavedModel": _saved_model,
    "frozen graph": _frozen,
    "event file": _events,
}


def read(directory: str) -> int:
    """Reads everything with TensorFlow; returns how much failed."""
    import tensorflow.compat.v1 as tf

    tf.disable_v2_behavior()
    tf.logging.set_verbosity(tf.logging.ERROR)
    failed = 0
    for name, check in CHECKS.items():
        try:
            print(f"ok      {name}: {check(tf, directory)}")
        except Exception as error:
            failed += 1
            print(f"FAILED  {name}: {type(error).__name__}: {error}")
    print(f"TensorFlow {tf.__version__} read {len(CHECKS) - failed} of {len(CHECKS)}")
    return failed


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("python", nargs="?", help="a Python that has TensorFlow")
    parser.add_argument("--read", metavar="DIRECTORY", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.read:
        return read(arguments.read)
    if not arguments.python:
        parser.error("name a Python that has TensorFlow")
    with tempfile.TemporaryDirectory() as directory:
        write(directory)
        environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": ""}
        command = [arguments.python, "-W", "ignore", __file__, "--read", directory]
        return subprocess.run(command, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
