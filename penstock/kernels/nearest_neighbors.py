"""Multiprobe hashing: buckets in the order of what it costs to cross the hyperplanes between."""

import heapq
from itertools import islice

import numpy as np

from penstock.errors import InternalError, InvalidArgumentError
from penstock.kernels.registry import HOST, kernel
from penstock.kernels.values import from_array

_MOST_HYPERPLANES = 30


def _demand(condition, message):
    if not condition:
        raise InvalidArgumentError(None, None, message)


def _check(products, tables, hyperplanes, probes):
    _demand(
        products.ndim == 2,
        f"Need a two-dimensional products tensor, got {products.ndim} dimensions.",
    )
    for name, given in (
        ("num_tables", tables),
        ("num_hyperplanes_per_table", hyperplanes),
        ("num_probes", probes),
    ):
        _demand(given.ndim == 0, f"Need a scalar {name} tensor, got {given.ndim} dimensions.")
    _demand(tables >= 1, f"num_tables must be at least 1 but got {tables}.")
    _demand(
        hyperplanes >= 1, f"num_hyperplanes_per_table must be at least 1 but got {hyperplanes}."
    )
    _demand(
        hyperplanes <= _MOST_HYPERPLANES,
        f"Need num_hyperplanes_per_table <= {_MOST_HYPERPLANES}, got {hyperplanes}: the number of "
        "a bucket has 32 bits.",
    )
    _demand(probes >= 1, "num_probes must be at least 1.")
    _demand(
        products.shape[1] == tables * hyperplanes,
        f"Expected number of hyperplanes is {tables * hyperplanes} but received "
        f"{products.shape[1]} inner products per point.",
    )


def _probes(products):
    """Yields (bucket, table) for a point's products, [tables, hyperplanes], best first.

    First come the buckets that the point itself is in. A further bucket costs the sum of the
    squared distances to the hyperplanes that must be crossed. Sets of hyperplanes, which each table
    has in the order of their distance, grow from the nearest one: the last of a set is replaced by
    the next, or the next is added.
    """
    tables, hyperplanes = products.shape
    bits = 1 << np.arange(hyperplanes - 1, -1, -1)
    own = (products >= 0) @ bits
    for table in range(tables):
        yield int(own[table]), table
    order = np.argsort(np.abs(products), axis=1, kind="stable")
    costs = np.take_along_axis(products, order, 1) ** 2
    masks = bits[order]
    heap = [(costs[table, 0], int(masks[table, 0]), table, 0) for table in range(tables)]
    heapq.heapify(heap)
    while heap:
        cost, mask, table, last = heapq.heappop(heap)
        yield int(own[table]) ^ mask, table
        after = last + 1
        if after < hyperplanes:
            more, added = costs[table, after], int(masks[table, after])
            swapped = mask ^ int(masks[table, last]) ^ added
            heapq.heappush(heap, (cost - costs[table, last] + more, swapped, table, after))
            heapq.heappush(heap, (cost + more, mask ^ added, table, after))


@kernel("HyperplaneLSHProbes", devices=HOST, fresh=True)
def _(node):
    def run(*inputs):
        products, tables, hyperplanes, count = (given.numpy() for given in inputs)
        _check(products, tables, hyperplanes, count)
        found = np.zeros((len(products), int(count), 2), np.int32)
        for point, row in enumerate(products):
            pairs = list(islice(_probes(row.reshape(int(tables), int(hyperplanes))), int(count)))
            if len(pairs) < count:
                message = f"Failed to get probe number {len(pairs)} for point number {point}."
                raise InternalError(None, None, message)
            found[point] = pairs
        return from_array(found[..., 0].copy()), from_array(found[..., 1].copy())

    return run
