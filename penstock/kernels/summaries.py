"""Kernels of summaries: they write Summary messages."""

import numpy as np

from penstock import errors, proto
from penstock.kernels.registry import HOST, kernel
from penstock.kernels.values import to_array


def _message(summary):
    value = np.empty((), dtype=object)
    value[()] = summary.SerializeToString(deterministic=True)
    return value


@kernel("ScalarSummary", devices=HOST)
def _(node):
    def run(tags, values):
        numbers = to_array(values)
        if tags.shape != numbers.shape:
            raise errors.InvalidArgumentError(
                None,
                None,
                f"tags and values are not the same shape: {list(tags.shape)} != "
                f"{list(numbers.shape)}"
                + (f" (tag '{tags[()].decode()}')" if not tags.ndim else ""),
            )
        summary = proto.Summary()
        for tag, number in zip(tags.reshape(-1), numbers.reshape(-1), strict=True):
            summary.value.add(tag=tag.decode(), simple_value=float(number))
        return _message(summary)

    return run


@kernel("MergeSummary", devices=HOST)
def _(node):
    def run(*inputs):
        merged = proto.Summary()
        tags = set()
        for entry in (text for value in inputs for text in value.reshape(-1)):
            try:
                part = proto.Summary.FromString(entry)
            except Exception as error:
                raise errors.InvalidArgumentError(
                    None, None, "Could not parse one of the summary inputs"
                ) from error
            for value in part.value:
                if value.tag and value.tag in tags:
                    raise errors.InvalidArgumentError(
                        None, None, f"Duplicate tag {value.tag} found in summary inputs"
                    )
                tags.add(value.tag)
            merged.MergeFrom(part)
        return _message(merged)

    return run
