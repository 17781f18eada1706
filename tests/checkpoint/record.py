"""Records checkpoints that real TensorFlow writes: TF_ENV/bin/python tests/checkpoint/record.py

TF_ENV is an environment with tensorflow-cpu==2.21.0, outside the repository.
"""

from __future__ import annotations

import pathlib
import shutil
import sys

import tensorflow.compat.v1 as tf

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import values

DATA = pathlib.Path(__file__).with_name("data")


def _save(name: str, **options) -> None:
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        saver = tf.train.Saver(**options)
        saver.save(session, str(DATA / name), write_meta_graph=False, write_state=False)
    tf.reset_default_graph()


def _make(arrays) -> None:
    for name, array in arrays.items():
        dtype = tf.string if array.dtype == object else tf.as_dtype(array.dtype)
        tf.Variable(tf.constant(array, dtype), name=name, use_resource=False)


def _save_quantized(name: str) -> None:
    """By the operation itself: there are no variables of some of these types."""
    tensors = [
        tf.bitcast(tf.constant(values.number(carrier, (3, 2))), tf.as_dtype(dtype))
        for dtype, carrier in values.QUANTIZED.items()
    ]
    save = tf.raw_ops.SaveV2(
        prefix=str(DATA / name),
        tensor_names=list(values.QUANTIZED),
        shape_and_slices=[""] * len(tensors),
        tensors=tensors,
    )
    with tf.Session() as session:
        session.run(save)
    tf.reset_default_graph()


def _make_partitioned() -> None:
    for name, (shape, parts) in values.PARTITIONED.items():
        tf.get_variable(
            name,
            initializer=tf.constant(values.number("float32", shape)),
            partitioner=tf.fixed_size_partitioner(parts),
        )


def main() -> None:
    tf.disable_v2_behavior()
    shutil.rmtree(DATA, ignore_errors=True)
    DATA.mkdir()
    _make(values.plain())
    _save("plain")
    _save_quantized("quantized")
    _make_partitioned()
    _save("partitioned")
    _make(values.many())
    _save("many")
    _make({name: array for name, array in values.plain().items() if _fits_v1(name)})
    _save("plain_v1", write_version=tf.train.SaverDef.V1)
    _make_partitioned()
    _save("partitioned_v1", write_version=tf.train.SaverDef.V1)


def _fits_v1(name: str) -> bool:
    """The old format never learnt about the types that came later."""
    return name.partition("/")[0] in (
        "float32 float64 int8 int16 int32 int64 uint8 uint16 bool complex64 complex128 string "
        "float16"
    ).split() and not name.endswith("/empty")


if __name__ == "__main__":
    main()
