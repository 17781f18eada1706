"""Input by queue runners: TFRecords, parsed and shuffled into batches of 32.

A step takes more records than the queue holds, so that what was filled up before it does not
count. Records are read and parsed one by one, as most programs do it, or 32 at a time.
"""

import atexit
import os
import tempfile
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.model import Builder, Model, Program
from benchmarks.training import open_session, threads

BATCH = 32
BATCHES = 128  # of a step
RECORDS = 4096
FEATURES = 16
CAPACITY = 2000


def write_records(tf: Any) -> str:
    """A file of examples whose label is the sum of their features."""
    values = np.random.default_rng(0).integers(0, 9, (RECORDS, FEATURES))
    path = os.path.join(tempfile.gettempdir(), f"penstock-queue-input-{os.getpid()}.tfrecords")
    with tf.python_io.TFRecordWriter(path) as writer:
        for row in values:
            floats = tf.train.Feature(float_list=tf.train.FloatList(value=row))
            label = tf.train.Feature(int64_list=tf.train.Int64List(value=[int(row.sum())]))
            features = tf.train.Features(feature={"features": floats, "label": label})
            writer.write(tf.train.Example(features=features).SerializeToString())
    atexit.register(os.remove, path)  # runners read it until the process ends
    return path


def parse(tf: Any, parser: Callable[..., Any], serialized: Any) -> list[Any]:
    found = parser(
        serialized,
        features={
            "features": tf.FixedLenFeature([FEATURES], tf.float32),
            "label": tf.FixedLenFeature([], tf.int64),
        },
    )
    return [found["features"], found["label"]]


def batches(tf: Any, path: str, *, several: bool) -> Any:
    reader = tf.TFRecordReader()
    files = tf.train.string_input_producer([path])
    if several:
        tensors = parse(tf, tf.parse_example, reader.read_up_to(files, BATCH)[1])
    else:
        tensors = parse(tf, tf.parse_single_example, reader.read(files)[1])
    return tf.train.shuffle_batch(
        tensors,
        BATCH,
        capacity=CAPACITY,
        min_after_dequeue=CAPACITY // 2,
        num_threads=threads(),
        enqueue_many=several,
    )


def build_session(tf: Any, *, several: bool) -> Program:
    batch = batches(tf, write_records(tf), several=several)
    session = open_session(tf)
    tf.train.start_queue_runners(session)

    def agreement() -> float:
        features, labels = session.run(batch)
        return float(np.mean(features.sum(1) == labels))

    def step() -> None:
        for _ in range(BATCHES):
            session.run(batch)

    return Program(step, agreement)


def _builders(*, several: bool) -> dict[str, Builder]:
    def build(tf: Any, variant: str) -> Program:
        return build_session(tf, several=several)

    return {"penstock": build, "tensorflow": build}


ONE_BY_ONE = Model(
    title="4,096 TFRecords by queue runners, one at a time, in shuffled batches of 32",
    steps=8,
    builders=_builders(several=False),
)

SEVERAL = Model(
    title="4,096 TFRecords by queue runners, 32 at a time, in shuffled batches of 32",
    steps=8,
    builders=_builders(several=True),
)
