"""Event files of summaries and graphs."""

from __future__ import annotations

import glob
import os
from typing import Any

from tensorflow_reads import read_with


def write(folder: str) -> None:
    """An event file with a graph, run metadata and summaries of all kinds."""
    import penstock as tf

    with tf.Graph().as_default() as graph, tf.Session() as session:
        values = tf.constant([[0.0, 0.5]], name="values")
        tf.summary.scalar("mean", tf.reduce_mean(values))
        tf.summary.histogram("histogram", values)
        tf.summary.image("image", tf.reshape(values, [1, 1, 2, 1]))
        tf.summary.audio("audio", values, 8000)
        tf.summary.text("text", tf.constant("words"))
        with tf.summary.FileWriter(os.path.join(folder, "events"), graph) as writer:
            metadata = tf.RunMetadata()
            options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
            summary = session.run(tf.summary.merge_all(), options=options, run_metadata=metadata)
            writer.add_run_metadata(metadata, "step 7")
            writer.add_summary(summary, 7)
            writer.add_session_log(tf.SessionLog(status=tf.SessionLog.START), 7)


def _events(tf: Any, folder: str) -> str:
    (file,) = glob.glob(os.path.join(folder, "events", "*tfevents*"))
    events = list(tf.train.summary_iterator(file))
    assert events[0].file_version == "brain.Event:2"
    summary = next(event.summary for event in events if event.summary.value)
    values = {value.tag: value for value in summary.value}
    assert values["histogram"].histo.num == 2
    with tf.Graph().as_default(), tf.Session() as session:
        image = tf.image.decode_png(values["image/image/0"].image.encoded_image_string)
        assert session.run(image).shape == (1, 2, 1)
        sound = tf.audio.decode_wav(values["audio/audio/0"].audio.encoded_audio_string)
        assert session.run(sound).audio.shape == (2, 1)
    metadata = next(e.tagged_run_metadata for e in events if e.HasField("tagged_run_metadata"))
    assert tf.RunMetadata.FromString(metadata.run_metadata).step_stats.dev_stats
    kinds = dict.fromkeys(event.WhichOneof("what") for event in events)
    return f"{', '.join(kinds)}; tags {', '.join(sorted(values))}"


READERS = {"event file": _events}


def check(folder: str, python: str) -> list[str]:
    """Writes the files with Penstock and has the TensorFlow of `python` read them."""
    write(folder)
    return read_with(python, __name__, folder)
