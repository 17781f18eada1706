"""Film reviews, as numbers of words, and whether they are good."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from penstock.keras.datasets.local_files import local_path, word_lists
from penstock.keras.datasets.word_numbers import object_array, prepared, shuffled
from penstock.keras.preprocessing.sequence import _remove_long_seq

_ORIGIN = "https://storage.googleapis.com/tensorflow/tf-keras-datasets/imdb.npz"
_INDEX = "https://storage.googleapis.com/tensorflow/tf-keras-datasets/imdb_word_index.json"


def load_data(
    path: str = "imdb.npz",
    num_words: int | None = None,
    skip_top: int = 0,
    maxlen: int | None = None,
    seed: int = 113,
    start_char: int | None = 1,
    oov_char: int | None = 2,
    index_from: int | None = 3,
    **kwargs: Any,
) -> tuple[tuple[Any, Any], tuple[Any, Any]]:
    """(reviews, labels) to train with and to test.

    Args:
      num_words: numbers from here on are replaced by `oov_char`; so are those below `skip_top`.
      maxlen: leaves out longer reviews.
      index_from: what is added to the words' numbers.
    """
    names = ("x_train", "y_train", "x_test", "y_test")
    x_train, y_train, x_test, y_test = word_lists(path, _ORIGIN, names)
    rng = np.random.RandomState(seed)
    x_train, y_train = shuffled(rng, x_train, y_train)
    x_test, y_test = shuffled(rng, x_test, y_test)
    xs = np.concatenate([x_train, x_test])
    labels = np.concatenate([y_train, y_test])
    count = len(x_train)
    if maxlen:
        markers = [] if start_char is None else [start_char]
        kept, kept_labels = _remove_long_seq(maxlen, [[*markers, *x] for x in xs], labels)
        count = sum(len(x) + len(markers) < maxlen for x in x_train)
        xs = [x[len(markers) :] for x in kept]
        labels = np.asarray(kept_labels)
        if not xs:
            raise ValueError(
                f"After filtering for sequences shorter than maxlen={maxlen}, no sequence was kept."
            )
    found = prepared(xs, num_words, skip_top, start_char, oov_char, index_from)
    return (
        (object_array(found[:count]), np.array(labels[:count])),
        (object_array(found[count:]), np.array(labels[count:])),
    )


def get_word_index(path: str = "imdb_word_index.json") -> dict[str, int]:
    """The numbers of words, before `index_from` is added."""
    with open(local_path(path, _INDEX), encoding="utf-8") as file:
        return json.load(file)
