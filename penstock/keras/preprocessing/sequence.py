"""`tf.keras.preprocessing.sequence`."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from penstock.keras.utils.data_sequence import Sequence

__all__ = ["TimeseriesGenerator", "make_sampling_table", "pad_sequences", "skipgrams"]


def pad_sequences(
    sequences: Any,
    maxlen: int | None = None,
    dtype: Any = "int32",
    padding: str = "pre",
    truncating: str = "pre",
    value: Any = 0.0,
) -> Any:
    """Lists as rows of one array.

    Args:
      maxlen: length of the rows; that of the longest list by default.
      padding: whether to fill up before ("pre") or after ("post") a list.
      truncating: whether to cut off at the start ("pre") or end ("post") of a list.
    """
    if not hasattr(sequences, "__len__"):
        raise ValueError("`sequences` must be iterable.")
    for each in sequences:
        if not hasattr(each, "__len__"):
            raise ValueError(f"`sequences` must be a list of iterables. Found non-iterable: {each}")
    if truncating not in ("pre", "post"):
        raise ValueError(f'Truncating type "{truncating}" not understood')
    if padding not in ("pre", "post"):
        raise ValueError(f'Padding type "{padding}" not understood')
    lengths = [len(each) for each in sequences]
    if maxlen is None:
        maxlen = max(lengths, default=0)
    inner: tuple[int, ...] = next((np.shape(each)[1:] for each in sequences if len(each)), ())
    is_text = np.issubdtype(dtype, np.str_) or np.issubdtype(dtype, np.bytes_)
    if isinstance(value, str) and dtype is not object and not is_text:
        raise ValueError(
            f"`dtype` {dtype} is not compatible with `value`'s type: {type(value)}\n"
            "You should set `dtype=object` for variable length strings."
        )
    rows = np.full((len(sequences), maxlen, *inner), value, dtype=dtype)
    for row, each in zip(rows, sequences, strict=True):
        if not len(each):
            continue
        kept = each[-maxlen:] if truncating == "pre" else each[:maxlen]
        kept = np.asarray(kept, dtype=dtype)
        if kept.shape[1:] != inner:
            raise ValueError(
                f"Shape of sample {kept.shape[1:]} of sequence is different from expected shape "
                f"{inner}"
            )
        if padding == "post":
            row[: len(kept)] = kept
        elif len(kept):
            row[-len(kept) :] = kept
    return rows


def make_sampling_table(size: int, sampling_factor: float = 1e-5) -> Any:
    """How likely a word of each rank is kept, by Zipf's law of their frequencies."""
    gamma = 0.577
    rank = np.arange(size, dtype=float)
    rank[0] = 1
    inverse = rank * (np.log(rank) + gamma) + 0.5 - 1.0 / (12.0 * rank)
    fraction = sampling_factor * inverse
    return np.minimum(1.0, fraction / np.sqrt(fraction))


def skipgrams(
    sequence: Any,
    vocabulary_size: int,
    window_size: int = 4,
    negative_samples: float = 1.0,
    shuffle: bool = True,
    categorical: bool = False,
    sampling_table: Any = None,
    seed: int | None = None,
) -> tuple[list[Any], list[Any]]:
    """Pairs of words that stand together (label 1), and of random words (label 0).

    Args:
      sampling_table: how likely each word is used; see `make_sampling_table`.
      categorical: whether labels are [0, 1] and [1, 0].
    """
    couples: list[Any] = []
    labels: list[Any] = []
    for position, word in enumerate(sequence):
        if not word or (sampling_table is not None and sampling_table[word] < random.random()):
            continue
        start = max(0, position - window_size)
        for other in range(start, min(len(sequence), position + window_size + 1)):
            if other != position and sequence[other]:
                couples.append([word, sequence[other]])
                labels.append([0, 1] if categorical else 1)
    if negative_samples > 0:
        count = int(len(labels) * negative_samples)
        words = [couple[0] for couple in couples]
        random.shuffle(words)
        couples += [
            [words[i % len(words)], random.randint(1, vocabulary_size - 1)] for i in range(count)
        ]
        labels += [[1, 0] if categorical else 0] * count
    if shuffle:
        seed = random.randint(0, 10**6) if seed is None else seed
        for values in (couples, labels):
            random.seed(seed)
            random.shuffle(values)
    return couples, labels


class TimeseriesGenerator(Sequence):
    """Batches of windows of a series, each with the value that follows it.

    Args:
      length: length of a window, before sampling.
      sampling_rate: distance of a window's steps.
      stride: distance of windows.
    """

    def __init__(
        self,
        data: Any,
        targets: Any,
        length: int,
        sampling_rate: int = 1,
        stride: int = 1,
        start_index: int = 0,
        end_index: int | None = None,
        shuffle: bool = False,
        reverse: bool = False,
        batch_size: int = 128,
    ):
        if len(data) != len(targets):
            raise ValueError(
                "Data and targets have to be of same length. "
                f"Data length is {len(data)} while target length is {len(targets)}"
            )
        self.data = data
        self.targets = targets
        self.length = length
        self.sampling_rate = sampling_rate
        self.stride = stride
        self.start_index = start_index + length
        self.end_index = len(data) - 1 if end_index is None else end_index
        self.shuffle = shuffle
        self.reverse = reverse
        self.batch_size = batch_size
        if self.start_index > self.end_index:
            raise ValueError(
                f"`start_index+length={self.start_index} > end_index={self.end_index}` is "
                "disallowed, as no part of the sequence would be left to be used as current step."
            )

    def __len__(self) -> int:
        count = self.end_index - self.start_index + self.batch_size * self.stride
        return count // (self.batch_size * self.stride)

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        if self.shuffle:
            ends = np.random.randint(  # noqa: NPY002 the program seeds it
                self.start_index, self.end_index + 1, size=self.batch_size
            )
        else:
            first = self.start_index + self.batch_size * self.stride * index
            last = min(first + self.batch_size * self.stride, self.end_index + 1)
            ends = np.arange(first, last, self.stride)
        windows = np.array(
            [self.data[end - self.length : end : self.sampling_rate] for end in ends]
        )
        targets = np.array([self.targets[end] for end in ends])
        return (windows[:, ::-1, ...] if self.reverse else windows), targets


def _remove_long_seq(maxlen: int, seq: Any, label: Any) -> tuple[list[Any], list[Any]]:
    """The sequences shorter than `maxlen`, with their labels."""
    kept = [(x, y) for x, y in zip(seq, label, strict=True) if len(x) < maxlen]
    return [x for x, _ in kept], [y for _, y in kept]
