"""Word vectors on a cluster: the tables are split over parameter servers, and only rows travel.

One command starts all tasks; the corpus and the flags are those of word2vec.py:

penstock launch --ps 2 --workers 2 examples/distributed_word2vec.py --steps 3000
"""

import collections
import json
import os

import numpy as np
import tensorflow as tf
import word2vec

FLAGS = tf.app.flags.FLAGS


def skip_gram_model(vocabulary_size, shards):
    """Placeholders for pairs of words, the loss, and the table of vectors."""
    inputs = tf.placeholder(tf.int64, [None])
    labels = tf.placeholder(tf.int64, [None, 1])
    # Each shard is on the next parameter server: the device setter takes them in turn.
    split = tf.fixed_size_partitioner(shards)
    shape = [vocabulary_size, FLAGS.embedding_size]
    vectors = tf.get_variable(
        "vectors", shape, initializer=tf.random_uniform_initializer(-1.0, 1.0), partitioner=split
    )
    weights = tf.get_variable(
        "weights",
        shape,
        initializer=tf.truncated_normal_initializer(stddev=FLAGS.embedding_size**-0.5),
        partitioner=split,
    )
    biases = tf.get_variable("biases", [vocabulary_size], initializer=tf.zeros_initializer())
    loss = tf.nn.nce_loss(
        weights,
        biases,
        labels,
        tf.nn.embedding_lookup(vectors, inputs, partition_strategy="div"),
        FLAGS.num_sampled,
        vocabulary_size,
        partition_strategy="div",
    )
    return inputs, labels, tf.reduce_mean(loss), vectors


def nearest(vectors, chosen):
    """The codes of the words whose vectors point most nearly the way of the chosen ones."""
    normalized = tf.nn.l2_normalize(tf.convert_to_tensor(vectors), 1)
    similarity = tf.matmul(tf.gather(normalized, chosen), normalized, transpose_b=True)
    return tf.nn.top_k(similarity, k=4).indices


def train(server, cluster, index):
    corpus = word2vec.make_corpus(1500, np.random.RandomState(1))
    vocabulary = [word for word, _ in collections.Counter(corpus).most_common()]
    codes = [vocabulary.index(word) for word in corpus]
    pairs = word2vec.skip_grams(codes, FLAGS.window)
    chosen = [vocabulary.index(members[0]) for members in word2vec.KINDS.values()]

    placing = tf.train.replica_device_setter(
        cluster=cluster, worker_device="/job:worker/task:%d" % index
    )
    with tf.device(placing):
        global_step = tf.train.get_or_create_global_step()
        inputs, labels, loss, vectors = skip_gram_model(len(vocabulary), cluster.num_tasks("ps"))
        optimizer = tf.train.GradientDescentOptimizer(0.5)
        train_op = optimizer.minimize(loss, global_step=global_step)
        company = tf.train.FinalOpsHook(nearest(vectors, chosen))

    random = np.random.RandomState(index)
    losses = []
    stop = tf.train.StopAtStepHook(last_step=FLAGS.steps)
    with tf.train.MonitoredTrainingSession(
        server.target, is_chief=index == 0, hooks=[stop, company]
    ) as sess:
        while not sess.should_stop():
            batch = pairs[random.randint(len(pairs), size=FLAGS.batch_size)]
            feed = {inputs: batch[:, 0], labels: batch[:, 1:]}
            losses.append(sess.run([loss, train_op], feed)[0])
    print("its %d steps: average loss at the end %.4f" % (len(losses), np.mean(losses[-100:])))
    if index == 0:
        for row in company.final_ops_values:
            words = [vocabulary[code] for code in row]
            print("nearest to %s: %s" % (words[0], ", ".join(words[1:])))


def main(_):
    place = json.loads(os.environ.get("TF_CONFIG", "{}"))
    if not place:
        raise SystemExit("Start this with penstock launch (see the top of the file).")
    cluster = tf.train.ClusterSpec(place["cluster"])
    job, index = place["task"]["type"], place["task"]["index"]
    server = tf.train.Server(cluster, job_name=job, task_index=index)
    if job == "ps":
        server.join()
    else:
        train(server, cluster, index)


if __name__ == "__main__":
    tf.app.run()
