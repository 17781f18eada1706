"""Records a checkpoint that real TensorFlow writes: TF_ENV/bin/python tests/tracking/record.py

TF_ENV is an environment with tensorflow-cpu==2.21.0, outside the repository.
"""

from __future__ import annotations

import json
import pathlib
import sys

import tensorflow.compat.v1 as tf

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import object_program

DATA = pathlib.Path(__file__).with_name("data")


def main() -> None:
    tf.disable_v2_behavior()
    checkpoint, made = object_program.build(tf)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(made["train"])
        checkpoint.write(str(DATA / "objects"), session=session)
        values = [value.tolist() for value in session.run(object_program.state(checkpoint, made))]
    (DATA / "objects.json").write_text(json.dumps(values))


if __name__ == "__main__":
    main()
