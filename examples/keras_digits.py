"""tf.keras: a Sequential model with callbacks, then a functional model with two outputs.

penstock run examples/keras_digits.py --epochs 5
"""

import os
import tempfile

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.examples.tutorials.mnist import input_data

flags = tf.app.flags
flags.DEFINE_integer("epochs", 5, "how often training reads all digits, at most")
flags.DEFINE_integer("batch_size", 50, "digits per step")
flags.DEFINE_string("data_dir", "MNIST_data", "folder of MNIST's files; without: bundled digits")
flags.DEFINE_string("logdir", "", "folder for weights and summaries (default: a new one)")
FLAGS = flags.FLAGS


def sequential_model():
    model = keras.Sequential(
        [
            keras.layers.Conv2D(8, 5, activation="relu", input_shape=(28, 28, 1)),
            keras.layers.MaxPooling2D(),
            keras.layers.Flatten(),
            keras.layers.Dropout(0.2),
            keras.layers.Dense(10, activation="softmax"),
        ]
    )
    model.compile("adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
    return model


def functional_model():
    """Reads a digit, and says whether it is even, from one hidden layer."""
    image = keras.Input(shape=(28, 28, 1), name="image")
    hidden = keras.layers.Dense(64, activation="relu")(keras.layers.Flatten()(image))
    digit = keras.layers.Dense(10, activation="softmax", name="digit")(hidden)
    even = keras.layers.Dense(1, activation="sigmoid", name="even")(hidden)
    model = keras.Model(inputs=image, outputs=[digit, even])
    model.compile(
        optimizer=keras.optimizers.Adam(lr=2e-3),
        loss={"digit": "sparse_categorical_crossentropy", "even": "binary_crossentropy"},
        loss_weights={"digit": 1.0, "even": 0.5},
        metrics=["accuracy"],
    )
    return model


def train_sequential(digits, folder):
    model = sequential_model()
    model.summary()
    weights = os.path.join(folder, "weights")
    report = keras.callbacks.LambdaCallback(
        on_epoch_end=lambda epoch, logs: print("epoch %d: loss %.4f" % (epoch + 1, logs["loss"]))
    )
    callbacks = [
        keras.callbacks.ModelCheckpoint(weights, save_weights_only=True, save_best_only=True),
        keras.callbacks.EarlyStopping(patience=2),
        keras.callbacks.ReduceLROnPlateau(patience=1),
        keras.callbacks.TensorBoard(folder),
        report,
    ]
    model.fit(
        digits.train.images,
        digits.train.labels,
        batch_size=FLAGS.batch_size,
        epochs=FLAGS.epochs,
        validation_data=(digits.validation.images, digits.validation.labels),
        callbacks=callbacks,
        verbose=0,
    )
    best = sequential_model()
    best.load_weights(weights)
    _, accuracy = best.evaluate(digits.test.images, digits.test.labels, verbose=0)
    print("sequential: test accuracy %.3f" % accuracy)


def train_functional(digits):
    model = functional_model()
    labels = digits.train.labels
    model.fit(
        digits.train.images,
        {"digit": labels, "even": labels % 2 == 0},
        batch_size=FLAGS.batch_size,
        epochs=FLAGS.epochs,
        verbose=0,
    )
    digit, even = model.predict(digits.test.images)
    right = np.mean(np.argmax(digit, axis=1) == digits.test.labels)
    right_even = np.mean((even[:, 0] > 0.5) == (digits.test.labels % 2 == 0))
    print("functional: digits right %.3f, even or odd right %.3f" % (right, right_even))


def main(_):
    tf.set_random_seed(1)
    np.random.seed(1)  # fit shuffles by NumPy
    digits = input_data.read_data_sets(FLAGS.data_dir, reshape=False)
    train_sequential(digits, FLAGS.logdir or tempfile.mkdtemp())
    train_functional(digits)


if __name__ == "__main__":
    tf.app.run()
