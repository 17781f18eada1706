"""Has a real TensorFlow read the TFRecord files that Penstock writes.

    python tests/platform/check_tfrecords.py TF_ENV/bin/python

TF_ENV is an environment with TensorFlow, 1.15 or any later one. Penstock writes the files in this
process; TensorFlow reads them in another, which runs this script with `--read`: by its iterator,
and by a TFRecordReader in a session.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from typing import Any

if __name__ == "__main__":
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))

from tests.platform.record_tfrecords import FILES, RECORDS


def write(folder: str) -> None:
    """Writes a file of each kind."""
    import penstock as tf

    for name, options in FILES.items():
        path = os.path.join(folder, name)
        with tf.python_io.TFRecordWriter(path, tf.python_io.TFRecordOptions(**options)) as writer:
            for record in RECORDS:
                writer.write(record)


def read(folder: str) -> bool:
    """Reads the files; whether all records are there."""
    import tensorflow.compat.v1 as tf

    tf.disable_v2_behavior()
    tf.logging.set_verbosity(tf.logging.ERROR)
    results = []
    for name, arguments in FILES.items():
        path, options = os.path.join(folder, name), tf.io.TFRecordOptions(**arguments)
        iterated = list(tf.io.tf_record_iterator(path, options))
        kept = "window_bits" not in arguments  # a node has no attr for those
        results.append(iterated == RECORDS and (not kept or _from_reader(tf, path, options)))
        print("ok" if results[-1] else "FAILED", name)
    print(f"TensorFlow {tf.VERSION} reads {sum(results)} of {len(results)} files")
    return all(results)


def _from_reader(tf: Any, path: str, options: Any) -> bool:
    with tf.Graph().as_default(), tf.Session() as session:
        files = tf.FIFOQueue(1, tf.string, shapes=[[]])
        value = tf.TFRecordReader(options=options).read(files)[1]
        session.run(files.enqueue(path))
        return [session.run(value) for _ in RECORDS] == RECORDS


def main(arguments: list[str]) -> int:
    if arguments[:1] == ["--read"]:
        return 0 if read(arguments[1]) else 1
    with tempfile.TemporaryDirectory() as folder:
        write(folder)
        return subprocess.call([arguments[0], os.path.abspath(__file__), "--read", folder])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
