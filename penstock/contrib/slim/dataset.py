"""The description of a data set in files."""

from __future__ import annotations

from typing import Any


class Dataset:
    """Where a data set is, how to read and decode it, and whatever else is worth knowing of it.

    Args:
      data_sources: names of files, or patterns of them.
      reader: a class of readers, such as `tf.TFRecordReader`.
      decoder: a `DataDecoder`.
      num_samples: how many samples there are.
      items_to_descriptions: what each item is, in words.
      **kwargs: become attributes too.
    """

    def __init__(
        self,
        data_sources: Any,
        reader: Any,
        decoder: Any,
        num_samples: int,
        items_to_descriptions: Any,
        **kwargs: Any,
    ):
        self.__dict__.update(kwargs)
        self.data_sources = data_sources
        self.reader = reader
        self.decoder = decoder
        self.num_samples = num_samples
        self.items_to_descriptions = items_to_descriptions
