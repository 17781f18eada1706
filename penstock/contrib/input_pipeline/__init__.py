"""`tf.contrib.input_pipeline`: strings of a list in turn; the place is a variable."""

from __future__ import annotations

import random
from typing import Any

import penstock as tf
from penstock.contrib import lazy_paths
from penstock.ir.tensor import Tensor

__all__ = ["obtain_next", "seek_next"]


def obtain_next(string_list_tensor: Any, counter: Any) -> Tensor:
    """The string behind the one that a variable numbers; the first comes after the last."""
    strings = tf.convert_to_tensor(string_list_tensor)
    number = tf.cast(tf.size(strings), counter.dtype.base_dtype)
    following: Tensor = tf.gather(strings, tf.assign(counter, tf.mod(counter + 1, number)))
    return following


def seek_next(
    string_list: list[str],
    shuffle: bool = False,
    seed: Any = None,
    num_epochs: int | None = None,
) -> Tensor:
    """The next string of a list in each step, in the variable scope `obtain_next`.

    Args:
      shuffle: whether each epoch has an order of its own.
      num_epochs: after so many times through the list, steps fail with OutOfRangeError.
    """
    source = random.Random(seed) if seed else random.Random()
    order = list(string_list)
    epochs: list[str] = []
    for _ in range(num_epochs or 1):
        if shuffle:
            source.shuffle(order)
        epochs += order
    with tf.variable_scope("obtain_next"):
        counter = _state("obtain_next_counter", tf.constant(-1, tf.int64))
        with tf.colocate_with(counter):
            strings = _state("obtain_next_expanded_list", tf.constant(epochs))
        if not num_epochs:
            return obtain_next(strings, counter)
        seen = _state("obtain_next_filename_counter", tf.constant(0, tf.int64))
        with tf.control_dependencies([seen.count_up_to(len(epochs))]):
            return obtain_next(strings, counter)


def _state(name: str, initial: Tensor) -> Any:
    return tf.get_variable(name, initializer=initial, dtype=initial.dtype, trainable=False)


__getattr__ = lazy_paths.resolver(__name__)
