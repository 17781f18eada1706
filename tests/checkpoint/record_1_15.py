"""Records checkpoints of TensorFlow 1.15: TF_ENV/bin/python tests/checkpoint/record_1_15.py

TF_ENV is an environment with tensorflow==1.15.5 (Python 3.7), outside the repository.
"""

from __future__ import annotations

import pathlib
import shutil
import sys
import types

import tensorflow as tf

# values.py needs only the type, which this TensorFlow brings itself.
sys.modules["ml_dtypes"] = types.SimpleNamespace(bfloat16=tf.bfloat16.as_numpy_dtype)
sys.path.insert(0, str(pathlib.Path(__file__).parent))
import values  # noqa: E402 - found on the path above

DATA = pathlib.Path(__file__).with_name("data_1_15")
# This TensorFlow has no kernel that assigns these.
WITHOUT_VARIABLES = ("uint32", "uint64")


def _save(name, **options):
    config = tf.ConfigProto(device_count={"CPU": 2})
    with tf.Session(config=config) as session:
        session.run(tf.global_variables_initializer())
        saver = tf.train.Saver(**options)
        saver.save(session, str(DATA / name), write_meta_graph=False, write_state=False)
    tf.reset_default_graph()


def _make(names, use_resource):
    arrays = values.plain()
    for name in names:
        array = arrays[name]
        dtype = tf.string if array.dtype == object else tf.as_dtype(array.dtype)
        tf.Variable(tf.constant(array, dtype), name=name, use_resource=use_resource)


def _make_partitioned():
    for name, (shape, parts) in values.PARTITIONED.items():
        tf.get_variable(
            name,
            initializer=tf.constant(values.number("float32", shape)),
            partitioner=tf.fixed_size_partitioner(parts),
        )


def _make_on_two_devices():
    for number, device in enumerate(("/cpu:0", "/cpu:1")):
        with tf.device(device):
            tf.Variable(values.number("float32", (3, 2)) + number, name=f"on_{number}")
            tf.Variable([["text"], [""]], name=f"text_{number}")


def _save_objects(name):
    root = tf.train.Checkpoint(
        weights=tf.Variable(values.number("float32", (3, 2)), use_resource=True, name="w"),
        inner=tf.train.Checkpoint(scale=tf.Variable(1.5, use_resource=True, name="s")),
    )
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        root.write(str(DATA / name), session=session)
    tf.reset_default_graph()


def main():
    tf.logging.set_verbosity(tf.logging.ERROR)
    shutil.rmtree(str(DATA), ignore_errors=True)
    DATA.mkdir()
    named = [name for name in values.plain() if name.split("/")[0] not in WITHOUT_VARIABLES]
    strings = [name for name in named if name.startswith("string")]
    _make(named, use_resource=False)
    _save("plain")
    _make([name for name in named if name not in strings], use_resource=True)
    _save("resource")
    _make([name for name in named if "bfloat16" not in name], use_resource=False)
    _save("plain_v1", write_version=tf.train.SaverDef.V1)
    _make_partitioned()
    _save("partitioned")
    _make_partitioned()
    _save("partitioned_v1", write_version=tf.train.SaverDef.V1)
    _make_on_two_devices()
    _save("sharded", sharded=True)
    _make_on_two_devices()
    _save("sharded_v1", sharded=True, write_version=tf.train.SaverDef.V1)
    _save_objects("objects")


if __name__ == "__main__":
    main()
