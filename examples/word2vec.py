"""Word vectors by skip-gram: NCE loss with sampled candidates, then the nearest words.

The corpus is made up: sentences of a small grammar, in which words of one kind keep like company.

    penstock run examples/word2vec.py --steps 2000
"""

import collections

import numpy as np
import tensorflow as tf

flags = tf.app.flags
flags.DEFINE_integer("steps", 1500, "training steps")
flags.DEFINE_integer("batch_size", 64, "pairs of words per step")
flags.DEFINE_integer("embedding_size", 16, "length of a word's vector")
flags.DEFINE_integer("num_sampled", 8, "words drawn as counterexamples per step")
flags.DEFINE_integer("window", 2, "how many words to each side are a word's company")
FLAGS = flags.FLAGS

KINDS = {
    "animal": ["cat", "dog", "horse", "cow"],
    "food": ["bread", "cheese", "grass", "meat"],
    "craftsman": ["miller", "smith", "baker", "weaver"],
    "tool": ["wheel", "hammer", "oven", "loom"],
}
SENTENCES = ["the {animal} eats fresh {food} slowly", "our {craftsman} repairs his {tool} today"]


def make_corpus(sentences, random):
    words = []
    for _ in range(sentences):
        choice = {kind: random.choice(members) for kind, members in KINDS.items()}
        words += random.choice(SENTENCES).format(**choice).split()
    return words


def skip_grams(codes, window):
    """All pairs of a word and one of its company."""
    pairs = []
    for position, word in enumerate(codes):
        start = max(0, position - window)
        company = codes[start:position] + codes[position + 1 : position + window + 1]
        pairs += [(word, other) for other in company]
    return np.array(pairs, np.int64)


def nearest(sess, embeddings, vocabulary):
    """For the first word of each kind, the words whose vectors point its way."""
    normalized = tf.nn.l2_normalize(embeddings, 1)
    chosen = [vocabulary.index(members[0]) for members in KINDS.values()]
    similarity = tf.matmul(tf.gather(normalized, chosen), normalized, transpose_b=True)
    _, best = sess.run(tf.nn.top_k(similarity, k=4))
    return {vocabulary[row[0]]: [vocabulary[i] for i in row[1:]] for row in best}


def main(_):
    tf.set_random_seed(1)
    random = np.random.RandomState(1)
    corpus = make_corpus(1500, random)
    # Most frequent first: the sampler's log-uniform distribution assumes it.
    vocabulary = [word for word, _ in collections.Counter(corpus).most_common()]
    code_of = {word: code for code, word in enumerate(vocabulary)}
    pairs = skip_grams([code_of[word] for word in corpus], FLAGS.window)

    inputs = tf.placeholder(tf.int64, [None])
    labels = tf.placeholder(tf.int64, [None, 1])
    shape = [len(vocabulary), FLAGS.embedding_size]
    embeddings = tf.Variable(tf.random_uniform(shape, -1.0, 1.0), name="embeddings")
    nce_weights = tf.Variable(tf.truncated_normal(shape, stddev=FLAGS.embedding_size**-0.5))
    nce_biases = tf.Variable(tf.zeros([len(vocabulary)]))
    loss = tf.reduce_mean(
        tf.nn.nce_loss(
            weights=nce_weights,
            biases=nce_biases,
            labels=labels,
            inputs=tf.nn.embedding_lookup(embeddings, inputs),
            num_sampled=FLAGS.num_sampled,
            num_classes=len(vocabulary),
        )
    )
    train_op = tf.train.GradientDescentOptimizer(0.5).minimize(loss)

    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        total = 0.0
        for step in range(1, FLAGS.steps + 1):
            batch = pairs[random.randint(len(pairs), size=FLAGS.batch_size)]
            feed = {inputs: batch[:, 0], labels: batch[:, 1:]}
            total += sess.run([loss, train_op], feed_dict=feed)[0]
            if step % 100 == 0:
                if step % 500 == 0 or step == 100:
                    print("step %d: average loss %.4f" % (step, total / 100))
                total = 0.0
        for word, company in nearest(sess, embeddings, vocabulary).items():
            print("nearest to %s: %s" % (word, ", ".join(company)))


if __name__ == "__main__":
    tf.app.run()
