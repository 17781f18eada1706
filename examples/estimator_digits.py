"""tf.data and a custom tf.estimator.Estimator: train, evaluate, predict, export.

penstock run examples/estimator_digits.py --steps 300 --logdir model
"""

import os
import tempfile

import tensorflow as tf
from tensorflow.examples.tutorials.mnist import input_data

flags = tf.app.flags
flags.DEFINE_integer("steps", 300, "training steps in all; a second run of a folder goes on")
flags.DEFINE_integer("batch_size", 50, "digits per step")
flags.DEFINE_string("data_dir", "MNIST_data", "folder of MNIST's files; without: bundled digits")
flags.DEFINE_string("logdir", "", "folder of the model (default: a new one)")
FLAGS = flags.FLAGS


def model_fn(features, labels, mode, params):
    net = features["image"]
    for units in params["hidden"]:
        net = tf.layers.dense(net, units, activation=tf.nn.relu)
    logits = tf.layers.dense(net, 10)
    predictions = {"digit": tf.argmax(logits, 1), "probabilities": tf.nn.softmax(logits)}
    if mode == tf.estimator.ModeKeys.PREDICT:
        output = tf.estimator.export.PredictOutput(predictions)
        return tf.estimator.EstimatorSpec(
            mode, predictions=predictions, export_outputs={"serving_default": output}
        )

    loss = tf.losses.sparse_softmax_cross_entropy(labels=labels, logits=logits)
    if mode == tf.estimator.ModeKeys.EVAL:
        metrics = {"accuracy": tf.metrics.accuracy(labels, predictions["digit"])}
        return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops=metrics)

    optimizer = tf.train.AdamOptimizer(params["learning_rate"])
    train_op = optimizer.minimize(loss, global_step=tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def input_fn(digits, training):
    data = tf.data.Dataset.from_tensor_slices(
        ({"image": digits.images}, digits.labels.astype("int64"))
    )
    if training:
        data = data.shuffle(1000, seed=1).repeat()
    return data.batch(FLAGS.batch_size).prefetch(1)


def serving_input_fn():
    images = tf.placeholder(tf.float32, [None, 784], name="images")
    return tf.estimator.export.ServingInputReceiver({"image": images}, {"image": images})


def main(_):
    digits = input_data.read_data_sets(FLAGS.data_dir)
    folder = FLAGS.logdir or tempfile.mkdtemp()
    classifier = tf.estimator.Estimator(
        model_fn,
        model_dir=folder,
        config=tf.estimator.RunConfig(tf_random_seed=1, save_checkpoints_steps=100),
        params={"hidden": [64, 32], "learning_rate": 1e-3},
    )
    classifier.train(lambda: input_fn(digits.train, training=True), max_steps=FLAGS.steps)
    results = classifier.evaluate(lambda: input_fn(digits.test, training=False))
    print("step %(global_step)d: loss %(loss).4f, accuracy %(accuracy).3f" % results)

    predictions = classifier.predict(lambda: input_fn(digits.test, training=False))
    for prediction, label in zip(predictions, digits.test.labels[:5]):
        digit = prediction["digit"]
        print("a %d read as %d (%.2f)" % (label, digit, prediction["probabilities"][digit]))

    exported = classifier.export_savedmodel(os.path.join(folder, "export"), serving_input_fn)
    print("exported: %s" % ", ".join(sorted(tf.gfile.ListDirectory(exported))))


if __name__ == "__main__":
    tf.logging.set_verbosity(tf.logging.WARN)
    tf.app.run()
