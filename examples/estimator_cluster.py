"""A linear regression by tf.estimator.train_and_evaluate: alone, or as each task of a cluster.

penstock run examples/estimator_cluster.py
penstock launch --chief --evaluator examples/estimator_cluster.py --model_dir line

Every task runs this program; TF_CONFIG tells it which one it is.
"""

import json
import os
import tempfile

import numpy as np
import tensorflow as tf

flags = tf.app.flags
flags.DEFINE_integer("steps", 300, "training steps of all tasks together")
flags.DEFINE_string("model_dir", "", "folder that all tasks share (default: a new one)")
FLAGS = flags.FLAGS

SLOPE, OFFSET = 2.0, -1.0


def model_fn(features, labels, mode, params):
    """y = weight * x + bias; in a cluster the variables are on the parameter servers."""
    predictions = tf.squeeze(tf.layers.dense(features["x"], 1, name="line"), axis=1)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={"y": predictions})
    loss = tf.losses.mean_squared_error(labels, predictions)
    optimizer = tf.train.GradientDescentOptimizer(params["learning_rate"])
    train_op = optimizer.minimize(loss, global_step=tf.train.get_global_step())
    metrics = {"error": tf.metrics.mean_absolute_error(labels, predictions)}
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op, eval_metric_ops=metrics)


def points(count, seed):
    x = np.random.RandomState(seed).uniform(-1, 1, (count, 1)).astype(np.float32)
    return {"x": x}, (SLOPE * x + OFFSET)[:, 0]


def train_input_fn():
    return tf.data.Dataset.from_tensor_slices(points(256, seed=1)).shuffle(256).repeat().batch(16)


def eval_input_fn():
    return tf.data.Dataset.from_tensor_slices(points(64, seed=2)).batch(16)


def serving_input_fn():
    x = tf.placeholder(tf.float32, [None, 1], name="x")
    return tf.estimator.export.ServingInputReceiver({"x": x}, {"x": x})


def main(_):
    config = tf.estimator.RunConfig(
        model_dir=FLAGS.model_dir or tempfile.mkdtemp(),
        tf_random_seed=1,
        save_checkpoints_steps=100,
        experimental_max_worker_delay_secs=0,
    )
    line = tf.estimator.Estimator(model_fn, config=config, params={"learning_rate": 0.1})
    tf.estimator.train_and_evaluate(
        line,
        tf.estimator.TrainSpec(train_input_fn, max_steps=FLAGS.steps),
        tf.estimator.EvalSpec(
            eval_input_fn,
            steps=None,
            exporters=tf.estimator.FinalExporter("line", serving_input_fn),
            start_delay_secs=0,
            throttle_secs=1,
        ),
    )
    task = json.loads(os.environ.get("TF_CONFIG", "{}")).get("task", {"type": "alone"})
    if task["type"] in ("alone", "evaluator"):
        results = line.evaluate(eval_input_fn)
        exported = tf.gfile.ListDirectory(os.path.join(config.model_dir, "export", "line"))
        print("step %d: error %.3f" % (results["global_step"], results["error"]))
        print(
            "weight %.2f, bias %.2f"
            % tuple(
                float(line.get_variable_value("line/" + name).squeeze())
                for name in ("kernel", "bias")
            )
        )
        print("exports: %d" % len(exported))
    else:
        print("%s: done" % task["type"])


if __name__ == "__main__":
    tf.logging.set_verbosity(tf.logging.WARN)
    tf.app.run()
