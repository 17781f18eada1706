"""Two ways to hand a trained model on: a SavedModel and a frozen graph, each loaded and run.

penstock run examples/load_models.py --export_dir exported
"""

import os
import tempfile

import numpy as np
import tensorflow as tf

flags = tf.app.flags
flags.DEFINE_integer("steps", 300, "training steps")
flags.DEFINE_string("export_dir", "", "new folder to write to (default: a temporary one)")
FLAGS = flags.FLAGS

QUESTIONS = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], np.float32)
ANSWERS = np.array([[0], [1], [1], [0]], np.float32)


def train_and_export(folder):
    """Learns exclusive or; writes folder/saved_model and folder/frozen.pb."""
    with tf.Graph().as_default() as graph, tf.Session() as sess:
        tf.set_random_seed(2)
        x = tf.placeholder(tf.float32, [None, 2], name="x")
        hidden = tf.layers.dense(x, 8, activation=tf.nn.tanh)
        logits = tf.layers.dense(hidden, 1)
        probability = tf.nn.sigmoid(logits, name="probability")
        loss = tf.losses.sigmoid_cross_entropy(ANSWERS, logits)
        train_op = tf.train.AdamOptimizer(0.05).minimize(loss)
        sess.run(tf.global_variables_initializer())
        for _ in range(FLAGS.steps):
            _, value = sess.run([train_op, loss], {x: QUESTIONS})
        print("trained: loss %.4f" % value)

        tf.saved_model.simple_save(
            sess,
            os.path.join(folder, "saved_model"),
            inputs={"x": x},
            outputs={"probability": probability},
        )
        frozen = tf.graph_util.convert_variables_to_constants(
            sess, graph.as_graph_def(), ["probability"]
        )
        tf.train.write_graph(frozen, folder, "frozen.pb", as_text=False)


def run_saved_model(folder):
    """The signature says which tensors to feed and to fetch."""
    with tf.Graph().as_default(), tf.Session() as sess:
        tags = [tf.saved_model.tag_constants.SERVING]
        meta_graph = tf.saved_model.loader.load(sess, tags, os.path.join(folder, "saved_model"))
        key = tf.saved_model.signature_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY
        signature = meta_graph.signature_def[key]
        feed = {signature.inputs["x"].name: QUESTIONS}
        return sess.run(signature.outputs["probability"].name, feed)


def run_frozen_graph(folder):
    """The names of the tensors have to be known."""
    graph_def = tf.GraphDef()
    with tf.gfile.GFile(os.path.join(folder, "frozen.pb"), "rb") as file:
        graph_def.ParseFromString(file.read())
    print("frozen graph: %d nodes" % len(graph_def.node))
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(graph_def, name="frozen")
        with tf.Session(graph=graph) as sess:
            return sess.run("frozen/probability:0", {"frozen/x:0": QUESTIONS})


def main(_):
    folder = FLAGS.export_dir or tempfile.mkdtemp()
    train_and_export(folder)
    saved, frozen = run_saved_model(folder), run_frozen_graph(folder)
    for row in np.hstack([QUESTIONS, saved, frozen]):
        print("%d xor %d: saved model %.3f, frozen graph %.3f" % tuple(row))
    print("the same: %s" % np.allclose(saved, frozen))


if __name__ == "__main__":
    tf.app.run()
