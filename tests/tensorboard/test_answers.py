"""What the real TensorBoard finds in the files that a training run of Penstock writes."""

from __future__ import annotations

import io
import subprocess
import sys
import urllib.parse
import wave
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from google.protobuf import text_format
from PIL import Image

import penstock as tf
from tests.tensorboard.board import Board
from tests.tensorboard.training_run import RUN, STEPS, TRACE_TAG


def test_scalars(shown: Board) -> None:
    assert list(shown.ask("plugin/scalars/tags")[RUN]) == ["loss"]
    points = shown.ask("plugin/scalars/scalars", run=RUN, tag="loss")
    assert [step for _, step, _ in points] == list(range(STEPS))
    losses = [loss for _, _, loss in points]
    assert losses == sorted(losses, reverse=True), "training makes the loss smaller"


def test_histograms(shown: Board) -> None:
    assert list(shown.ask("plugin/histograms/tags")[RUN]) == ["spread"]
    drawn = shown.ask("plugin/histograms/histograms", run=RUN, tag="spread")
    assert [step for _, step, _ in drawn] == list(range(STEPS))
    for _, _, buckets in drawn:
        assert round(sum(count for _, _, count in buckets)) == 12, "one count for each weight"


def test_images(shown: Board) -> None:
    tags = shown.ask("plugin/images/tags")[RUN]
    assert sorted(tags) == ["picture/image/0", "picture/image/1"]
    entries = shown.ask("plugin/images/images", run=RUN, tag="picture/image/1", sample=0)
    picture = np.asarray(Image.open(_blob(shown, "images/individualImage", entries[-1])))
    assert picture.shape == (8, 8)
    assert picture[0, 0] < picture[7, 7] == 255


def test_audio(shown: Board) -> None:
    assert list(shown.ask("plugin/audio/tags")[RUN]) == ["tone/audio/0"]
    entries = shown.ask("plugin/audio/audio", run=RUN, tag="tone/audio/0", sample=0)
    with wave.open(_blob(shown, "audio/individualAudio", entries[-1])) as sound:
        assert (sound.getframerate(), sound.getnframes(), sound.getnchannels()) == (8000, 800, 1)


def _blob(shown: Board, path: str, entry: dict[str, Any]) -> io.BytesIO:
    query = dict(urllib.parse.parse_qsl(entry["query"]))
    return io.BytesIO(shown.read(f"plugin/{path}", **query))


def test_text(shown: Board) -> None:
    assert shown.ask("plugin/text/tags")[RUN] == ["note"]
    (first, *_) = shown.ask("plugin/text/text", run=RUN, tag="note")
    assert "<strong>bold</strong>" in first["text"]


def test_the_graph(shown: Board) -> None:
    graph = tf.GraphDef()
    text_format.Parse(shown.read("plugin/graphs/graph", run=RUN, conceptual="false"), graph)
    types = {node.name: node.op for node in graph.node}
    assert types["batch"] == "Placeholder"
    assert types["encoder/MatMul"] == "MatMul"
    assert types["objective/Mean"] == "Mean"


def test_node_statistics(shown: Board) -> None:
    assert shown.ask("plugin/graphs/info")[RUN]["tags"][TRACE_TAG]["profile"]
    metadata = tf.RunMetadata()
    text_format.Parse(shown.read("plugin/graphs/run_metadata", run=RUN, tag=TRACE_TAG), metadata)
    (device,) = metadata.step_stats.dev_stats
    assert "CPU:0" in device.device
    measured = {node.node_name: node for node in device.node_stats}
    product = measured["encoder/MatMul"]
    assert product.all_end_rel_micros > 0
    shape = product.output[0].tensor_description.shape
    assert [dim.size for dim in shape.dim] == [5, 3]


def test_without_tensorboard(tmp_path: Path) -> None:
    script = (
        "import importlib.util, sys; from penstock import cli;"
        "importlib.util.find_spec = lambda name: None;"
        "sys.exit(cli.main(['tensorboard', 'logs']))"
    )
    ended = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, cwd=tmp_path, check=False
    )
    assert ended.returncode == 1
    assert "pip install 'penstock[tensorboard]'" in ended.stderr


@pytest.mark.parametrize("first", ["penstock", "tensorboard"])
def test_both_in_one_process(first: str) -> None:
    """TensorBoard brings TensorFlow's messages too; ours are in a pool of their own."""
    script = f"""
import {first}
import penstock as tf
from tensorboard.compat.proto.event_pb2 import Event
ours = tf.Event(step=3, summary=tf.Summary(value=[tf.Summary.Value(tag="a", simple_value=2.0)]))
theirs = Event.FromString(ours.SerializeToString())
assert type(theirs) is not type(ours)
assert theirs.summary.value[0].simple_value == 2.0
assert tf.Event.FromString(theirs.SerializeToString()) == ours
"""
    subprocess.run([sys.executable, "-c", script], check=True)


def test_the_example_of_the_documentation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (Path(__file__).parents[2] / "docs" / "tensorboard.md").read_text(encoding="utf-8")
    program = text.split("```python\n")[1].split("```")[0]
    monkeypatch.chdir(tmp_path)
    with tf.Graph().as_default():
        exec(program, {})
    (file,) = (tmp_path / "logs" / "first").iterdir()
    kinds = [event.WhichOneof("what") for event in tf.train.summary_iterator(str(file))]
    assert kinds.count("summary") == 100
    assert {"graph_def", "tagged_run_metadata"} <= set(kinds)
