"""Pipelines hold no more memory after many elements than after a few."""

from __future__ import annotations

import gc
import tracemalloc

import numpy as np

import penstock as tf


def _example(number):
    example = tf.train.Example()
    example.features.feature["id"].int64_list.value.append(number)
    example.features.feature["values"].float_list.value.extend([0.5] * (number % 5))
    return example.SerializeToString()


def test_memory_is_flat():
    features = {
        "id": tf.FixedLenFeature([], tf.int64),
        "values": tf.VarLenFeature(tf.float32),
    }
    records = np.array([_example(number) for number in range(100)], dtype=object)
    with tf.Graph().as_default(), tf.Session() as sess:
        dataset = tf.data.Dataset.from_tensor_slices(records).repeat()
        dataset = dataset.map(lambda one: tf.parse_single_example(one, features))
        dataset = dataset.shuffle(64, seed=1).batch(16).prefetch(2)
        element = dataset.make_one_shot_iterator().get_next()

        def used(steps):
            for _ in range(steps):
                sess.run(element)
            gc.collect()
            return tracemalloc.get_traced_memory()[0]

        tracemalloc.start()
        try:
            used(20)
            before = used(10)
            assert used(150) < before + 200_000
        finally:
            tracemalloc.stop()
