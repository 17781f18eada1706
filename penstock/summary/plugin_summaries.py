"""`tf.compat.v2.summary`: tensors that TensorBoard's plugins know by the metadata beside them."""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock import proto
from penstock.ops.audio import encode_wav
from penstock.summary.op_summaries import summary_scope, write

_BUCKETS = 30
_WAV = b"\x10\x0b"  # the audio plugin's message, of which only the encoding is set


def scalar(name: str, data: Any, step: Any = None, description: str | None = None) -> Any:
    """Writes a number, as float32; gives whether that happened."""
    metadata = _metadata("scalars", description)
    with summary_scope(name, "scalar_summary", values=[data, step]) as (tag, _):
        tf.debugging.assert_scalar(data)
        return write(tag, tf.cast(data, tf.float32), step, metadata)


def histogram(
    name: str, data: Any, step: Any = None, buckets: Any = None, description: str | None = None
) -> Any:
    """Writes how many elements fall in each of `buckets` (30) intervals of equal width.

    The tensor has a row for each interval: its left and right edge, and the number of elements.
    """
    metadata = _metadata("histograms", description)
    with summary_scope(name, "histogram_summary", values=[data, buckets, step]) as (tag, _):
        rows = _intervals(data, _BUCKETS if buckets is None else buckets)
        return write(tag, rows, step, metadata)


def image(
    name: str, data: Any, step: Any = None, max_outputs: Any = 3, description: str | None = None
) -> Any:
    """Writes the first `max_outputs` of a batch of images as PNG files, after width and height."""
    metadata = _metadata("images", description)
    with summary_scope(name, "image_summary", values=[data, max_outputs, step]) as (tag, _):
        tf.debugging.assert_rank(data, 4)
        tf.debugging.assert_non_negative(max_outputs)
        images = tf.image.convert_image_dtype(data, tf.uint8, saturate=True)
        files = tf.map_fn(
            tf.image.encode_png, images[:max_outputs], dtype=tf.string, name="encode_each_image"
        )
        sizes = tf.shape(images)
        texts = [tf.as_string(sizes[2], name="width"), tf.as_string(sizes[1], name="height")]
        return write(tag, tf.concat([tf.stack(texts, name="dimensions"), files], 0), step, metadata)


def audio(
    name: str,
    data: Any,
    sample_rate: Any,
    step: Any = None,
    max_outputs: Any = 3,
    encoding: str | None = None,
    description: str | None = None,
) -> Any:
    """Writes the first `max_outputs` of a batch of clips, [clips, frames, channels], as WAV files.

    Each comes with an empty label, which the plugin's format has a place for.
    """
    if encoding not in (None, "wav"):
        raise ValueError(f"Unknown encoding: {encoding!r}")
    metadata = _metadata("audio", description, _WAV)
    values = [data, sample_rate, max_outputs, step]
    with summary_scope(name, "audio_summary", values=values) as (tag, _):
        tf.debugging.assert_rank(data, 3)
        tf.debugging.assert_non_negative(max_outputs)
        clips = data[:max_outputs]
        files = tf.map_fn(
            lambda clip: encode_wav(clip, sample_rate),
            clips,
            dtype=tf.string,
            name="encode_each_audio",
        )
        labels = tf.tile([""], tf.shape(clips)[:1])
        return write(tag, tf.stack([files, labels], axis=1), step, metadata)


def text(name: str, data: Any, step: Any = None, description: str | None = None) -> Any:
    """Writes strings, which TensorBoard reads as Markdown."""
    metadata = _metadata("text", description)
    with summary_scope(name, "text_summary", values=[data, step]) as (tag, _):
        tf.debugging.assert_type(data, tf.string)
        return write(tag, data, step, metadata)


def _metadata(plugin: str, description: str | None, content: bytes = b"") -> Any:
    metadata = proto.SummaryMetadata(summary_description=description or "")
    metadata.plugin_data.plugin_name = plugin
    metadata.plugin_data.content = content
    return metadata


def _intervals(data: Any, count: Any) -> Any:
    """[left edge, right edge, elements] of each interval; none where there are no elements."""
    with tf.name_scope("buckets"):
        tf.debugging.assert_scalar(count)
        tf.debugging.assert_type(count, tf.int32)
        flat = tf.cast(tf.reshape(data, [-1]), tf.float64)

        def none() -> Any:
            return tf.zeros([0, 3], tf.float64)

        return tf.cond(tf.equal(tf.size(flat), 0), none, lambda: _filled_intervals(flat, count))


def _filled_intervals(flat: Any, count: Any) -> Any:
    least, greatest = tf.reduce_min(flat), tf.reduce_max(flat)

    def around_one_value() -> Any:
        total = tf.cast(tf.size(flat), tf.float64)
        return tf.stack([[least - 0.5, least + 0.5, total]])

    def of_equal_width() -> Any:
        width = (greatest - least) / tf.cast(count, tf.float64)
        numbers = tf.cast(tf.floor((flat - least) / width), tf.int32)
        # The greatest element is in the last interval, too.
        held = tf.math.unsorted_segment_sum(
            tf.ones_like(flat), tf.minimum(numbers, count - 1), count
        )
        edges = tf.concat([tf.linspace(least, greatest, count + 1)[:-1], [greatest]], 0)
        return tf.stack([edges[:-1], edges[1:], held], axis=1)

    return tf.cond(tf.equal(least, greatest), around_one_value, of_equal_width)
