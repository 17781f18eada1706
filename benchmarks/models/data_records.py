"""Input pipelines of TFRecord files: 32 records read, parsed, shuffled and put into a batch.

A record has a label, 28 numbers, a name, and up to five ids. One row parses record by record
(`parse_single_example`, then shuffle and batch), the other one whole batches (`parse_example`).
"""

import atexit
import os
import shutil
import tempfile
from typing import Any

import numpy as np

from benchmarks.model import Model, Program, sessions
from benchmarks.training import open_session

RECORDS, BATCH, BUFFER = 10_000, 32, 1_000


def write_records(tf: Any, folder: str) -> str:
    rng = np.random.default_rng(4)
    path = os.path.join(folder, "records")
    with tf.python_io.TFRecordWriter(path) as writer:
        for number in range(RECORDS):
            example = tf.train.Example()
            feature = example.features.feature
            feature["label"].int64_list.value.append(int(rng.integers(10)))
            feature["image"].float_list.value.extend(rng.random(28).tolist())
            feature["name"].bytes_list.value.append(b"record %d" % number)
            count = int(rng.integers(1, 6))
            feature["ids"].int64_list.value.extend(rng.integers(0, 10_000, count).tolist())
            writer.write(example.SerializeToString())
    return path


def features(tf: Any) -> dict[str, Any]:
    return {
        "label": tf.FixedLenFeature([], tf.int64),
        "image": tf.FixedLenFeature([28], tf.float32),
        "name": tf.FixedLenFeature([], tf.string),
        "ids": tf.VarLenFeature(tf.int64),
    }


def one_by_one(tf: Any, records: Any) -> Any:
    parsed = records.map(lambda one: tf.parse_single_example(one, features(tf)))
    return parsed.shuffle(BUFFER, seed=1).batch(BATCH)


def batch_by_batch(tf: Any, records: Any) -> Any:
    batches = records.shuffle(BUFFER, seed=1).batch(BATCH)
    return batches.map(lambda batch: tf.parse_example(batch, features(tf)))


def build(tf: Any, pipeline: Any) -> Program:
    folder = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, folder)  # the pipeline reads it until the process ends
    records = tf.data.TFRecordDataset(write_records(tf, folder))
    batch = pipeline(tf, records.repeat()).make_one_shot_iterator().get_next()
    whole = pipeline(tf, records).map(
        lambda parsed: (
            tf.reduce_sum(parsed["image"])
            + tf.cast(
                tf.reduce_sum(parsed["label"]) + tf.reduce_sum(parsed["ids"].values), tf.float32
            )
        )
    )
    total = whole.reduce(0.0, lambda sum, each: sum + each)
    session = open_session(tf)
    return Program(lambda: session.run(batch), lambda: float(session.run(total)))


def _model(title: str, pipeline: Any) -> Model:
    return Model(
        title=f"{BATCH} records: {title}",
        steps=200,
        check_steps=0,
        builders=sessions(lambda tf: build(tf, pipeline)),
    )


ONE_BY_ONE = _model("parse_single_example, shuffle, batch", one_by_one)
BATCH_BY_BATCH = _model("shuffle, batch, parse_example", batch_by_batch)
