"""Kernels of summaries: they write Summary messages."""

import numpy as np

from penstock import proto
from penstock.kernels.registry import HOST, kernel
from penstock.kernels.summary_values import (
    audio_summary,
    histogram_summary,
    image_summary,
    invalid,
    tag_of,
    whole_tensor,
)
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
            raise invalid(
                f"tags and values not the same shape: {list(tags.shape)} != "
                f"{list(numbers.shape)}"
                + (f" (tag '{tags[()].decode()}')" if not tags.ndim else ""),
            )
        summary = proto.Summary()
        plain = numbers.astype(np.float64).reshape(-1).tolist()
        for tag, number in zip(tags.reshape(-1).tolist(), plain, strict=True):
            summary.value.add(tag=tag.decode(), simple_value=number)
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
                raise invalid("Could not parse one of the summary inputs") from error
            for value in part.value:
                if value.tag and value.tag in tags:
                    raise invalid(f"Duplicate tag {value.tag} found in summary inputs")
                tags.add(value.tag)
            merged.MergeFrom(part)
        return _message(merged)

    return run


@kernel("HistogramSummary", devices=HOST)
def _(node):
    return lambda tag, values: _message(histogram_summary(node.name, tag_of(tag), values))


@kernel("ImageSummary", devices=HOST)
def _(node):
    count = node.attrs["max_images"]
    bad_color = np.asarray(node.attrs["bad_color"])
    if bad_color.dtype != np.uint8 or bad_color.ndim != 1:
        raise invalid(f"bad_color must be a vector of uint8, got {bad_color!r}")
    return lambda tag, tensor: _message(image_summary(tag_of(tag), tensor, count, bad_color))


@kernel("AudioSummary", devices=HOST)
def _(node):
    count, rate = node.attrs["max_outputs"], node.attrs["sample_rate"]
    return lambda tag, tensor: _message(audio_summary(tag_of(tag), tensor, count, rate))


@kernel("AudioSummaryV2", devices=HOST)
def _(node):
    count = node.attrs["max_outputs"]
    return lambda tag, tensor, rate: _message(
        audio_summary(tag_of(tag), tensor, count, float(rate))
    )


@kernel("TensorSummary", devices=HOST)
def _(node):
    dtype = node.attrs["T"]

    def run(tensor):
        summary = proto.Summary()
        summary.value.add(node_name=node.name, tensor=whole_tensor(tensor, dtype))
        return _message(summary)

    return run


@kernel("TensorSummaryV2", devices=HOST)
def _(node):
    dtype = node.attrs["T"]

    def run(tag, tensor, metadata):
        summary = proto.Summary()
        value = summary.value.add(tag=tag_of(tag), tensor=whole_tensor(tensor, dtype))
        value.metadata.MergeFromString(metadata[()])
        return _message(summary)

    return run
