"""A language model of characters with dynamic_rnn: learns a text file, then writes like it.

penstock run examples/char_rnn.py --text my_book.txt --steps 2000
"""

import os

import numpy as np
import tensorflow as tf

BUNDLED_TEXT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "data", "mill.txt")

flags = tf.app.flags
flags.DEFINE_string("text", BUNDLED_TEXT, "file of text to learn")
flags.DEFINE_integer("steps", 400, "training steps")
flags.DEFINE_integer("batch_size", 16, "places of the text that are read side by side")
flags.DEFINE_integer("sequence_length", 32, "characters per step")
flags.DEFINE_integer("units", 96, "units of each of the two recurrent layers")
flags.DEFINE_integer("sample_length", 200, "characters to write at the end")
flags.DEFINE_string("prime", "The ", "how the written text begins")
FLAGS = flags.FLAGS


class CharacterModel:
    """Predicts each next character; the state goes in and out, so that text can be continued."""

    def __init__(self, vocabulary_size):
        self.inputs = tf.placeholder(tf.int32, [None, None], name="inputs")
        self.targets = tf.placeholder(tf.int32, [None, None], name="targets")
        batch_size = tf.shape(self.inputs)[0]
        cells = [tf.nn.rnn_cell.BasicLSTMCell(FLAGS.units) for _ in range(2)]
        cell = tf.nn.rnn_cell.MultiRNNCell(cells)
        self.initial_state = cell.zero_state(batch_size, tf.float32)

        embedding = tf.get_variable("embedding", [vocabulary_size, 24])
        embedded = tf.nn.embedding_lookup(embedding, self.inputs)
        outputs, self.final_state = tf.nn.dynamic_rnn(
            cell, embedded, initial_state=self.initial_state
        )
        logits = tf.layers.dense(outputs, vocabulary_size, name="logits")
        self.probabilities = tf.nn.softmax(logits)
        self.loss = tf.reduce_mean(
            tf.nn.sparse_softmax_cross_entropy_with_logits(labels=self.targets, logits=logits)
        )
        variables = tf.trainable_variables()
        gradients, _ = tf.clip_by_global_norm(tf.gradients(self.loss, variables), 5.0)
        optimizer = tf.train.AdamOptimizer(5e-3)
        self.train_op = optimizer.apply_gradients(zip(gradients, variables))


def batches(codes, batch_size, length):
    """Yields (inputs, targets, whether the text starts anew), over and over."""
    rows = len(codes) // batch_size
    if rows <= length:
        raise ValueError("the text is too short for %d x %d characters" % (batch_size, length))
    table = codes[: rows * batch_size].reshape(batch_size, rows)
    while True:
        for start in range(0, rows - length, length):
            yield (
                table[:, start : start + length],
                table[:, start + 1 : start + length + 1],
                start == 0,
            )


def train(sess, model, codes):
    state = None
    data = batches(codes, FLAGS.batch_size, FLAGS.sequence_length)
    for step in range(1, FLAGS.steps + 1):
        inputs, targets, anew = next(data)
        feed = {model.inputs: inputs, model.targets: targets}
        if not anew:
            feed[model.initial_state] = state
        _, loss, state = sess.run([model.train_op, model.loss, model.final_state], feed)
        if step % 100 == 0 or step == FLAGS.steps:
            print("step %d: loss %.4f, perplexity %.2f" % (step, loss, np.exp(loss)))


def sample(sess, model, characters, prime, length):
    """Continues `prime`, a character at a time."""
    random = np.random.RandomState(1)
    code_of = {character: code for code, character in enumerate(characters)}
    written = [code_of[character] for character in prime if character in code_of] or [0]
    feed = {model.inputs: [written]}
    for _ in range(length):
        probabilities, state = sess.run([model.probabilities, model.final_state], feed)
        last = probabilities[0, -1].astype(np.float64)
        written.append(random.choice(len(characters), p=last / last.sum()))
        feed = {model.inputs: [written[-1:]], model.initial_state: state}
    return "".join(characters[code] for code in written)


def main(_):
    tf.set_random_seed(1)
    with open(FLAGS.text, encoding="utf-8") as file:
        text = file.read()
    characters = sorted(set(text))
    code_of = {character: code for code, character in enumerate(characters)}
    codes = np.array([code_of[character] for character in text], np.int32)
    print("%d characters, %d different ones" % (len(codes), len(characters)))

    model = CharacterModel(len(characters))
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        train(sess, model, codes)
        print("sample: " + sample(sess, model, characters, FLAGS.prime, FLAGS.sample_length))


if __name__ == "__main__":
    tf.app.run()
