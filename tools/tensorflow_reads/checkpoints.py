"""Checkpoints of all kinds, written by Penstock and read by TensorFlow."""

from __future__ import annotations

import glob
import os
from typing import Any

import numpy as np

from tensorflow_reads import read_with

# The types of variables; of the first format, those that TensorFlow itself reads into arrays.
NUMBERS = (
    "float16 float32 float64 int8 int16 int32 int64 uint8 uint16 uint32 uint64 bool complex64 "
    "complex128"
).split()
OF_THE_FIRST_FORMAT = "float32 float64 int8 int16 int32 int64 uint8 string".split()
TEXTS = [[b"a", b"", "Grüße".encode()], [b"\x00\xff", b"x" * 300, b"z"]]
PARTS = np.arange(35, dtype=np.float32).reshape(7, 5)


def _value(dtype: str) -> np.ndarray:
    return (np.arange(6).reshape(3, 2) % 2).astype(dtype)


# What Penstock writes -------------------------------------------------------------------------


def write(folder: str) -> None:
    """Writes checkpoints of every type, in slices, in shards, of both formats, twice over."""
    import penstock as tf

    options = {"write_meta_graph": False, "write_state": False}

    def save(name: str, saver: Any = None) -> None:
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            saver = saver or tf.train.Saver()
            saver.save(session, os.path.join(folder, name), **options)

    with tf.Graph().as_default():
        for dtype in NUMBERS:
            tf.Variable(_value(dtype), name=dtype)
        tf.Variable(tf.constant(_value("float32"), tf.bfloat16), name="bfloat16")
        tf.Variable(TEXTS, name="string")
        save("types")
        old = [v for v in tf.global_variables() if v.op.name in OF_THE_FIRST_FORMAT]
        save("old", tf.train.Saver(old, write_version=tf.train.SaverDef.V1))
    with tf.Graph().as_default():
        _partitioned(tf)
        save("partitioned")
        save("partitioned_old", tf.train.Saver(write_version=tf.train.SaverDef.V1))
    with tf.Graph().as_default():
        for number in range(300):
            tf.Variable([float(number)] * 3, name=f"layer_{number}/weights", use_resource=True)
        save("many")
    with tf.Graph().as_default():
        with tf.device("/cpu:0"):
            tf.Variable(PARTS, name="here")
        tf.Variable(PARTS * 2, name="there")
        for _ in range(2):
            save("sharded", tf.train.Saver(sharded=True))
        with tf.train.AsyncSaver(name="background") as saver:
            save("background", saver)
    with tf.Graph().as_default(), tf.Session() as session:
        weights = tf.Variable(PARTS, name="w", use_resource=True)
        root = tf.train.Checkpoint(weights=weights)
        session.run(tf.global_variables_initializer())
        root.save(os.path.join(folder, "objects", "model"), session)


def _partitioned(tf: Any) -> None:
    partitioner = tf.fixed_size_partitioner(3)
    tf.get_variable("parts", initializer=tf.constant(PARTS), partitioner=partitioner)


# What TensorFlow reads ------------------------------------------------------------------------


def _reader(tf: Any, folder: str, name: str) -> Any:
    return tf.train.load_checkpoint(os.path.join(folder, name))


def _types(tf: Any, folder: str) -> str:
    reader = _reader(tf, folder, "types")
    for dtype in NUMBERS:
        value = reader.get_tensor(dtype)
        assert value.dtype == dtype, (dtype, value.dtype)
        assert (value == _value(dtype)).all(), dtype
    assert reader.get_variable_to_dtype_map()["bfloat16"] == tf.bfloat16
    assert reader.get_tensor("string").tolist() == TEXTS
    return f"{len(reader.get_variable_to_shape_map())} variables of all types"


def _old(tf: Any, folder: str) -> str:
    reader = _reader(tf, folder, "old")
    for dtype in OF_THE_FIRST_FORMAT[:-1]:
        assert (reader.get_tensor(dtype) == _value(dtype)).all(), dtype
    assert reader.get_tensor("string").tolist() == TEXTS
    return f"{len(reader.get_variable_to_shape_map())} variables"


def _restored_parts(tf: Any, folder: str, name: str) -> str:
    for partitioner in (None, tf.fixed_size_partitioner(2)):
        with tf.Graph().as_default(), tf.Session() as session:
            parts = tf.get_variable("parts", PARTS.shape, partitioner=partitioner)
            tf.train.Saver().restore(session, os.path.join(folder, name))
            np.testing.assert_array_equal(session.run(tf.convert_to_tensor(parts)), PARTS)
    return "three slices restored as one and as two"


def _many(tf: Any, folder: str) -> str:
    reader = _reader(tf, folder, "many")
    shapes = reader.get_variable_to_shape_map()
    for name in shapes:
        number = float(name.split("/")[0].rpartition("_")[2])
        assert reader.get_tensor(name).tolist() == [number] * 3, name
    assert len(shapes) == 300
    return f"{len(shapes)} variables"


def _two_places(tf: Any, folder: str, name: str) -> str:
    reader = _reader(tf, folder, name)
    np.testing.assert_array_equal(reader.get_tensor("here"), PARTS)
    np.testing.assert_array_equal(reader.get_tensor("there"), PARTS * 2)
    return f"{len(glob.glob(os.path.join(folder, name + '.data-*')))} data files"


def _objects(tf: Any, folder: str) -> str:
    path = tf.train.latest_checkpoint(os.path.join(folder, "objects"))
    with tf.Graph().as_default(), tf.Session() as session:
        weights = tf.Variable(tf.zeros(PARTS.shape), name="w", use_resource=True)
        status = tf.train.Checkpoint(weights=weights).restore(path)
        status.assert_existing_objects_matched().run_restore_ops(session)
        np.testing.assert_array_equal(session.run(weights), PARTS)
    return f"{os.path.basename(path)}, found by its state file"


READERS = {
    "checkpoint of all types": _types,
    "checkpoint of the first format": _old,
    "checkpoint with slices": lambda tf, folder: _restored_parts(tf, folder, "partitioned"),
    "slices of the first format": lambda tf, folder: _restored_parts(tf, folder, "partitioned_old"),
    "checkpoint of many variables": _many,
    "sharded checkpoint, saved twice": lambda tf, folder: _two_places(tf, folder, "sharded"),
    "checkpoint saved in the background": lambda tf, folder: _two_places(tf, folder, "background"),
    "checkpoint of objects": _objects,
}


def check(folder: str, python: str) -> list[str]:
    """Writes, lets the TensorFlow of `python` read, and returns a line for each kind."""
    write(folder)
    return read_with(python, __name__, folder)
