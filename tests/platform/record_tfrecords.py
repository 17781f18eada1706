"""Writes the TFRecord files that test_tf_record.py reads, with real TensorFlow.

Run with an interpreter that has TensorFlow: `python tests/platform/record_tfrecords.py`.
"""

import json
import pathlib
import zlib

RECORDED = pathlib.Path(__file__).parent / "recorded"

RECORDS = [b"", b"a", b"penstock", bytes(range(256)), b"\x00" * 1000, b"longer " * 500]

# Name of the file: the arguments of TFRecordOptions.
FILES = {
    "plain": {},
    "gzip": {"compression_type": "GZIP"},
    "zlib": {"compression_type": "ZLIB"},
    "level": {"compression_type": "ZLIB", "compression_level": 1},
    "window": {"compression_type": "ZLIB", "window_bits": 9},
    "memory": {"compression_type": "ZLIB", "mem_level": 1},
    "huffman": {"compression_type": "ZLIB", "compression_strategy": zlib.Z_HUFFMAN_ONLY},
    "flushed": {
        "compression_type": "ZLIB",
        "flush_mode": zlib.Z_FULL_FLUSH,
        "input_buffer_size": 600,
    },
}


def main() -> None:
    import tensorflow.compat.v1 as tf

    RECORDED.mkdir(exist_ok=True)
    for name, options in FILES.items():
        path = RECORDED / f"{name}.tfrecord"
        with tf.io.TFRecordWriter(str(path), tf.io.TFRecordOptions(**options)) as writer:
            for record in RECORDS:
                writer.write(record)
    sizes = {name: (RECORDED / f"{name}.tfrecord").stat().st_size for name in FILES}
    print(json.dumps({"tensorflow": tf.version.VERSION, "bytes": sizes}))


if __name__ == "__main__":
    main()
