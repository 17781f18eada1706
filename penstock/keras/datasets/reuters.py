"""News, as numbers of words, and their topics."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from penstock.keras.datasets.local_files import local_path, word_lists
from penstock.keras.datasets.word_numbers import object_array, prepared, shuffled
from penstock.keras.preprocessing.sequence import _remove_long_seq

_ORIGIN = "https://storage.googleapis.com/tensorflow/tf-keras-datasets/reuters.npz"
_INDEX = "https://storage.googleapis.com/tensorflow/tf-keras-datasets/reuters_word_index.json"


def load_data(
    path: str = "reuters.npz",
    num_words: int | None = None,
    skip_top: int = 0,
    maxlen: int | None = None,
    test_split: float = 0.2,
    seed: int = 113,
    start_char: int | None = 1,
    oov_char: int | None = 2,
    index_from: int | None = 3,
    **kwargs: Any,
) -> tuple[tuple[Any, Any], tuple[Any, Any]]:
    """(news, topics) to train with and to test.

    Args:
      num_words: numbers from here on are replaced by `oov_char`; so are those below `skip_top`.
      maxlen: leaves out longer texts.
      index_from: what is added to the words' numbers.
    """
    xs, labels = word_lists(path, _ORIGIN, ("x", "y"))
    rng = np.random.RandomState(seed)
    xs, labels = shuffled(rng, xs, labels)
    if maxlen:
        markers = [] if start_char is None else [start_char]
        kept, kept_labels = _remove_long_seq(maxlen, [[*markers, *x] for x in xs], labels)
        xs, labels = [x[len(markers) :] for x in kept], kept_labels
    found = prepared(xs, num_words, skip_top, start_char, oov_char, index_from)
    at = int(len(found) * (1 - test_split))
    return (
        (object_array(found[:at]), np.array(labels[:at])),
        (object_array(found[at:]), np.array(labels[at:])),
    )


def get_word_index(path: str = "reuters_word_index.json") -> dict[str, int]:
    """The numbers of words, before `index_from` is added."""
    with open(local_path(path, _INDEX), encoding="utf-8") as file:
        return json.load(file)
