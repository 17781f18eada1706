"""Kernels of candidate samplers.

Draws are made many at a time, those with a seed from the same words of the same streams as
TensorFlow's, so that a seeded sampler draws the same classes. Where each class may be drawn once
only, draws are repeated until enough classes were seen; how many that took is part of the expected
counts.
"""

from __future__ import annotations

import csv
import math
import threading

import numpy as np
import torch

from penstock import errors
from penstock.kernels.philox import Generator
from penstock.kernels.registry import HOST, kernel

_LARGEST_TABLE = 2**20  # classes
_DRAWN_AHEAD = 2048  # classes, for as many steps as need so many
# Counts of true classes are looked up in tables, one for each number of tries: 16 MB at the most.
_FEW_CLASSES = 2**16
_MOST_TABLES = 64
_BLOCKS_PER_DRAW = 512  # of a seeded stream, set aside for each class that a step is to draw


def _invalid(message):
    return errors.InvalidArgumentError(None, None, message)


# Random words ---------------------------------------------------------------------------------


class _Seeded:
    """The 32-bit words of a stream, one after the other."""

    def __init__(self, stream):
        self._stream = stream
        self._rest = np.empty(0, np.uint32)

    def words(self, count):
        missing = count - len(self._rest)
        if missing > 0:
            blocks = -(-missing // 4)
            fresh = self._stream.words(blocks).reshape(-1)
            self._stream = self._stream.skipped(blocks)
            self._rest = np.concatenate([self._rest, fresh])
        taken, self._rest = self._rest[:count], self._rest[count:]
        return taken

    def doubles(self, count):
        """Numbers from [0, 1) of 52 random bits each."""
        words = self.words(2 * count).astype(np.uint64)
        bits = (words[0::2] & 0xFFFFF) << 32 | words[1::2] | 1023 << 52
        return bits.view(np.float64) - 1


class _Unseeded:
    """Random numbers without a seed."""

    def __init__(self):
        self._generator = np.random.default_rng()

    def words(self, count):
        return self._generator.integers(0, 2**32, count, dtype=np.uint32)

    def doubles(self, count):
        return self._generator.random(count)


def _source(node, env):
    """A function that gives the words of the next step; None where there is no seed."""
    seeds = node.attrs["seed"], node.attrs["seed2"]
    if seeds == (0, 0):
        return None
    own = env.resources.own
    generator = own.get_or_create(Generator, "", node.name, lambda: Generator(*seeds))
    blocks = _BLOCKS_PER_DRAW * node.attrs["num_sampled"]
    return lambda: _Seeded(generator.reserve(blocks))


def _floats(words):
    """Numbers from [0, 1) of 23 random bits each."""
    return (words & 0x7FFFFF | 127 << 23).view(np.float32) - np.float32(1)


def _below(source, count, bound, bits):
    """Numbers from 0 to bound - 1; words that would favour some of them are skipped."""
    unfair = 0 if bound & (bound - 1) == 0 else (2**bits - 1) % bound + 1
    found = []
    missing = count
    while missing:
        if bits == 64:
            words = source.words(2 * missing).astype(np.uint64)
            words = words[0::2] | words[1::2] << 32
        else:
            words = source.words(missing)
        fair = words[words >= unfair]
        found.append(fair)
        missing -= len(fair)
    joined = found[0] if len(found) == 1 else np.concatenate(found)
    return (joined % bound).astype(np.int64)


# Distributions --------------------------------------------------------------------------------
# Each draws classes as int64, and tells their probabilities as float64.


class _Distribution:
    fixed = True  # what it draws does not depend on what it was shown

    def log_absence(self, classes):
        """The logarithm of the probability that a draw is another class."""
        return np.log1p(-self.probability(classes))


class _Uniform(_Distribution):
    def __init__(self, size):
        self.size = size

    def draw(self, count, source):
        return _below(source, count, self.size, 64)

    def probability(self, classes):
        return np.full(classes.shape, 1 / self.size)


class _LogUniform(_Distribution):
    """Class k has probability log((k + 2) / (k + 1)) / log(size + 1)."""

    def __init__(self, size):
        self.size = size
        self.log_range = math.log1p(size)
        # Looking a probability up is four times as fast as computing it.
        few = size <= _LARGEST_TABLE
        self._table = self._computed(np.arange(size)) if few else None
        self._log_absences = np.log1p(-self._table) if few else None

    def draw(self, count, source):
        classes = np.exp(source.doubles(count) * self.log_range).astype(np.int64) - 1
        return classes % self.size  # rounding may reach just past the end

    def probability(self, classes):
        return self._computed(classes) if self._table is None else self._table[classes]

    def log_absence(self, classes):
        table = self._log_absences
        return super().log_absence(classes) if table is None else table[classes]

    def _computed(self, classes):
        return np.log((classes + 2) / (classes + 1)) / self.log_range


class _Fixed(_Distribution):
    """Classes in proportion to weights, drawn by Walker's alias method."""

    def __init__(self, weights):
        weights = np.array(weights, np.float32).astype(np.float64)
        self.probabilities = weights / weights.sum()
        self.shares, self.aliases = _alias_tables(weights * len(weights) / weights.sum())

    def draw(self, count, source):
        words = source.words(2 * count)
        columns = (words[1::2] % len(self.shares)).astype(np.int64)
        own = _floats(words[0::2]) < self.shares[columns]
        return np.where(own, columns, self.aliases[columns])

    def probability(self, classes):
        return _looked_up(self.probabilities, classes)


def _alias_tables(scaled):
    """For each column its own class's share of it, and the class that has the rest.

    `scaled` are the classes' probabilities times their number.
    """
    shares = scaled.tolist()
    aliases = list(range(len(shares)))
    low = [i for i, share in enumerate(shares) if share < 1]
    high = [i for i, share in enumerate(shares) if share >= 1]
    while low and high:
        short, long = low.pop(), high.pop()
        aliases[short] = long
        shares[long] -= 1 - shares[short]
        (low if shares[long] < 1 else high).append(long)
    for column in low + high:  # full but for rounding
        shares[column] = 1.0
    return np.array(shares), np.array(aliases)


class _Learned(_Distribution):
    """Classes in proportion to how often they were seen, plus one."""

    fixed = False

    def __init__(self, size):
        self.weights = np.ones(size, np.int64)

    def learn(self, classes):
        np.add.at(self.weights, classes.reshape(-1), 1)

    def draw(self, count, source):
        ends = self.weights.cumsum()
        points = _below(source, count, int(ends[-1]), 32)
        return np.searchsorted(ends, points, side="right")

    def probability(self, classes):
        return _looked_up(self.weights, classes) / self.weights.sum()


def _looked_up(table, classes):
    """Entries of a table, zero for classes outside of it."""
    known = (classes >= 0) & (classes < len(table))
    return np.where(known, table[np.where(known, classes, 0)], 0)


def _fixed_weights(attrs):
    """The weights of a fixed distribution, from its attrs or its file."""
    if bool(attrs["vocab_file"]) == bool(attrs["unigrams"]):
        raise _invalid("Must provide exactly one of vocab_file and unigrams")
    counts = attrs["unigrams"] or _read_counts(attrs["vocab_file"])
    reserved = attrs["num_reserved_ids"]
    own = [
        count ** attrs["distortion"]
        for i, count in enumerate(counts, reserved)
        if i % attrs["num_shards"] == attrs["shard"]
    ]
    weights = [0.0] * reserved + own
    if len(weights) != attrs["range_max"]:
        raise _invalid(
            f"range_max is {attrs['range_max']}, but there are weights for {len(weights)} classes"
        )
    return weights


def _read_counts(path):
    try:
        with open(path, newline="", encoding="utf-8") as file:
            return [float(fields[-1]) for fields in csv.reader(file) if fields]
    except FileNotFoundError:
        raise errors.NotFoundError(None, None, f"{path}; No such file or directory") from None
    except ValueError as error:
        raise _invalid(f"Wrong vocabulary format in {path}: {error}") from None


# Kernels --------------------------------------------------------------------------------------


class _Drawing:
    """The classes that steps draw: how many each, and whether a class may be drawn twice."""

    def __init__(self, distribution, count, unique):
        self.fixed = distribution.fixed
        self._distribution = distribution
        self._count = count
        self._unique = unique

    def draws(self, steps, source):
        """For each of some steps: the classes, how often they are expected, how many tries."""
        if self._unique:
            classes, tries = self._distinct(steps, source)
        else:
            classes = self._distribution.draw(steps * self._count, source).reshape(steps, -1)
            tries = [self._count] * steps
        expected = self.expected(classes, np.array(tries)[:, np.newaxis])
        parts = (torch.from_numpy(array).unbind() for array in (classes, expected))
        return list(zip(*parts, tries, strict=True))

    def _distinct(self, steps, source):
        """Classes that differ within a step: the first ones of a sequence of draws."""
        more = self._count + self._count // 2 + 16
        drawn = self._distribution.draw(steps * more, source).reshape(steps, more).tolist()
        found = [self._first_distinct(row, source) for row in drawn]
        return np.array([classes for classes, _ in found], np.int64), [tries for _, tries in found]

    def _first_distinct(self, drawn, source):
        """The first different classes, and how many draws they took, of which there may be more."""
        while True:
            distinct = list(dict.fromkeys(drawn))
            if len(distinct) >= self._count:
                last = distinct[self._count - 1]
                return distinct[: self._count], drawn.index(last) + 1
            drawn += self._distribution.draw(len(drawn), source).tolist()

    def expected(self, classes, tries):
        """How often classes are expected in steps that took so many tries."""
        distribution, count = self._distribution, self._count
        if not self._unique:
            return (distribution.probability(classes) * count).astype(np.float32)
        expected = -np.expm1(tries * distribution.log_absence(classes))
        if np.min(tries) == count:  # of a step in which no class was drawn twice
            expected = np.where(tries == count, distribution.probability(classes) * count, expected)
        return expected.astype(np.float32)


class _TrueCounts:
    """How often true classes are expected. Where there are few classes that is looked up."""

    def __init__(self, drawing, size):
        self._drawing = drawing
        self._size = size
        self._tables = {}
        self._most_tables = _MOST_TABLES if drawing.fixed and size <= _FEW_CLASSES else 0

    def __call__(self, classes, tries):
        table = self._tables.get(tries)
        if table is None:
            table = self._new_table(tries)
        if table is not None:
            try:
                return table.index_select(0, classes.reshape(-1)).view(classes.shape)
            except (IndexError, RuntimeError):
                _check_range(classes.numpy(), self._size)
                raise
        array = classes.numpy()
        _check_range(array, self._size)
        return torch.from_numpy(self._drawing.expected(array, tries))

    def _new_table(self, tries):
        if len(self._tables) >= self._most_tables:
            return None
        counts = self._drawing.expected(np.arange(self._size), tries)
        return self._tables.setdefault(tries, torch.from_numpy(counts))


class _DrawnAhead:
    """Draws without a seed, for several steps at a time: one alone takes three times as long."""

    def __init__(self, drawing, count):
        self._drawing = drawing
        self._source = _Unseeded()
        self._steps = max(1, _DRAWN_AHEAD // count)
        self._lock = threading.Lock()
        self._ready = []

    def __call__(self):
        with self._lock:
            if not self._ready:
                self._ready = self._drawing.draws(self._steps, self._source)
            return self._ready.pop()


def _drawer(node, env, drawing):
    """The function that gives what one step draws."""
    next_source = _source(node, env)
    if next_source is not None:
        return lambda: drawing.draws(1, next_source())[0]
    if drawing.fixed:
        return _DrawnAhead(drawing, node.attrs["num_sampled"])
    source = _Unseeded()
    return lambda: drawing.draws(1, source)[0]


def _check_form(classes, columns):
    """Checks that true classes are a matrix of so many columns."""
    if classes.dim() != 2:
        raise _invalid("true_classes must be a matrix")
    if classes.shape[1] != columns:
        raise _invalid(
            f"true_classes must have num_true columns, expected: {columns} was: {classes.shape[1]}"
        )


def _check_range(classes, size):
    """Checks that true classes, an array, lie between 0 and `size` - 1."""
    # Read as unsigned, negative numbers are the largest.
    if classes.size and classes.view(np.uint64).max() >= size:
        wrong = classes[(classes < 0) | (classes >= size)][0]
        raise _invalid(f"`true_candidate` out of range [0, {size}), received {wrong}")


def _sampler(node, env, distribution, learn=None):
    attrs = node.attrs
    count, unique, columns = attrs["num_sampled"], attrs["unique"], attrs["num_true"]
    size = attrs["range_max"]
    if unique and count > size:
        raise _invalid(f"Sampler's range is too small: {count} different classes of {size}")
    drawing = _Drawing(distribution, count, unique)
    draw = _drawer(node, env, drawing)
    count_true = _TrueCounts(drawing, size)

    def run(true_classes):
        _check_form(true_classes, columns)
        sampled, sampled_count, tries = draw()
        true_count = count_true(true_classes, tries)
        if learn is not None:
            learn(true_classes.numpy())
        return sampled, true_count, sampled_count

    return run


@kernel("UniformCandidateSampler", devices=HOST, fresh=True)
def _(node, env):
    return _sampler(node, env, _Uniform(node.attrs["range_max"]))


@kernel("LogUniformCandidateSampler", devices=HOST, fresh=True)
def _(node, env):
    return _sampler(node, env, _LogUniform(node.attrs["range_max"]))


@kernel("FixedUnigramCandidateSampler", devices=HOST, fresh=True)
def _(node, env):
    return _sampler(node, env, _Fixed(_fixed_weights(node.attrs)))


@kernel(
    "LearnedUnigramCandidateSampler",
    "ThreadUnsafeUnigramCandidateSampler",
    devices=HOST,
    fresh=True,
)
def _(node, env):
    size = node.attrs["range_max"]
    # What was learned belongs to the node, whichever plan runs it.
    learned = env.resources.own.get_or_create(_Learned, "", node.name, lambda: _Learned(size))
    return _sampler(node, env, learned, learned.learn)


@kernel("AllCandidateSampler", devices=HOST, fresh=True)
def _(node):
    count, columns = node.attrs["num_sampled"], node.attrs["num_true"]

    def run(true_classes):
        _check_form(true_classes, columns)
        _check_range(true_classes.numpy(), count)
        return torch.arange(count), torch.ones(true_classes.shape), torch.ones(count)

    return run


@kernel("ComputeAccidentalHits", devices=HOST, fresh=True)
def _(node):
    columns = node.attrs["num_true"]
    lowest = torch.finfo(torch.float32).min

    def run(true_classes, sampled):
        _check_form(true_classes, columns)
        if sampled.dim() != 1:
            raise _invalid("sampled_candidates must be a vector")
        ordered, places = sampled.sort(stable=True)
        flat = true_classes.flatten()
        # Of a class that was drawn several times the last place counts.
        found = torch.searchsorted(ordered, flat, right=True).sub_(1)
        candidates = ordered[found.clamp(min=0)] if len(ordered) else flat - 1
        hits = ((found >= 0) & (candidates == flat)).nonzero().flatten()
        rows = hits.div(columns, rounding_mode="floor").int()
        return rows, places[found[hits]], torch.full((len(hits),), lowest)

    return run
