"""Kernels of candidate samplers.

Draws are made many at a time, from the same words of the same streams as TensorFlow's, so that a
seeded sampler draws the same classes. Where each class may be drawn once only, draws are repeated
until enough classes were seen; how many that took is part of the expected counts.
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
_DRAWN_AHEAD = 8192
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

    def classes(self, distribution, count):
        return distribution.draw(count, self).tolist()

    def doubles(self, count):
        """Numbers from [0, 1) of 52 random bits each."""
        words = self.words(2 * count).astype(np.uint64)
        bits = (words[0::2] & 0xFFFFF) << 32 | words[1::2] | 1023 << 52
        return bits.view(np.float64) - 1


class _Unseeded:
    """Random numbers without a seed; classes of a fixed distribution are drawn ahead."""

    def __init__(self):
        self._generator = np.random.default_rng()
        self._lock = threading.Lock()
        self._drawn = []

    def classes(self, distribution, count):
        if not distribution.fixed:
            return distribution.draw(count, self).tolist()
        with self._lock:
            if len(self._drawn) < count:
                self._drawn = distribution.draw(max(count, _DRAWN_AHEAD), self).tolist()
            taken = self._drawn[-count:]
            del self._drawn[-count:]
        return taken

    def words(self, count):
        return self._generator.integers(0, 2**32, count, dtype=np.uint32)

    def doubles(self, count):
        return self._generator.random(count)


def _source(node, env):
    """A function that gives the words of the next step."""
    seeds = node.attrs["seed"], node.attrs["seed2"]
    if seeds == (0, 0):
        source = _Unseeded()
        return lambda: source
    generator = env.resources.get_or_create(Generator, "", node.name, lambda: Generator(*seeds))
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


def _draw_unique(distribution, count, source):
    """The first `count` different classes of a sequence of draws, and its length up to there."""
    drawn = []
    more = count + count // 2 + 16
    while True:
        drawn += source.classes(distribution, more)
        distinct = list(dict.fromkeys(drawn))
        if len(distinct) >= count:
            return np.array(distinct[:count]), drawn.index(distinct[count - 1]) + 1
        more = len(drawn)


def _expected(distribution, classes, count, tries):
    """How often classes are expected among `count` that took `tries` draws."""
    if tries == count:
        return (distribution.probability(classes) * count).astype(np.float32)
    return -np.expm1(tries * distribution.log_absence(classes)).astype(np.float32)


def _check_true_classes(classes, columns, size=None):
    """Checks the shape of true classes, and that they lie between 0 and `size` - 1."""
    if classes.dim() != 2:
        raise _invalid("true_classes must be a matrix")
    if classes.shape[1] != columns:
        raise _invalid(
            f"true_classes must have num_true columns, expected: {columns} was: {classes.shape[1]}"
        )
    if size is not None and classes.numel():
        flat = classes.numpy().reshape(-1)
        # Read as unsigned, negative numbers are the largest.
        if flat.view(np.uint64).max() >= size:
            wrong = flat[(flat < 0) | (flat >= size)][0]
            raise _invalid(f"`true_candidate` out of range [0, {size}), received {wrong}")


def _sampler(node, env, distribution, learn=None):
    attrs = node.attrs
    count, unique, columns = attrs["num_sampled"], attrs["unique"], attrs["num_true"]
    size = attrs["range_max"]
    if unique and count > size:
        raise _invalid(f"Sampler's range is too small: {count} different classes of {size}")
    next_source = _source(node, env)

    def run(true_classes):
        _check_true_classes(true_classes, columns, size)
        wanted = true_classes.numpy()
        if unique:
            sampled, tries = _draw_unique(distribution, count, next_source())
        else:
            sampled, tries = distribution.draw(count, next_source()), count
        classes = np.concatenate((wanted.reshape(-1), sampled))
        expected = _expected(distribution, classes, count, tries)
        if learn is not None:
            learn(wanted)
        true_count, sampled_count = expected[:-count].reshape(wanted.shape), expected[-count:]
        return tuple(map(torch.from_numpy, (sampled, true_count, sampled_count)))

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
    learned = env.resources.get_or_create(_Learned, "", node.name, lambda: _Learned(size))
    return _sampler(node, env, learned, learned.learn)


@kernel("AllCandidateSampler", devices=HOST, fresh=True)
def _(node):
    count, columns = node.attrs["num_sampled"], node.attrs["num_true"]

    def run(true_classes):
        _check_true_classes(true_classes, columns, count)
        return torch.arange(count), torch.ones(true_classes.shape), torch.ones(count)

    return run


@kernel("ComputeAccidentalHits", devices=HOST, fresh=True)
def _(node):
    columns = node.attrs["num_true"]
    lowest = torch.finfo(torch.float32).min

    def run(true_classes, sampled):
        _check_true_classes(true_classes, columns)
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
