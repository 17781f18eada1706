"""Datasets in random order: the order of the same seeds is TensorFlow's."""

from __future__ import annotations

import threading

from penstock.kernels.datasets.random_words import RandomWords, given_seeds
from penstock.kernels.datasets.recipes import dataset_kernel
from penstock.kernels.datasets.rows import RowElements, as_element
from penstock.kernels.registry import HOST, kernel
from penstock.kernels.sparse_rows import invalid
from penstock.state.datasets import INFINITE, Context, Dataset, Elements

_EPOCHS_IN_BUFFER = 3


class SeedSource:
    """The seeds of one iteration after the other: new ones, or the same again.

    `of_epochs` says whether each epoch of an iteration takes seeds, too, or goes on with the
    numbers of the one before, as those of TensorFlow 1.15's fused shuffle and repeat do.
    """

    def __init__(self, seeds: tuple[int, int], changing: bool, of_epochs: bool = True):
        self._words = RandomWords(*seeds) if changing else None
        self._seeds = seeds
        self.of_epochs = of_epochs
        self._lock = threading.Lock()

    def of_one_stream(self) -> SeedSource | None:
        """The seeds of the fused shuffle and repeat, None if iterations must be alike."""
        if self._words is None:
            return None
        return SeedSource(self._seeds, changing=False, of_epochs=False)

    def next(self) -> tuple[int, int]:
        if self._words is None:
            return self._seeds
        with self._lock:
            return self._words.next(), self._words.next()

    def save(self):
        return None if self._words is None else self._words.save()

    def restore(self, state):
        if self._words is not None:
            self._words.restore(state)


class _Shuffled(RowElements):
    """Draws from a buffer that is kept full, `epochs` times through the dataset.

    The buffer is a ring. Elements of several epochs can be in it; `_slices` are where each epoch
    begins and ends, and only the oldest one is drawn from.
    """

    def __init__(self, dataset, size, epochs, seed_source, context):
        self._dataset, self._size, self._epochs = dataset, size, epochs
        self._context = context
        self._seed_source = seed_source
        self._words = RandomWords(*seed_source.next())
        self._buffer = []
        self._slices = []
        self._held = 0
        self._epoch = 0
        self._source = None
        self._produced = False
        if epochs:
            self._begin_epoch()

    def several(self, most):
        if self._lacks_one() and (drawn := self._replaced(most)):
            return drawn
        entry = self._next_entry()
        return [] if entry is None else [entry]

    def _lacks_one(self):
        """Whether the buffer was full before the last draw, and all in it is of one epoch."""
        if self._source is None or len(self._slices) != 1:
            return False
        return self._held == self._size - 1 and len(self._buffer) == self._size

    def _replaced(self, most):
        """Up to `most` entries drawn from a buffer that lacks one, which is put in before each."""
        buffer, size, next_word = self._buffer, self._size, self._words.next
        (bounds,) = self._slices
        start, drawn = bounds[0] % size, []
        for entry in self._source.several(most):
            buffer[start - 1] = entry
            index = (start + next_word() % size) % size
            drawn.append(buffer[index])
            buffer[index] = buffer[start]
            buffer[start] = None
            start = (start + 1) % size
        bounds[0] += len(drawn)
        bounds[1] += len(drawn)
        return drawn

    def _next_entry(self):
        self._fill()
        if not self._held:
            return None
        slices = self._slices
        while slices[0][0] == slices[0][1]:
            del slices[0]
            if self._seed_source.of_epochs:
                self._words = RandomWords(*self._seed_source.next())
        start, end = slices[0]
        buffer, size = self._buffer, self._size
        index = (start + self._words.next() % (end - start)) % size
        first = start % size
        element = buffer[index]
        buffer[index] = buffer[first]
        buffer[first] = None
        slices[0][0] = start + 1
        self._held -= 1
        return element

    def _fill(self):
        size, buffer = self._size, self._buffer
        while self._held < size and not (len(self._slices) > _EPOCHS_IN_BUFFER and self._held):
            if self._source is None:
                if self._epochs >= 0 and self._epoch >= self._epochs:
                    return
                self._begin_epoch()
            entries = self._source.several(size - self._held)
            if not entries:
                self._source.close()
                self._source = None
                if not self._produced and self._epochs < 0:
                    return
                continue
            self._produced = True
            for entry in entries:
                place = self._slices[-1][1] % size
                if place == len(buffer):
                    buffer.append(entry)
                else:
                    buffer[place] = entry
                self._slices[-1][1] += 1
            self._held += len(entries)

    def _begin_epoch(self):
        end = self._slices[-1][1] if self._slices else 0
        self._slices.append([end, end])
        self._source = self._dataset.iterate(self._context)
        self.gives_rows = self._source.gives_rows
        self._epoch += 1

    def save(self):
        return {
            "words": self._words.save(),
            "seeds": self._seed_source.save(),
            "buffer": [None if each is None else list(as_element(each)) for each in self._buffer],
            "slices": [list(bounds) for bounds in self._slices],
            "held": self._held,
            "epoch": self._epoch,
            "produced": self._produced,
            "source": None if self._source is None else [self._source.save()],
        }

    def restore(self, state):
        self.close()
        self._words.restore(state["words"])
        self._seed_source.restore(state["seeds"])
        self._buffer = [None if each is None else tuple(each) for each in state["buffer"]]
        self._slices = [list(bounds) for bounds in state["slices"]]
        self._held, self._epoch = state["held"], state["epoch"]
        self._produced = state["produced"]
        self._source = None
        if state["source"] is not None:
            self._source = self._dataset.iterate(self._context)
            self._source.restore(state["source"][0])

    def close(self):
        if self._source is not None:
            self._source.close()


class ShuffleDataset(Dataset):
    def __init__(self, source, size, epochs, seed_source):
        self._source, self._size, self._epochs = source, size, epochs
        self._seed_source = seed_source

    def fused_with_repeat(self, epochs: int) -> ShuffleDataset | None:
        """This dataset `epochs` times over with one buffer, None if its order must not change."""
        seeds = self._seed_source.of_one_stream() if self._epochs == 1 else None
        return seeds and ShuffleDataset(self._source, self._size, epochs, seeds)

    @property
    def is_plain(self) -> bool:
        return self._source.is_plain

    def iterate(self, context: Context) -> Elements:
        return _Shuffled(self._source, self._size, self._epochs, self._seed_source, context)

    def cardinality(self) -> int:
        once = self._source.cardinality()
        if self._epochs == 0 or once == 0:
            return 0
        if self._epochs < 0:
            return INFINITE
        return once * self._epochs if once > 0 else once


@dataset_kernel("ShuffleDataset", "ShuffleAndRepeatDataset")
def _(node):
    changing = node.attrs["reshuffle_each_iteration"]
    repeats = node.type == "ShuffleAndRepeatDataset"

    def run(source, size, seed, seed2, epochs=1):
        size = int(size)
        _check_buffer(size)
        if repeats and int(epochs) <= 0 and int(epochs) != -1:
            raise invalid("count must be greater than zero or equal to -1.")
        seeds = SeedSource(given_seeds(seed, seed2), changing)
        if repeats and changing:
            seeds = seeds.of_one_stream()
        return ShuffleDataset(source, size, int(epochs), seeds)

    return run


def _check_buffer(size):
    if size <= 0:
        raise invalid("buffer_size must be greater than zero.")


@dataset_kernel("ShuffleDatasetV2")
def _(node):
    def run(source, size, seeds):
        size = int(size)
        _check_buffer(size)
        return ShuffleDataset(source, size, 1, seeds)

    return run


@kernel("AnonymousRandomSeedGenerator", devices=HOST)
def _(node):
    def run(seed, seed2):
        source = SeedSource(given_seeds(seed, seed2), changing=True)
        return source, source

    return run


@kernel("DeleteRandomSeedGenerator", devices=HOST)
def _(node):
    return lambda source, deleter: None  # it is gone with its last reader
