"""Records Keras models as TensorFlow 1.15 saves them; run it with that TensorFlow.

    python tests/keras/record_saved_models.py

It writes recorded/saved_models/*, each with what the model computes in expected.npy.
"""

import os
import shutil

import numpy as np
import tensorflow as tf

L = tf.keras.layers

HERE = os.path.dirname(os.path.abspath(__file__))


class Own(tf.keras.Model):
    """A model of a program's own class, which has no description."""

    def __init__(self):
        super().__init__()
        self.dense = L.Dense(2)

    def call(self, inputs):
        return self.dense(inputs)


def main():
    tf.enable_eager_execution()
    tf.set_random_seed(3)
    x = np.linspace(-1.0, 1.0, 12, dtype="f").reshape(3, 4)
    made = tf.keras.Sequential([L.Dense(3, activation="tanh", input_shape=(4,)), L.Dense(2)])
    for name, model in (("described", made), ("own", Own())):
        folder = os.path.join(HERE, "recorded", "saved_models", name)
        shutil.rmtree(folder, ignore_errors=True)
        model.compile("adam", "mse")
        model.train_on_batch(x, np.ones((3, 2), "f"))
        model.save(folder, save_format="tf")
        np.save(os.path.join(folder, "expected.npy"), model.predict(x))


if __name__ == "__main__":
    main()
