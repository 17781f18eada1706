"""`tf.contrib.deprecated`: the summaries of TensorFlow 0.x, which have tags as tensors."""

from penstock.ops.old_summaries import (
    audio_summary,
    histogram_summary,
    image_summary,
    merge_all_summaries,
    merge_summary,
    scalar_summary,
)

__all__ = [
    "audio_summary",
    "histogram_summary",
    "image_summary",
    "merge_all_summaries",
    "merge_summary",
    "scalar_summary",
]
