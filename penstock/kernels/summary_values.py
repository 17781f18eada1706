"""Summary messages of numbers, distributions, pictures, sounds and tensors.

The ops that give a summary and the ops that write one to a file make the same message.
"""

import numpy as np

from penstock import dtypes, errors, proto
from penstock.ir.tensor_codec import array_to_proto
from penstock.kernels.summary_media import as_pixels, encode_png, encode_wav, histogram_of
from penstock.kernels.values import to_array


def invalid(message):
    return errors.InvalidArgumentError(None, None, message)


def tag_of(value):
    """A tag, which is a tensor with one string."""
    if value.ndim or value.size != 1:
        raise invalid(f"tag must be scalar, got a tensor of shape {list(value.shape)}")
    return value[()].decode()


def histogram_summary(node_name, tag, values):
    numbers = to_array(values).astype(np.float64).reshape(-1)
    for word, is_bad in (("Nan", np.isnan), ("Infinity", np.isinf)):
        if is_bad(numbers).any():
            raise invalid(f"{word} in summary histogram for: {node_name}")
    summary = proto.Summary()
    summary.value.add(tag=tag, histo=histogram_of(numbers))
    return summary


def image_summary(tag, tensor, count, bad_color):
    images = to_array(tensor)
    if images.ndim != 4 or images.shape[3] not in (1, 3, 4):
        raise invalid(
            f"Tensor must be 4-D with last dim 1, 3, or 4, not [{','.join(map(str, images.shape))}]"
        )
    height, width, channels = images.shape[1:]
    if len(bad_color) < channels:
        raise invalid(f"expected {channels} entries in bad_color, got {len(bad_color)}")
    summary = proto.Summary()
    for number, image in enumerate(images[:count]):
        pixels = image if image.dtype == np.uint8 else as_pixels(image, bad_color[:channels])
        value = summary.value.add(tag=_numbered(tag, "image", number, count))
        value.image.height, value.image.width = height, width
        value.image.colorspace = channels
        value.image.encoded_image_string = encode_png(pixels)
    return summary


def audio_summary(tag, tensor, count, frames_a_second):
    sounds = to_array(tensor)
    if sounds.ndim not in (2, 3):
        raise invalid(f"Tensor must be 3-D or 2-D, got: {list(sounds.shape)}")
    if frames_a_second <= 0:
        raise invalid(f"sample_rate must be positive, got {frames_a_second}")
    summary = proto.Summary()
    for number, sound in enumerate(sounds[:count]):
        samples = sound.reshape(len(sound), -1) if sound.size else sound.reshape(len(sound), 1)
        value = summary.value.add(tag=_numbered(tag, "audio", number, count))
        value.audio.sample_rate = frames_a_second
        value.audio.length_frames, value.audio.num_channels = samples.shape
        value.audio.encoded_audio_string = encode_wav(samples, int(frames_a_second))
        value.audio.content_type = "audio/wav"
    return summary


def _numbered(tag, kind, number, count):
    return f"{tag}/{kind}/{number}" if count > 1 else f"{tag}/{kind}"


def whole_tensor(tensor, dtype):
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
