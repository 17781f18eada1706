"""`tf.compat.v2.summary`: tensors with the metadata of TensorBoard's plugins."""

import glob

import numpy as np
import pytest

import penstock as tf
from penstock.internal_paths.graph_mode import eager_mode

summary = tf.compat.v2.summary


@pytest.fixture
def written(tmp_path):
    """What a function writes, as {tag: (step, plugin, tensor)}."""

    def values_of(write):
        writer = summary.create_file_writer(str(tmp_path))
        with writer.as_default():
            write()
        writer.close()
        (path,) = glob.glob(str(tmp_path / "*"))
        return {
            value.tag: (
                event.step,
                value.metadata.plugin_data.plugin_name,
                tf.make_ndarray(value.tensor),
            )
            for event in tf.train.summary_iterator(path)
            for value in event.summary.value
        }

    with eager_mode():
        yield values_of


def test_numbers_and_texts(written):
    def write():
        summary.scalar("loss", 3, step=1)
        with tf.name_scope("outer"):
            summary.text("words", ["a", "b"], step=2)

    found = written(write)
    assert found["loss"] == (1, "scalars", 3.0)
    assert found["loss"][2].dtype == np.float32
    step, plugin, texts = found["outer/words"]
    assert (step, plugin, texts.tolist()) == (2, "text", [b"a", b"b"])


def test_histograms(written):
    def write():
        summary.histogram("spread", [1.0, 2.0, 3.0, 3.5, 5.0], step=1, buckets=4)
        summary.histogram("equal", [2.0, 2.0], step=1)
        summary.histogram("empty", np.zeros([0]), step=1)
        summary.histogram("usual", np.arange(100), step=1)

    found = {tag: rows for tag, (_, _, rows) in written(write).items()}
    assert found["spread"].tolist() == [[1, 2, 1], [2, 3, 1], [3, 4, 2], [4, 5, 1]]
    assert found["equal"].tolist() == [[1.5, 2.5, 2]]
    assert found["empty"].shape == (0, 3)
    assert found["usual"].shape == (30, 3)


def test_images_and_sounds(written):
    def write():
        summary.image("image", tf.ones([2, 4, 5, 3]), step=1, max_outputs=1)
        summary.image("none", tf.ones([2, 4, 5, 3]), step=1, max_outputs=0)
        summary.audio("audio", tf.zeros([2, 8, 1]), 8000, step=1)

    found = written(write)
    width, height, png = found["image"][2].tolist()
    assert (width, height, png[:4]) == (b"5", b"4", b"\x89PNG")
    assert found["none"][2].tolist() == [b"5", b"4"]
    assert found["audio"][1] == "audio"
    assert [(wav[:4], label) for wav, label in found["audio"][2]] == [(b"RIFF", b"")] * 2


def test_what_is_refused(written):
    def write():
        with pytest.raises(ValueError, match="No step set"):
            summary.scalar("loss", 1.0)
        with pytest.raises(ValueError, match="Expected scalar shape"):
            summary.scalar("loss", [1.0, 2.0], step=1)
        with pytest.raises(TypeError, match="must be of type"):
            summary.text("words", 1.0, step=1)
        with pytest.raises(ValueError, match="Unknown encoding: 'mp3'"):
            summary.audio("audio", tf.zeros([2, 8, 1]), 8000, step=1, encoding="mp3")

    assert written(write) == {}


def test_in_a_function(written):
    @tf.function
    def step(x, number):
        summary.scalar("inside", x, step=number)
        return x + 1

    found = written(lambda: step(tf.constant(2.0), tf.constant(7, tf.int64)))
    assert found["inside"] == (7, "scalars", 2.0)
