"""Sequence to sequence with attention (tf.contrib.seq2seq): learns to reverse rows of digits.

penstock run examples/seq2seq_reverse.py --steps 300
"""

import numpy as np
import tensorflow as tf

seq2seq = tf.contrib.seq2seq

flags = tf.app.flags
flags.DEFINE_integer("steps", 300, "training steps")
flags.DEFINE_integer("batch_size", 32, "rows per step")
flags.DEFINE_integer("units", 48, "units of the encoder and of the decoder")
flags.DEFINE_integer("max_length", 6, "digits in the longest row")
FLAGS = flags.FLAGS

PAD, GO, END, FIRST_DIGIT = 0, 1, 2, 3
VOCABULARY = FIRST_DIGIT + 10


def make_batch(random, size):
    """Rows of random digits, padded, with their lengths; and the same reversed, with an end."""
    lengths = random.randint(2, FLAGS.max_length + 1, size=size).astype(np.int32)
    sources = np.full([size, FLAGS.max_length], PAD, np.int32)
    targets = np.full([size, FLAGS.max_length + 1], PAD, np.int32)
    for row, length in enumerate(lengths):
        digits = random.randint(FIRST_DIGIT, VOCABULARY, size=length)
        sources[row, :length] = digits
        targets[row, : length + 1] = np.append(digits[::-1], END)
    return sources, targets, lengths


class Reverser:
    """A bidirectional encoder, and a decoder that looks back at it through Luong's attention."""

    def __init__(self):
        self.sources = tf.placeholder(tf.int32, [None, None], name="sources")
        self.targets = tf.placeholder(tf.int32, [None, None], name="targets")
        self.lengths = tf.placeholder(tf.int32, [None], name="lengths")
        self.batch_size = tf.shape(self.sources)[0]
        self.embedding = tf.get_variable("embedding", [VOCABULARY, 16])
        self.projection = tf.layers.Dense(VOCABULARY, use_bias=False, name="projection")
        self.cell = self._attending_cell()

        starts = tf.fill([self.batch_size, 1], GO)
        inputs = tf.concat([starts, self.targets[:, :-1]], axis=1)
        helper = seq2seq.TrainingHelper(
            tf.nn.embedding_lookup(self.embedding, inputs), self.lengths + 1
        )
        logits = self._decode(helper).rnn_output
        length = tf.shape(logits)[1]
        mask = tf.sequence_mask(self.lengths + 1, length, dtype=tf.float32)
        self.loss = seq2seq.sequence_loss(logits, self.targets[:, :length], mask)
        self.train_op = self._train_op()

        greedy = seq2seq.GreedyEmbeddingHelper(self.embedding, tf.fill([self.batch_size], GO), END)
        self.answers = self._decode(greedy).sample_id

    def _attending_cell(self):
        half = FLAGS.units // 2
        outputs, _ = tf.nn.bidirectional_dynamic_rnn(
            tf.nn.rnn_cell.GRUCell(half),
            tf.nn.rnn_cell.GRUCell(half),
            tf.nn.embedding_lookup(self.embedding, self.sources),
            sequence_length=self.lengths,
            dtype=tf.float32,
        )
        attention = seq2seq.LuongAttention(
            FLAGS.units, tf.concat(outputs, axis=2), memory_sequence_length=self.lengths, scale=True
        )
        return seq2seq.AttentionWrapper(
            tf.nn.rnn_cell.GRUCell(FLAGS.units), attention, attention_layer_size=FLAGS.units
        )

    def _decode(self, helper):
        with tf.variable_scope("decoder", reuse=tf.AUTO_REUSE):
            state = self.cell.zero_state(self.batch_size, tf.float32)
            decoder = seq2seq.BasicDecoder(self.cell, helper, state, output_layer=self.projection)
            outputs, _, _ = seq2seq.dynamic_decode(decoder, maximum_iterations=FLAGS.max_length + 1)
        return outputs

    def _train_op(self):
        variables = tf.trainable_variables()
        gradients, _ = tf.clip_by_global_norm(tf.gradients(self.loss, variables), 5.0)
        optimizer = tf.train.AdamOptimizer(5e-3)
        return optimizer.apply_gradients(zip(gradients, variables))


def digits_of(row):
    return "".join(str(code - FIRST_DIGIT) for code in row if code >= FIRST_DIGIT)


def main(_):
    tf.set_random_seed(1)
    random = np.random.RandomState(1)
    model = Reverser()
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for step in range(1, FLAGS.steps + 1):
            sources, targets, lengths = make_batch(random, FLAGS.batch_size)
            feed = {model.sources: sources, model.targets: targets, model.lengths: lengths}
            _, loss = sess.run([model.train_op, model.loss], feed)
            if step % 100 == 0 or step == FLAGS.steps:
                print("step %d: loss %.4f" % (step, loss))

        sources, targets, lengths = make_batch(random, 100)
        feed = {model.sources: sources, model.lengths: lengths}
        answers = sess.run(model.answers, feed)
        pairs = list(zip(map(digits_of, sources), map(digits_of, answers)))
        for source, answer in pairs[:3]:
            print("%s -> %s" % (source, answer))
        print("reversed: %d of 100" % sum(source[::-1] == answer for source, answer in pairs))


if __name__ == "__main__":
    tf.app.run()
