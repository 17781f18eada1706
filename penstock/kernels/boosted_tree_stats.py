"""Kernels of statistics of boosted trees: sums of derivatives by bucket, and the best splits."""

import numpy as np
import torch

from penstock import errors
from penstock.kernels.registry import HOST, kernel
from penstock.kernels.split_gains import first_largest, weights_and_gains
from penstock.kernels.values import to_array

# Sums by node and bucket ----------------------------------------------------------------------


def _check_range(name, values, limit):
    if values.size and (values.min() < 0 or values.max() >= limit):
        raise errors.InvalidArgumentError(
            None,
            None,
            f"{name} must be in [0, {limit}), got {values.min()} to {values.max()}",
        )


def _sums(nodes, buckets, derivatives, sizes):
    """Sums [nodes, buckets, derivatives], computed in double precision."""
    node_count, bucket_count = sizes
    _check_range("node_ids", nodes, node_count)
    _check_range("buckets", buckets, bucket_count)
    cells = nodes.astype(np.int64) * bucket_count + buckets
    total = node_count * bucket_count
    columns = [np.bincount(cells, column, total) for column in derivatives.T.astype(np.float64)]
    return np.stack(columns, axis=-1).reshape(node_count, bucket_count, -1)


@kernel("BoostedTreesMakeStatsSummary", devices=HOST, fresh=True)
def _(node):
    sizes = node.attrs["max_splits"], node.attrs["num_buckets"]

    def run(node_ids, gradients, hessians, *features):
        first = torch.cat([gradients[:, :1], hessians[:, :1]], dim=1).numpy()
        nodes = to_array(node_ids)
        sums = [_sums(nodes, to_array(feature), first, sizes) for feature in features]
        return torch.from_numpy(np.stack(sums).astype(np.float32))

    return run


@kernel("BoostedTreesAggregateStats", devices=HOST, fresh=True)
def _(node):
    # One more bucket is for values that are not there, of which a dense feature has none.
    sizes = node.attrs["max_splits"], node.attrs["num_buckets"] + 1

    def run(node_ids, gradients, hessians, feature):
        derivatives = torch.cat([gradients, hessians], dim=1).numpy()
        nodes, buckets = to_array(node_ids), to_array(feature)
        sums = [_sums(nodes, column, derivatives, sizes) for column in buckets.T]
        return torch.from_numpy(np.stack(sums, axis=1).astype(np.float32))

    return run


@kernel("BoostedTreesSparseAggregateStats", devices=HOST, fresh=True)
def _(node):
    splits, bucket_count = node.attrs["max_splits"], node.attrs["num_buckets"]

    def run(node_ids, gradients, hessians, indices, values, shape):
        derivatives = torch.cat([gradients, hessians], dim=1).numpy()
        dimensions = int(shape[1])
        # What is not there is in a bucket of its own, behind all others.
        buckets = np.full((len(derivatives), dimensions), bucket_count, np.int64)
        buckets[tuple(to_array(indices).T)] = to_array(values)
        nodes = to_array(node_ids).astype(np.int64)[: len(derivatives)]
        cells = (nodes[:, None] * dimensions + np.arange(dimensions)) * (bucket_count + 1) + buckets
        found, places = np.unique(cells, return_inverse=True)
        sums = np.zeros((len(found), derivatives.shape[1]), np.float32)
        np.add.at(sums, places.reshape(-1), np.repeat(derivatives, dimensions, axis=0))
        sizes = splits, dimensions, bucket_count + 1, derivatives.shape[1]
        return _sparse(found, sums, sizes)

    return run


def _sparse(cells, sums, sizes):
    """Sums by cell as the indices, values and shape of a sparse tensor."""
    places = np.stack(np.unravel_index(cells, sizes[:3]), axis=-1)
    width = sizes[3]
    rows = np.repeat(places, width, axis=0)
    derivative = np.tile(np.arange(width), len(cells))[:, None]
    indices = np.concatenate([rows, derivative], axis=1).astype(np.int32)
    return (
        torch.from_numpy(indices),
        torch.from_numpy(sums.reshape(-1)),
        torch.tensor(sizes, dtype=torch.int32),
    )


# Best splits ----------------------------------------------------------------------------------


class _Found:
    """The best splits of nodes, one after the other, as the columns of the outputs."""

    def __init__(self, logits):
        self._logits = logits
        self._rows = []

    def add(self, node, gain, dimension, threshold, left, right, kind):
        self._rows.append((node, gain, dimension, threshold, left, right, kind))

    def columns(self):
        nodes, gains, dimensions, thresholds, left, right, kinds = (
            zip(*self._rows, strict=True) if self._rows else ((),) * 7
        )
        names = np.empty(len(kinds), object)
        names[:] = kinds
        return (
            torch.tensor(nodes, dtype=torch.int32),
            torch.tensor(gains, dtype=torch.float32),
            torch.tensor(dimensions, dtype=torch.int32),
            torch.tensor(thresholds, dtype=torch.int32),
            self._matrix(left),
            self._matrix(right),
            names,
        )

    def _matrix(self, rows):
        return torch.from_numpy(np.array(rows, np.float32).reshape(-1, self._logits))


def _halves(left, total, logits, l1, l2):
    """The weights of both children for splits with the sums `left`, and the splits' gains."""
    right = total - left
    first, gain = weights_and_gains(left[:, :logits], left[:, logits:], l1, l2)
    second, other = weights_and_gains(right[:, :logits], right[:, logits:], l1, l2)
    return first, second, gain + other


def _own_gain(total, logits, l1, l2):
    return weights_and_gains(total[None, :logits], total[None, logits:], l1, l2)[1][0]


@kernel("BoostedTreesCalculateBestGainsPerFeature", devices=HOST, fresh=True)
def _(node):
    count = node.attrs["num_features"]

    def run(node_range, *inputs):
        summaries, scalars = inputs[:count], [value.item() for value in inputs[count:]]
        features = [_best_of_feature(summary.numpy(), node_range, scalars) for summary in summaries]
        wanted = [0, 1, 3, 4, 5]
        return tuple(columns[output] for output in wanted for columns in features)

    return run


def _best_of_feature(summary, node_range, scalars):
    l1, l2, complexity, least = scalars
    found = _Found(1)
    for number in range(*node_range.tolist()):
        sums = np.cumsum(summary[number], axis=0, dtype=np.float32)
        if sums[-1, 1] < least:
            continue
        left, right, gains = _halves(sums, sums[-1], 1, l1, l2)
        best = first_largest(gains)
        gain = gains[best] - _own_gain(sums[-1], 1, l1, l2) - np.float32(complexity)
        found.add(number, gain, 0, best, left[best], right[best], b"")
    return found.columns()


@kernel("BoostedTreesCalculateBestFeatureSplit", devices=HOST, fresh=True)
def _(node):
    logits = node.attrs["logits_dimension"]
    adds_up = node.attrs["split_type"] == "inequality"
    kind = b"INEQUALITY_DEFAULT_LEFT" if adds_up else b"EQUALITY_DEFAULT_RIGHT"

    def run(node_range, summary, *scalars):
        l1, l2, complexity, least = (value.item() for value in scalars)
        found = _Found(logits)
        for number in range(*node_range.tolist()):
            stats = summary[number].numpy()
            total = stats[0].sum(axis=0)
            if np.linalg.norm(total[logits:]) < least:
                continue
            sums = np.cumsum(stats, axis=1, dtype=np.float32) if adds_up else stats
            totals = sums[:, -1:] if adds_up else np.broadcast_to(total, (len(sums), 1, len(total)))
            spread = np.broadcast_to(totals, sums.shape).reshape(-1, len(total))
            left, right, gains = _halves(sums.reshape(spread.shape), spread, logits, l1, l2)
            best = first_largest(gains)
            dimension, bucket = divmod(best, sums.shape[1])
            gain = gains[best] - _own_gain(total, logits, l1, l2) - np.float32(complexity)
            found.add(number, gain, dimension, bucket, left[best], right[best], kind)
        return found.columns()

    return run


@kernel("BoostedTreesSparseCalculateBestFeatureSplit", devices=HOST, fresh=True)
def _(node):
    def run(node_range, indices, values, shape, *scalars):
        l1, l2, complexity, least = (value.item() for value in scalars)
        places, numbers = to_array(indices), to_array(values)
        missing = int(shape[2]) - 1
        found = _Found(1)
        for number in np.unique(places[:, 0]):
            chosen = places[:, 0] == number
            tables = _tables(places[chosen], numbers[chosen])
            total = np.cumsum(next(iter(tables.values()))[1], axis=0, dtype=np.float32)[-1]
            if total[1] < least:
                continue
            best = _best_sparse(tables, total, missing, l1, l2)
            if best is not None:
                gain, *rest = best
                gain = gain - _own_gain(total, 1, l1, l2) - np.float32(complexity)
                found.add(int(number), gain, *rest)
        return found.columns()

    return run


def _tables(places, numbers):
    """For each dimension of a feature its buckets and their sums, in ascending order."""
    tables = {}
    for dimension in np.unique(places[:, 1]):
        chosen = places[:, 1] == dimension
        buckets, rows = np.unique(places[chosen, 2], return_inverse=True)
        sums = np.zeros((len(buckets), 2), np.float32)
        sums[rows.reshape(-1), places[chosen, 3]] = numbers[chosen]
        tables[int(dimension)] = (buckets, sums)
    return tables


def _best_sparse(tables, total, missing, l1, l2):
    """The best split, where examples without a value may go either way."""
    best = None
    for dimension, (buckets, sums) in tables.items():
        absent = sums[buckets == missing].sum(axis=0)
        there = buckets != missing
        if not there.any():
            continue
        left = np.cumsum(sums[there], axis=0, dtype=np.float32)
        ways = [(left, b"INEQUALITY_DEFAULT_RIGHT"), (left + absent, b"INEQUALITY_DEFAULT_LEFT")]
        tried = [(*_halves(part, total, 1, l1, l2), kind) for part, kind in ways]
        gains = np.stack([gain for _, _, gain, _ in tried], axis=1).reshape(-1)
        bucket, way = divmod(first_largest(gains), 2)
        first, second, gain, kind = tried[way]
        if best is None or gain[bucket] > best[0]:
            threshold = int(buckets[there][bucket])
            best = (gain[bucket], dimension, threshold, first[bucket], second[bucket], kind)
    return best
