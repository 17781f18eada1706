"""Records what real TensorFlow makes of images: TF_ENV/bin/python tests/summary/record.py

TF_ENV is an environment with tensorflow-cpu==2.21.0, outside the repository.
"""

from __future__ import annotations

import os
import pathlib
import shutil
import sys

import tensorflow.compat.v1 as tf

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import images

DATA = pathlib.Path(__file__).with_name("data")


def main() -> None:
    tf.disable_v2_behavior()
    shutil.rmtree(DATA, ignore_errors=True)
    DATA.mkdir()
    os.environ["HOSTNAME"] = "recorded"
    writer = tf.summary.FileWriter(str(DATA))
    with tf.Session() as session:
        for step, (name, array) in enumerate(images.IMAGES.items()):
            summary = tf.summary.image(name, tf.constant(array), max_outputs=2)
            writer.add_summary(session.run(summary), step)
    writer.close()
    (made,) = DATA.iterdir()
    made.rename(DATA / "images.tfevents")


if __name__ == "__main__":
    main()
