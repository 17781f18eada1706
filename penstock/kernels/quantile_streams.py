"""Kernels of quantile streams and of the buckets between their boundaries, on the host."""

import numpy as np
import torch

from penstock import errors
from penstock.kernels.registry import HOST, Constant, kernel
from penstock.kernels.values import to_array
from penstock.state.quantile_streams import (
    QuantileStream,
    QuantileStreams,
    boundaries_of,
    quantiles_of,
)


@kernel("BoostedTreesQuantileStreamResourceHandleOp", devices=HOST)
def _(node, env):
    name = node.attrs["shared_name"] or node.name
    find = env.resources.get_or_create
    return Constant(
        find(QuantileStreams, node.attrs["container"], name, lambda: QuantileStreams(name))
    )


@kernel("IsBoostedTreesQuantileStreamResourceInitialized", devices=HOST, fresh=True)
def _(node):
    return lambda state: torch.tensor(state.streams is not None)


@kernel("BoostedTreesCreateQuantileStreamResource", devices=HOST)
def _(node):
    most = node.attrs["max_elements"]

    def run(state, epsilon, num_streams):
        with state.lock:
            state.create(epsilon.item(), most, num_streams.item())

    return run


@kernel("BoostedTreesMakeQuantileSummaries", devices=HOST, fresh=True)
def _(node):
    def run(*inputs):
        *features, weights, epsilon = (to_array(value) for value in inputs)
        size = features[0].size
        if weights.size not in (1, size):
            raise errors.InvalidArgumentError(
                None, None, "Weights should be a single value or same size as features."
            )
        each = np.broadcast_to(weights.reshape(-1), size)
        summaries = []
        for feature in features:
            stream = QuantileStream(epsilon.item(), size + 1)
            stream.push(feature.reshape(-1), each)
            summaries.append(torch.from_numpy(stream.summary().copy()))
        return _outputs(summaries)

    return run


def _outputs(tensors):
    return tensors[0] if len(tensors) == 1 else tuple(tensors)


@kernel("BoostedTreesFlushQuantileSummaries", devices=HOST, fresh=True)
def _(node):
    def run(state):
        with state.lock:
            return _outputs([torch.from_numpy(table.copy()) for table in state.flush()])

    return run


@kernel("BoostedTreesQuantileStreamResourceAddSummaries", devices=HOST)
def _(node):
    def run(state, *summaries):
        with state.lock:
            streams = state.existing()
            if len(streams) != len(summaries):
                raise errors.InvalidArgumentError(
                    None, None, f"{len(streams)} streams can't take {len(summaries)} summaries"
                )
            for stream, summary in zip(streams, summaries, strict=True):
                stream.push_summary(to_array(summary).copy())

    return run


@kernel("BoostedTreesQuantileStreamResourceDeserialize", devices=HOST)
def _(node):
    def run(state, *boundaries):
        with state.lock:
            state.existing()
            state.set_boundaries([to_array(each).copy() for each in boundaries])

    return run


@kernel("BoostedTreesQuantileStreamResourceFlush", devices=HOST)
def _(node):
    exact = node.attrs["generate_quantiles"]

    def run(state, num_buckets):
        count = num_buckets.item()
        with state.lock:
            tables = state.flush()
            if exact:
                found = [quantiles_of(table, count - 1) for table in tables]
            else:
                found = [np.unique(boundaries_of(table, count)) for table in tables]
            state.set_boundaries(found)

    return run


@kernel("BoostedTreesQuantileStreamResourceGetBucketBoundaries", devices=HOST, fresh=True)
def _(node):
    def run(state):
        with state.lock:
            state.existing()
            return _outputs([torch.from_numpy(each.copy()) for each in state.boundaries])

    return run


@kernel("BoostedTreesBucketize", devices=HOST, fresh=True)
def _(node):
    count = node.attrs["num_features"]

    def run(*inputs):
        pairs = zip(inputs[:count], inputs[count:], strict=True)
        return _outputs([_buckets(*pair) for pair in pairs])

    return run


def _buckets(values, boundaries):
    found = torch.searchsorted(boundaries, values)
    return found.clamp(max=max(boundaries.numel() - 1, 0)).to(torch.int32)
