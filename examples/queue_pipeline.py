"""Input by queue runners: TFRecord files, a reader, a parser, shuffled batches, a Coordinator.

The data is made up: points in the plane, labelled by whether they lie inside a circle.

    penstock run examples/queue_pipeline.py --epochs 20
"""

import os
import tempfile

import numpy as np
import tensorflow as tf

flags = tf.app.flags
flags.DEFINE_integer("epochs", 20, "how often the training reads all records")
flags.DEFINE_integer("batch_size", 50, "examples per step")
flags.DEFINE_integer("examples", 1000, "records to write")
flags.DEFINE_integer("threads", 1, "threads that fill the queue of batches")
flags.DEFINE_string("data_dir", "", "folder for the record files (default: a new one)")
FLAGS = flags.FLAGS


def write_records(folder, shards=2):
    random = np.random.RandomState(1)
    points = random.uniform(-1, 1, [FLAGS.examples, 2]).astype(np.float32)
    paths = [os.path.join(folder, "points-%d.tfrecords" % shard) for shard in range(shards)]
    for shard, path in enumerate(paths):
        with tf.python_io.TFRecordWriter(path) as writer:
            for point in points[shard::shards]:
                inside = int(np.sum(point**2) < 0.5)
                features = {
                    "point": tf.train.Feature(
                        bytes_list=tf.train.BytesList(value=[point.tobytes()])
                    ),
                    "label": tf.train.Feature(int64_list=tf.train.Int64List(value=[inside])),
                }
                example = tf.train.Example(features=tf.train.Features(feature=features))
                writer.write(example.SerializeToString())
    return paths


def input_batches(paths):
    """Tensors of a shuffled batch; after the last epoch they raise OutOfRangeError."""
    files = tf.train.string_input_producer(paths, num_epochs=FLAGS.epochs, shuffle=True, seed=1)
    _, record = tf.TFRecordReader().read(files)
    features = tf.parse_single_example(
        record,
        features={
            "point": tf.FixedLenFeature([], tf.string),
            "label": tf.FixedLenFeature([], tf.int64),
        },
    )
    point = tf.reshape(tf.decode_raw(features["point"], tf.float32), [2])
    return tf.train.shuffle_batch(
        [point, features["label"]],
        batch_size=FLAGS.batch_size,
        num_threads=FLAGS.threads,
        capacity=500 + 3 * FLAGS.batch_size,
        min_after_dequeue=500,
        seed=1,
    )


def main(_):
    tf.set_random_seed(1)
    points, labels = input_batches(write_records(FLAGS.data_dir or tempfile.mkdtemp()))
    hidden = tf.layers.dense(points, 16, tf.nn.tanh)
    logits = tf.layers.dense(hidden, 2)
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    right = tf.reduce_mean(tf.cast(tf.equal(tf.argmax(logits, 1), labels), tf.float32))
    train_op = tf.train.AdamOptimizer(0.02).minimize(loss)

    with tf.Session() as sess:
        # num_epochs is counted in a local variable.
        sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(sess=sess, coord=coordinator)
        step = 0
        try:
            while not coordinator.should_stop():
                _, loss_value, right_value = sess.run([train_op, loss, right])
                step += 1
                if step % 100 == 0:
                    print("step %d: loss %.4f, right %.2f" % (step, loss_value, right_value))
        except tf.errors.OutOfRangeError:
            print("read all records in %d steps, last loss %.4f" % (step, loss_value))
        finally:
            coordinator.request_stop()
        coordinator.join(threads)


if __name__ == "__main__":
    tf.app.run()
