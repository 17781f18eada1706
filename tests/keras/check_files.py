"""Checks that TensorFlow's Keras reads Penstock's HDF5 files, in two steps:

python tests/keras/check_files.py write FOLDER              # with Penstock and h5py
TF_ENV/bin/python tests/keras/check_files.py read FOLDER    # see record.py
"""

import os
import sys
from pathlib import Path

import numpy as np

NAMES = ("dense", "convolutional", "lstm", "functional", "gru")


def main(action, folder):
    sys.path.insert(0, str(Path(__file__).parent))
    import cases

    if action == "read":
        os.environ["TF_USE_LEGACY_KERAS"] = "1"
        import tensorflow.compat.v1 as tf

        tf.disable_v2_behavior()
    else:
        import penstock as tf
    for name in NAMES:
        tf.keras.backend.clear_session()
        path = str(Path(folder) / f"{name}.h5")
        model, x, y = cases.CASES[name](tf)
        if action == "write":
            cases.trained(model, x, y)
            model.save(path)
            np.savez(path + ".npz", *tf.nest.flatten(model.predict(x)))
            continue
        tf.keras.backend.clear_session()
        model = tf.keras.models.load_model(path)
        with np.load(path + ".npz") as expected:
            for found, key in zip(tf.nest.flatten(model.predict(x)), expected.files, strict=True):
                np.testing.assert_allclose(found, expected[key], rtol=1e-4, atol=1e-5)
        model.train_on_batch(x, y)
        steps = tf.keras.backend.get_value(model.optimizer.iterations)
        assert steps == cases.STEPS + 1, steps
        print(name, "is read")


if __name__ == "__main__":
    main(*sys.argv[1:])
