"""Summaries of images, against what real TensorFlow wrote to an event file."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import penstock as tf
from penstock import raw_ops
from tests.summary.images import IMAGES

RECORDED = Path(__file__).with_name("data") / "images.tfevents"


@pytest.fixture(autouse=True)
def graph() -> Iterator[tf.Graph]:
    with tf.Graph().as_default() as made:
        yield made


def _recorded() -> dict[str, Any]:
    events = [event for event in tf.train.summary_iterator(str(RECORDED)) if event.summary.value]
    return dict(zip(IMAGES, (event.summary for event in events), strict=True))


def _described(summary: Any) -> list[Any]:
    return [
        (
            value.tag.partition("/")[2],
            value.image.height,
            value.image.width,
            value.image.colorspace,
            np.asarray(Image.open(io.BytesIO(value.image.encoded_image_string))).tolist(),
        )
        for value in summary.value
    ]


@pytest.mark.parametrize("name", IMAGES)
def test_images_are_tensorflows(name: str) -> None:
    with tf.Session() as session:
        made = session.run(tf.summary.image(name, tf.constant(IMAGES[name]), max_outputs=2))
    assert _described(tf.Summary.FromString(made)) == _described(_recorded()[name])


def test_image_options() -> None:
    gap = tf.constant(np.full((1, 1, 1, 3), np.nan, np.float32))
    summary = raw_ops.ImageSummary(
        tag="t", tensor=gap, max_images=1, bad_color=np.array([1, 2, 3, 4], np.uint8)
    )
    with tf.Session() as session:
        made = _described(tf.Summary.FromString(session.run(summary)))
        assert made == [("image", 1, 1, 3, [[[1, 2, 3]]])]
        with pytest.raises(tf.errors.InvalidArgumentError, match="last dim 1, 3, or 4"):
            session.run(tf.summary.image("two", tf.zeros([1, 2, 2, 2])))


def test_the_old_audio_summary() -> None:
    """AudioSummary: TensorFlow has no kernel for it any more, old graphs have such nodes."""
    sounds = tf.constant([[0.5, -0.5]])
    old = raw_ops.AudioSummary(tag="t", tensor=sounds, sample_rate=100.0)
    new = raw_ops.AudioSummaryV2(tag="t", tensor=sounds, sample_rate=100.0)
    with tf.Session() as session:
        made = session.run([old, new])
    assert made[0] == made[1]


def test_old_names() -> None:
    x = tf.constant([1.0, 2.0])
    tf.scalar_summary(["a", "b"], x)
    tf.histogram_summary("h", x)
    with tf.Session() as session:
        merged = tf.Summary.FromString(session.run(tf.merge_all_summaries()))
    assert [value.tag for value in merged.value] == ["a", "b", "h"]


def test_descriptions() -> None:
    node = raw_ops.TensorSummary(tensor=tf.constant(1.0), description='{"type_hint": "x"}').op
    assert tf.summary.get_summary_description(node.node_def).type_hint == "x"
    with pytest.raises(ValueError, match="Can't get_summary_description on Const"):
        tf.summary.get_summary_description(tf.constant(1).op.node_def)
    with pytest.raises(ValueError, match="dtype string"):
        tf.summary.text("t", tf.constant(1.0))
