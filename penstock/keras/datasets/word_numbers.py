"""What datasets of texts do with the numbers of words."""

from __future__ import annotations

from typing import Any

import numpy as np


def shuffled(rng: Any, xs: Any, labels: Any) -> tuple[Any, Any]:
    """Texts and labels in a random order."""
    order = np.arange(len(xs))
    rng.shuffle(order)
    return xs[order], labels[order]


def prepared(
    xs: Any,
    num_words: int | None,
    skip_top: int,
    start_char: int | None,
    oov_char: int | None,
    index_from: int | None,
) -> list[Any]:
    """Numbers shifted to make room for markers, with rare and frequent words replaced."""
    start = [start_char] if start_char is not None else []
    shifted = [[*start, *(word + (index_from or 0) for word in x)] for x in xs]
    limit = num_words or max(max(x) for x in shifted)
    if oov_char is not None:
        return [[w if skip_top <= w < limit else oov_char for w in x] for x in shifted]
    return [[w for w in x if skip_top <= w < limit] for x in shifted]


def object_array(values: list[Any]) -> Any:
    """Lists of different lengths in an array."""
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array
