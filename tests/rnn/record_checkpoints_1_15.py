"""Records RNN checkpoints of TensorFlow 1.15.

TF_ENV/bin/python tests/rnn/record_checkpoints_1_15.py, where TF_ENV is an environment with
tensorflow==1.15.5 (Python 3.7), outside the repository.
"""

from __future__ import annotations

import json
import pathlib
import shutil
import sys

import numpy as np
import tensorflow as tf

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import checkpointed_networks as networks

DATA = pathlib.Path(__file__).with_name("checkpoints_1_15")


def _values(variable, number):
    """Values that differ from unit to unit, so that a wrong layout shows."""
    size = int(np.prod(variable.shape.as_list()))
    values = np.cos(np.arange(size) * 0.37 + number) * 0.5
    return values.reshape(variable.shape.as_list()).astype(np.float32)


def _record(name):
    with tf.Graph().as_default(), tf.Session() as session:
        result = networks.parts(networks.NETWORKS[name](tf, tf.constant(networks.inputs())))
        session.run(tf.global_variables_initializer())
        for number, variable in enumerate(tf.global_variables()):
            variable.load(_values(variable, number), session)
        saver = tf.train.Saver()
        saver.save(session, str(DATA / name), write_meta_graph=False, write_state=False)
        return [value.tolist() for value in session.run(result)]


def main():
    tf.logging.set_verbosity(tf.logging.ERROR)
    shutil.rmtree(str(DATA), ignore_errors=True)
    DATA.mkdir()
    results = {name: _record(name) for name in networks.NETWORKS}
    (DATA / "results.json").write_text(json.dumps(results, indent=0))


if __name__ == "__main__":
    main()
