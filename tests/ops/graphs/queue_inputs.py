"""The nodes of queues, readers, accumulators and batching.

FIFO queues are missing: TensorFlow 2 puts them on the CPU by name, TensorFlow 1 did not.
"""

from __future__ import annotations

from typing import Any


def queue_methods(tf: Any) -> Any:
    queue = tf.queue.PaddingFIFOQueue(
        5, [tf.float32, tf.string], [[None], [2, None]], shared_name="shared", name="padded"
    )
    numbers = tf.placeholder(tf.float32, [None, None])
    return [
        queue.enqueue([[1.0, 2.0], [["a"], ["b"]]]),
        queue.enqueue_many([numbers, tf.placeholder(tf.string, [None, 2, 1])], name="many"),
        queue.dequeue(),
        queue.dequeue_many(4),
        queue.dequeue_many(tf.placeholder(tf.int32, [])),
        queue.dequeue_up_to(4),
        queue.size(),
        queue.is_closed(),
        queue.close(),
        queue.close(cancel_pending_enqueues=True, name="cancel"),
    ]


def named_components(tf: Any) -> Any:
    with tf.name_scope("input"):
        queue = tf.queue.PaddingFIFOQueue(5, [tf.float32, tf.int32], [[], []], names=["x", "y"])
    taken = queue.dequeue_many(3)
    return [queue.enqueue({"y": 1, "x": 2.0}), taken["x"], taken["y"]]


def priorities_and_shuffling(tf: Any) -> Any:
    priority = tf.queue.PriorityQueue(10, [tf.string], [()])
    tf.set_random_seed(3)
    shuffled = tf.queue.RandomShuffleQueue(10, 2, tf.int32, shapes=[()])
    shared = tf.queue.RandomShuffleQueue(10, 2, tf.int32, shared_name="mixed")
    seeded = tf.queue.RandomShuffleQueue(10, 2, [tf.int32, tf.float32], seed=4)
    return [
        priority.enqueue([1, "a"]),
        priority.dequeue(),
        shuffled.dequeue_many(2),
        shared.size(),
        seeded.dequeue(),
    ]


def chosen_queue(tf: Any) -> Any:
    queues = [tf.queue.PaddingFIFOQueue(3, tf.float32, [shape]) for shape in ([2, 3], [None, 3])]
    chosen = tf.queue.QueueBase.from_list(tf.placeholder(tf.int32, []), queues)
    return [chosen.enqueue(tf.zeros([2, 3])), chosen.dequeue()]


def readers(tf: Any) -> Any:
    queue = tf.queue.PaddingFIFOQueue(5, tf.string, [[]])
    lines = tf.TextLineReader(skip_header_lines=1)
    compression = tf.python_io.TFRecordCompressionType.GZIP
    return [
        lines.read(queue),
        lines.read_up_to(queue, 3, name="several"),
        tf.WholeFileReader(name="whole").read(queue),
        tf.FixedLengthRecordReader(3, header_bytes=1, footer_bytes=2, hop_bytes=4).read(queue),
        tf.TFRecordReader(options=tf.python_io.TFRecordOptions(compression)).read(queue),
        tf.IdentityReader().serialize_state(),
        lines.restore_state("state"),
        lines.num_records_produced(),
        lines.num_work_units_completed(),
        lines.reset(),
    ]


def accumulators(tf: Any) -> Any:
    dense = tf.ConditionalAccumulator(tf.float32, shape=[2, None], name="dense")
    rows = tf.SparseConditionalAccumulator(tf.float32, shape=[4, 2], reduction_type="SUM")
    slices = tf.IndexedSlices(tf.zeros([1, 2]), tf.constant([3]), tf.constant([4, 2]))
    return [
        dense.apply_grad([[1.0], [2.0]], local_step=3),
        dense.take_grad(2),
        dense.num_accumulated(),
        dense.set_global_step(4),
        rows.apply_grad([0], [[1.0, 2.0]]),
        rows.apply_indexed_slices_grad(slices),
        rows.take_grad(1),
        rows.take_indexed_slices_grad(2).values,
        rows.num_accumulated(),
        rows.set_global_step(4),
    ]


def padded_batches(tf: Any) -> Any:
    tokens = tf.placeholder(tf.int64, [None], name="tokens")
    return tf.train.batch([tokens, tf.constant("a")], 32, num_threads=2, dynamic_pad=True)


def shuffled_batches(tf: Any) -> Any:
    image = tf.zeros([2, 2])
    return tf.train.shuffle_batch(
        {"b": image, "a": image + 1.0},
        4,
        100,
        50,
        allow_smaller_final_batch=True,
        seed=3,
        name="in",
    )


def kept_rows_of_several_sources(tf: Any) -> Any:
    rows = tf.placeholder(tf.float32, [None, 3])
    keep = tf.placeholder(tf.bool, [None])
    return tf.train.maybe_shuffle_batch_join(
        [[rows], [rows * 2.0]], 4, 10, 2, keep, seed=1, enqueue_many=True
    )


def sparse_batches(tf: Any) -> Any:
    first = tf.sparse_placeholder(tf.float32, [5, 3])
    second = tf.sparse_placeholder(tf.float32, [5, 3])
    batch, numbers = tf.train.shuffle_batch_join(
        [[first, tf.zeros([5])], [second, tf.ones([5])]], 4, 10, 2, seed=1, enqueue_many=True
    )
    return [batch.indices, batch.values, batch.dense_shape, numbers]


def matching_names(tf: Any) -> Any:
    return tf.train.match_filenames_once("*.tfrecord").initializer


def limited_epochs(tf: Any) -> Any:
    return tf.train.limit_epochs(tf.constant([1, 2]), num_epochs=3)
