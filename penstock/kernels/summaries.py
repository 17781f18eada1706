"""Kernels of summaries: they write Summary messages."""

import numpy as np

from penstock import dtypes, errors, proto
from penstock.ir.tensor_codec import array_to_proto
from penstock.kernels.registry import HOST, kernel
from penstock.kernels.summary_media import as_pixels, encode_png, encode_wav, histogram_of
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


def _tag(value):
    if value.ndim or value.size != 1:
        raise errors.InvalidArgumentError(
            None, None, f"tag must be scalar, got a tensor of shape {list(value.shape)}"
        )
    return value[()].decode()


@kernel("HistogramSummary", devices=HOST)
def _(node):
    def run(tag, values):
        numbers = to_array(values).astype(np.float64).reshape(-1)
        for word, is_bad in (("Nan", np.isnan), ("Infinity", np.isinf)):
            if is_bad(numbers).any():
                raise errors.InvalidArgumentError(
                    None, None, f"{word} in summary histogram for: {node.name}"
                )
        summary = proto.Summary()
        summary.value.add(tag=_tag(tag), histo=histogram_of(numbers))
        return _message(summary)

    return run


@kernel("ImageSummary", devices=HOST)
def _(node):
    count = node.attrs["max_images"]
    bad_color = np.asarray(node.attrs["bad_color"])
    if bad_color.dtype != np.uint8 or bad_color.ndim != 1:
        raise errors.InvalidArgumentError(
            None, None, f"bad_color must be a vector of uint8, got {bad_color!r}"
        )

    def run(tag, tensor):
        images = to_array(tensor)
        if images.ndim != 4 or images.shape[3] not in (1, 3, 4):
            raise errors.InvalidArgumentError(
                None,
                None,
                "Tensor must be 4-D with last dim 1, 3, or 4, not "
                f"[{','.join(map(str, images.shape))}]",
            )
        height, width, channels = images.shape[1:]
        if len(bad_color) < channels:
            raise errors.InvalidArgumentError(
                None, None, f"expected {channels} entries in bad_color, got {len(bad_color)}"
            )
        summary = proto.Summary()
        for number, image in enumerate(images[:count]):
            pixels = image if image.dtype == np.uint8 else as_pixels(image, bad_color[:channels])
            value = summary.value.add(tag=_numbered(_tag(tag), "image", number, count))
            value.image.height, value.image.width = height, width
            value.image.colorspace = channels
            value.image.encoded_image_string = encode_png(pixels)
        return _message(summary)

    return run


def _numbered(tag, kind, number, count):
    return f"{tag}/{kind}/{number}" if count > 1 else f"{tag}/{kind}"


@kernel("AudioSummary", "AudioSummaryV2", devices=HOST)
def _(node):
    count = node.attrs["max_outputs"]
    fixed_rate = node.attrs.get("sample_rate")

    def run(tag, tensor, rate=None):
        sounds = to_array(tensor)
        if sounds.ndim not in (2, 3):
            raise errors.InvalidArgumentError(
                None, None, f"Tensor must be 3-D or 2-D, got: {list(sounds.shape)}"
            )
        frames_a_second = fixed_rate if rate is None else float(rate)
        if frames_a_second <= 0:
            raise errors.InvalidArgumentError(
                None, None, f"sample_rate must be positive, got {frames_a_second}"
            )
        summary = proto.Summary()
        for number, sound in enumerate(sounds[:count]):
            samples = sound.reshape(len(sound), -1) if sound.size else sound.reshape(len(sound), 1)
            value = summary.value.add(tag=_numbered(_tag(tag), "audio", number, count))
            value.audio.sample_rate = frames_a_second
            value.audio.length_frames, value.audio.num_channels = samples.shape
            value.audio.encoded_audio_string = encode_wav(samples, int(frames_a_second))
            value.audio.content_type = "audio/wav"
        return _message(summary)

    return run


@kernel("TensorSummary", devices=HOST)
def _(node):
    dtype = node.attrs["T"]

    def run(tensor):
        summary = proto.Summary()
        summary.value.add(node_name=node.name, tensor=_whole_tensor(tensor, dtype))
        return _message(summary)

    return run


@kernel("TensorSummaryV2", devices=HOST)
def _(node):
    dtype = node.attrs["T"]

    def run(tag, tensor, metadata):
        summary = proto.Summary()
        value = summary.value.add(tag=_tag(tag), tensor=_whole_tensor(tensor, dtype))
        value.metadata.MergeFromString(metadata[()])
        return _message(summary)

    return run


def _whole_tensor(tensor, dtype):
    """A value as a TensorProto with its bytes as they are, also if it is one number."""
    array = to_array(tensor)
    if dtype.base_dtype is dtypes.string:
        return array_to_proto(array, dtype)
    message = proto.TensorProto(dtype=dtype.as_datatype_enum)
    message.tensor_shape.SetInParent()
    for size in array.shape:
        message.tensor_shape.dim.add(size=size)
    message.tensor_content = np.ascontiguousarray(array).tobytes()
    return message
