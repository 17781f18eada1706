"""Columns of categories as columns of numbers."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from penstock.contrib.learn.learn_io.data_feeder import setup_processor_data_feeder
from penstock.contrib.learn.preprocessing.vocabulary import CategoricalVocabulary


class CategoricalProcessor:
    """Gives each category of each column a number.

    Args:
      min_frequency: categories that are not more frequent than that are unknown.
      share: whether all columns have one vocabulary.
      vocabularies: vocabularies to begin with, one for each column.
    """

    def __init__(self, min_frequency: int = 0, share: bool = False, vocabularies: Any = None):
        self.min_frequency = min_frequency
        self.share = share
        self.vocabularies_ = vocabularies

    def freeze(self, freeze: bool = True) -> None:
        """From now on new categories are unknown; or not any more."""
        for vocabulary in self.vocabularies_:
            vocabulary.freeze(freeze)

    def fit(self, x: Any, unused_y: Any = None) -> CategoricalProcessor:
        """Learns the categories of rows."""
        for row in setup_processor_data_feeder(x):
            if self.vocabularies_ is None:
                self.vocabularies_ = self._new_vocabularies(len(row))
            for vocabulary, value in zip(self.vocabularies_, row, strict=False):
                if not _is_missing(value):
                    vocabulary.add(value)
        if self.min_frequency > 0:
            for vocabulary in self.vocabularies_:
                vocabulary.trim(self.min_frequency)
        self.freeze()
        return self

    def fit_transform(self, x: Any, unused_y: Any = None) -> Iterator[Any]:
        """Learns the categories of rows, and gives the rows in numbers."""
        self.fit(x)
        return self.transform(x)

    def transform(self, x: Any) -> Iterator[Any]:
        """The rows in numbers; what is missing or unknown is 0."""
        self.freeze()
        for row in setup_processor_data_feeder(x):
            found = [
                0 if _is_missing(value) else vocabulary.get(value)
                for vocabulary, value in zip(self.vocabularies_, row, strict=False)
            ]
            yield np.array(found, dtype=np.int64)

    def _new_vocabularies(self, count: int) -> list[CategoricalVocabulary]:
        if self.share:
            return [CategoricalVocabulary()] * count
        return [CategoricalVocabulary() for _ in range(count)]


def _is_missing(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)
