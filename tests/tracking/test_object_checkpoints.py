"""`tf.train.Checkpoint`: what is saved under which key, and what comes back."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.train import tracking

sys.path.insert(0, str(Path(__file__).parent))
import object_program

DATA = Path(__file__).with_name("data")


@pytest.fixture(autouse=True)
def graph() -> Iterator[tf.Graph]:
    with tf.Graph().as_default() as made:
        yield made


def _keys(path: str) -> set[str]:
    return {name for name, _ in tf.train.list_variables(path)}


def test_objects_of_real_tensorflow_come_back() -> None:
    checkpoint, made = object_program.build(tf)
    status = checkpoint.read(str(DATA / "objects")).assert_consumed()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        status.run_restore_ops(session)
        restored = session.run(object_program.state(checkpoint, made))
    expected = json.loads((DATA / "objects.json").read_text())
    for value, wanted in zip(restored, expected, strict=True):
        np.testing.assert_array_equal(value, np.asarray(wanted, value.dtype))


def test_keys_and_object_graph_are_those_of_tensorflow(tmp_path: Path) -> None:
    checkpoint, _ = object_program.build(tf)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        path = checkpoint.write(str(tmp_path / "objects"), session=session)
    assert _keys(path) == _keys(str(DATA / "objects"))
    ours, theirs = (tracking.object_metadata(each) for each in (path, str(DATA / "objects")))
    for own, recorded in zip(ours.nodes, theirs.nodes, strict=True):
        recorded.ClearField("has_checkpoint_values")
        assert own == recorded


def test_save_numbers_checkpoints_and_records_the_latest(tmp_path: Path) -> None:
    variable = tf.Variable(1.0)
    checkpoint = tf.train.Checkpoint(v=variable)
    with tf.Session() as session:
        session.run(variable.initializer)
        first = checkpoint.save(str(tmp_path / "new" / "ckpt"))
        session.run(variable.assign(5.0))
        nodes = len(session.graph.get_operations())
        second = checkpoint.save(str(tmp_path / "new" / "ckpt"))
        assert (first, second) == tuple(str(tmp_path / "new" / f"ckpt-{n}") for n in (1, 2))
        assert tf.train.latest_checkpoint(tmp_path / "new") == second
        checkpoint.restore(first).assert_consumed().run_restore_ops()
        assert session.run([variable, checkpoint.save_counter]) == [1.0, 1]
        checkpoint.restore(second).initialize_or_restore()
        assert session.run(variable) == 5.0
        grown = len(session.graph.get_operations()) - nodes
        checkpoint.restore(first).run_restore_ops()
        assert len(session.graph.get_operations()) - nodes == grown  # restoring nodes are reused


def test_what_comes_later_is_restored_then(tmp_path: Path) -> None:
    checkpoint, made = object_program.build(tf)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(made["train"])
        path = checkpoint.save(str(tmp_path / "c"))
        expected = session.run(object_program.state(checkpoint, made))
    with tf.Graph().as_default(), tf.Session() as session:
        later = tf.train.Checkpoint()
        status = later.restore(path)
        with pytest.raises(AssertionError, match="Unresolved object"):
            status.assert_consumed()
        status.assert_existing_objects_matched()
        built, made = object_program.build(tf)
        later.parts = []
        later.adam, later.weights, later.momentum = built.adam, built.weights, built.momentum
        for part in list(built.parts):
            later.parts.append(part)
        status.assert_consumed().initialize_or_restore(session)
        restored = session.run(object_program.state(later, made))
    for value, wanted in zip(restored, expected, strict=True):
        np.testing.assert_array_equal(value, wanted)


def test_an_object_that_the_checkpoint_lacks_is_told(tmp_path: Path) -> None:
    variable = tf.Variable(1.0)
    with tf.Session() as session:
        session.run(variable.initializer)
        path = tf.train.Checkpoint(v=variable).write(str(tmp_path / "c"))
        other = tf.train.Checkpoint(v=variable, stranger=tf.Variable(2.0))
        status = other.restore(path)
        with pytest.raises(AssertionError, match="Some Python objects were not bound"):
            status.assert_existing_objects_matched()
        status.assert_nontrivial_match().expect_partial().initialize_or_restore()
        assert session.run(other.stranger) == 2.0
        lonely = tf.train.Checkpoint(w=variable).read(path)
        with pytest.raises(AssertionError, match="Nothing except the root object matched"):
            lonely.assert_nontrivial_match()


def test_without_a_checkpoint_variables_are_initialized() -> None:
    variable = tf.Variable(3.0)
    status = tf.train.Checkpoint(v=variable).restore(None)
    with tf.Session() as session:
        status.initialize_or_restore()
        assert session.run(variable) == 3.0
    with pytest.raises(AssertionError, match="No checkpoint specified"):
        status.assert_consumed()
    with pytest.raises(AssertionError, match="No checkpoint specified"):
        status.run_restore_ops()


def test_a_checkpoint_of_a_saver_is_restored_by_name(tmp_path: Path) -> None:
    variable = tf.Variable(3.0, name="named")
    with tf.Session() as session:
        session.run(variable.initializer)
        path = tf.train.Saver([variable]).save(session, str(tmp_path / "s"))
        session.run(variable.assign(0.0))
        root = tf.contrib.checkpoint.Checkpointable()
        root.any = variable
        status = tracking.TrackableSaver(tracking.ObjectGraphView(root)).restore(path)
        with pytest.raises(AssertionError, match="Object not restored"):
            status.assert_consumed()
        status.run_restore_ops()
        status.assert_consumed()
        assert session.run(variable) == 3.0


def test_a_saver_reads_an_object_based_checkpoint(tmp_path: Path) -> None:
    variable = tf.Variable(3.0, name="named")
    with tf.Session() as session:
        session.run(variable.initializer)
        path = tf.train.Checkpoint(v=variable).write(str(tmp_path / "o"))
        session.run(variable.assign(0.0))
        tf.train.Saver([variable]).restore(session, path)
        assert session.run(variable) == 3.0


def test_the_last_restore_decides(tmp_path: Path) -> None:
    paths = []
    for value in (1.0, 2.0):
        with tf.Graph().as_default(), tf.Session() as session:
            variable = tf.Variable(value)
            session.run(variable.initializer)
            paths.append(tf.train.Checkpoint(v=variable).write(str(tmp_path / f"{value}")))
    checkpoint = tf.train.Checkpoint()
    statuses = [checkpoint.restore(path) for path in paths]
    checkpoint.v = tf.Variable(0.0)
    with tf.Session() as session:
        for status in reversed(statuses):
            status.initialize_or_restore()
        assert session.run(checkpoint.v) == 2.0


class _Subclassed(tf.keras.Model):  # type: ignore[misc,name-defined]
    def __init__(self) -> None:
        super().__init__()
        self._first = tf.keras.layers.Dense(1)
        self.others = [tf.keras.layers.Dense(1, use_bias=False)]

    def call(self, inputs: Any) -> Any:
        return self.others[0](self._first(inputs))


def test_layers_cells_templates_and_keras_models_have_keys() -> None:
    dense = tf.layers.Dense(2)
    dense(tf.ones([1, 3]))
    cell = tf.nn.rnn_cell.MultiRNNCell([tf.nn.rnn_cell.BasicLSTMCell(2), tf.nn.rnn_cell.GRUCell(2)])
    tf.nn.static_rnn(cell, [tf.ones([1, 2])], dtype=tf.float32)
    template = tf.make_template("t", lambda: tf.get_variable("inside", [1]))
    template()
    model = tf.keras.Sequential(
        [tf.keras.layers.Dense(1, input_shape=(2,)), tf.keras.layers.ReLU()]
    )
    subclassed = _Subclassed()
    subclassed(tf.ones([1, 2]))
    root = tf.train.Checkpoint(
        dense=dense, cell=cell, template=template, model=model, subclassed=subclassed
    )
    _, message, _ = tracking.ObjectGraphView(root).serialize_object_graph()
    keys = {each.checkpoint_key for node in message.nodes for each in node.attributes}
    assert keys == {
        f"{path}/.ATTRIBUTES/VARIABLE_VALUE"
        for path in (
            "dense/kernel",
            "dense/bias",
            "cell/cell-0/kernel",
            "cell/cell-0/bias",
            "cell/cell-1/gates.Skernel",
            "cell/cell-1/gates.Sbias",
            "cell/cell-1/candidate.Skernel",
            "cell/cell-1/candidate.Sbias",
            "template/inside",
            "model/layer_with_weights-0/kernel",
            "model/layer_with_weights-0/bias",
            "subclassed/_first/kernel",
            "subclassed/_first/bias",
            "subclassed/others/0/kernel",
        )
    }


def test_only_trackable_values_are_taken() -> None:
    with pytest.raises(ValueError, match="was expecting a trackable object"):
        tf.train.Checkpoint(number=3)
    root: Any = tracking.AutoTrackable()
    with pytest.raises(TypeError, match="not a Trackable"):
        root._track_trackable(3, name="x")
    root._track_trackable(tf.Variable(1.0), name="x")
    with pytest.raises(ValueError, match="already declared as a dependency"):
        root._track_trackable(tf.Variable(1.0), name="x")


def test_streaming_restore_runs_operations_as_they_come(tmp_path: Path) -> None:
    with tf.Session() as session:
        variable = tf.Variable(3.0)
        session.run(variable.initializer)
        path = tf.train.Checkpoint(v=variable).write(str(tmp_path / "c"))
        checkpoint = tf.train.Checkpoint()
        tracking.streaming_restore(checkpoint.restore(path))
        checkpoint.v = tf.Variable(0.0)
        assert session.run(checkpoint.v) == 3.0


class TestManager:
    def test_old_checkpoints_are_deleted(self, tmp_path: Path) -> None:
        checkpoint = tf.train.Checkpoint(v=tf.Variable(1.0))
        manager = tf.train.CheckpointManager(checkpoint, str(tmp_path), max_to_keep=2)
        assert manager.latest_checkpoint is None
        with tf.Session() as session:
            session.run(checkpoint.v.initializer)
            paths = [manager.save() for _ in range(3)]
            assert manager.checkpoints == paths[1:]
            assert [tf.train.checkpoint_exists(path) for path in paths] == [False, True, True]
            named = manager.save(checkpoint_number=42)
            assert named == str(tmp_path / "ckpt-42")
        again = tf.train.CheckpointManager(checkpoint, str(tmp_path), max_to_keep=2)
        assert again.checkpoints == [paths[2], named]
        assert again.latest_checkpoint == named == tf.train.latest_checkpoint(tmp_path)

    def test_some_are_kept_for_good(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        now = [10000.0]
        monkeypatch.setattr("time.time", lambda: now[0])
        checkpoint = tf.train.Checkpoint(v=tf.Variable(1.0))
        manager = tf.train.CheckpointManager(
            checkpoint, str(tmp_path), max_to_keep=1, keep_checkpoint_every_n_hours=2
        )
        with tf.Session() as session:
            session.run(checkpoint.v.initializer)
            paths = []
            for _ in range(4):
                now[0] += 3600
                paths.append(manager.save())
        assert [tf.train.checkpoint_exists(path) for path in paths] == [False, True, False, True]

    def test_it_must_keep_one(self, tmp_path: Path) -> None:
        with pytest.raises(ValueError, match="positive integer"):
            tf.train.CheckpointManager(tf.train.Checkpoint(), str(tmp_path), max_to_keep=0)
