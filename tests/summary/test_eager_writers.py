"""Writers of summaries in eager mode, and summaries of what ran."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import penstock as tf
from penstock import proto
from penstock.internal_paths.graph_mode import eager_mode, graph_mode
from penstock.platform import logging
from penstock.summary import op_summaries, op_traces, op_writers


@pytest.fixture(autouse=True)
def _eagerly() -> Iterator[None]:
    with eager_mode():
        yield
    op_traces.trace_off()


def _steps(directory: Path) -> list[list[int]]:
    """The steps in each file of a folder, in the order of the files' names."""
    return [
        [event.step for event in tf.train.summary_iterator(str(file))][1:]
        for file in sorted(directory.iterdir())
    ]


def _written(tmp_path: Path, write: Any) -> Any:
    """The value that a function writes as its only summary."""
    with op_writers.create_file_writer_v2(str(tmp_path)).as_default():
        write()
    (file,) = tmp_path.iterdir()
    _, event = tf.train.summary_iterator(str(file))
    return event.summary.value[0]


def test_each_writer_has_a_file_of_its_own(tmp_path: Path) -> None:
    first = op_writers.create_file_writer_v2(str(tmp_path))
    second = op_writers.create_file_writer_v2(str(tmp_path))
    for step, writer in enumerate([first, second, first]):
        with writer.as_default():
            op_summaries.write("tag", 1, step=step)
    assert sorted(_steps(tmp_path)) == [[0, 2], [1]]


def test_a_closed_writer_stays_closed(tmp_path: Path) -> None:
    writer = op_writers.create_file_writer_v2(str(tmp_path))
    writer.close()
    assert writer.close() is None
    assert writer.flush() is None
    for use in (writer.init, writer.set_as_default, lambda: writer.as_default().__enter__()):
        with pytest.raises(RuntimeError, match="already closed"):
            use()


def test_a_file_is_closed_with_the_last_reference(tmp_path: Path) -> None:
    writer = op_writers.create_file_writer_v2(str(tmp_path), max_queue=10)
    with writer.as_default():
        op_summaries.write("tag", 1, step=7)
    state = writer._resource._value
    del writer
    with pytest.raises(tf.errors.NotFoundError, match="Resource .* does not exist"):
        state.flush()
    assert _steps(tmp_path) == [[7]]


def test_a_function_that_loses_its_writer(tmp_path: Path) -> None:
    @tf.function
    def function() -> None:
        with op_writers.create_file_writer_v2(str(tmp_path)).as_default():
            pass

    with pytest.raises(tf.errors.NotFoundError, match="does not exist"):
        function()
    assert len(os.listdir(tmp_path)) == 1


def test_tensors_of_graphs_are_no_arguments(tmp_path: Path) -> None:
    with graph_mode():
        folder = tf.constant(str(tmp_path))
    with pytest.raises(ValueError, match="Invalid graph Tensor argument.*logdir"):
        op_writers.create_file_writer_v2(folder)


def test_broken_summaries_are_lost_data(tmp_path: Path) -> None:
    with (
        op_writers.create_file_writer_v2(str(tmp_path)).as_default(),
        pytest.raises(tf.errors.DataLossError, match="Summary binary proto .* at index 1"),
    ):
        op_summaries.write_raw_pb([b"", b"\xff"], step=1)


def test_metadata_of_runs(tmp_path: Path) -> None:
    metadata = proto.RunMetadata()
    metadata.step_stats.dev_stats.add(device="cpu:0")
    metadata.function_graphs.add().pre_optimization_graph.node.add(name="foo")
    value = _written(tmp_path, lambda: op_traces.run_metadata("whole", metadata, step=1))
    assert (value.tag, value.metadata.plugin_data.plugin_name) == ("whole", "graph_run_metadata")
    assert proto.RunMetadata.FromString(value.tensor.string_val[0]) == metadata


def test_a_trace_has_the_functions_that_were_called(tmp_path: Path) -> None:
    @tf.function
    def function() -> Any:
        return tf.constant(2, name="inside") ** 3

    op_traces.trace_on()

    def export() -> None:
        function()
        function()
        op_traces.trace_export("trace", step=1)

    value = _written(tmp_path, export)
    (graphs,) = proto.RunMetadata.FromString(value.tensor.string_val[0]).function_graphs
    assert "inside" in [node.name for node in graphs.pre_optimization_graph.node]
    with pytest.raises(ValueError, match="Must enable trace before export"):
        op_traces.trace_export("trace", step=1)


def test_traces_of_graphs_are_refused_with_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    monkeypatch.setattr(logging, "warn", told.append)
    with graph_mode():
        op_traces.trace_on()
        op_traces.trace_export("trace", step=1)
    assert told == [
        "Must enable trace in eager mode.",
        "Can only export trace while executing eagerly.",
    ]
    with pytest.raises(tf.errors.UnimplementedError, match="profile"):
        op_traces.trace_on(profiler=True)


def test_models_without_a_configuration_are_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    monkeypatch.setattr(logging, "warn", told.append)

    class Model:
        def to_json(self) -> str:
            raise NotImplementedError("oops")

    assert op_traces.keras_model("model", Model(), step=1) is False
    assert told == ["Model failed to serialize as JSON. Ignoring... oops"]


def test_models_are_written_as_json(tmp_path: Path) -> None:
    model = tf.keras.Sequential([tf.keras.layers.Dense(2, input_shape=(3,))])
    value = _written(tmp_path, lambda: op_traces.keras_model("model", model, step=1))
    assert value.tensor.string_val[0].decode() == model.to_json()
