"""`tf.train.Saver`: saving, restoring, what is kept, and what is said when it can't be done."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.testing.checkpointed_table import CheckpointedOp

DATA = Path(__file__).with_name("data")


@pytest.fixture(autouse=True)
def graph() -> Iterator[tf.Graph]:
    with tf.Graph().as_default() as made:
        yield made


def _initialized() -> tf.Session:
    session = tf.Session()
    session.run(tf.global_variables_initializer())
    return session


def test_every_kind_of_variable_comes_back(tmp_path: Path) -> None:
    made = [
        tf.Variable([1.5, 2.5], name="reference"),
        tf.Variable(np.int64(7), name="resource", use_resource=True),
        tf.Variable(["a", "b"], name="text"),
        tf.Variable(tf.constant([1.0, 2.0], tf.bfloat16), name="short"),
    ]
    parts = tf.get_variable(
        "parts", [5, 2], partitioner=tf.fixed_size_partitioner(2), initializer=tf.ones_initializer
    )
    saver = tf.train.Saver()
    with _initialized() as session:
        before = session.run(made)
        path = saver.save(session, str(tmp_path / "model"), global_step=3)
        assert path == str(tmp_path / "model-3")
    with tf.Session() as session:
        saver.restore(session, path)
        for old, new in zip(before, session.run(made), strict=True):
            np.testing.assert_array_equal(old, new)
        np.testing.assert_array_equal(session.run(parts.as_tensor()), np.ones((5, 2)))


def test_partitions_may_be_cut_otherwise(tmp_path: Path) -> None:
    whole = np.arange(14, dtype=np.float32).reshape(7, 2)
    tf.get_variable("p", initializer=tf.constant(whole), partitioner=tf.fixed_size_partitioner(3))
    with _initialized() as session:
        path = tf.train.Saver().save(session, str(tmp_path / "model"))
    for parts in (None, tf.fixed_size_partitioner(2)):
        with tf.Graph().as_default(), tf.Session() as session:
            p = tf.get_variable("p", [7, 2], partitioner=parts)
            tf.train.Saver().restore(session, path)
            np.testing.assert_array_equal(session.run(tf.convert_to_tensor(p)), whole)


def test_names_in_a_dictionary(tmp_path: Path) -> None:
    v = tf.Variable(1.0, name="v")
    with _initialized() as session:
        path = tf.train.Saver({"other": v}).save(session, str(tmp_path / "model"))
    assert tf.train.list_variables(path) == [("other", [])]
    assert tf.train.load_variable(path, "other:0") == 1.0


def test_only_the_last_ones_are_kept(tmp_path: Path) -> None:
    tf.Variable(1.0)
    saver = tf.train.Saver(max_to_keep=2)
    with _initialized() as session:
        paths = [saver.save(session, str(tmp_path / "model"), global_step=n) for n in range(4)]
        paths += [saver.save(session, str(tmp_path / "model"), global_step=2)]
    assert saver.last_checkpoints == [paths[3], paths[2]]
    assert [tf.train.checkpoint_exists(path) for path in paths[:4]] == [False, False, True, True]
    assert not os.path.exists(f"{paths[0]}.meta")
    assert tf.train.latest_checkpoint(str(tmp_path)) == paths[2]
    state = tf.train.get_checkpoint_state(str(tmp_path))
    assert list(state.all_model_checkpoint_paths) == [paths[3], paths[2]]


def test_one_every_n_hours_is_kept_for_good(tmp_path: Path) -> None:
    tf.Variable(1.0)
    saver = tf.train.Saver(max_to_keep=1, keep_checkpoint_every_n_hours=0.05 / 3600)
    with _initialized() as session:
        time.sleep(0.1)
        first = saver.save(session, str(tmp_path / "model"), global_step=1)
        second = saver.save(session, str(tmp_path / "model"), global_step=2)
        third = saver.save(session, str(tmp_path / "model"), global_step=3)
    assert [tf.train.checkpoint_exists(path) for path in (first, second, third)][0::2] == [
        True,
        True,
    ]


def test_paths_of_the_state_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tf.Variable(1.0)
    saver = tf.train.Saver(save_relative_paths=True, pad_step_number=True)
    with _initialized() as session:
        saver.save(session, str(tmp_path / "model"), global_step=5)
    text = (tmp_path / "checkpoint").read_text()
    assert text.splitlines()[0] == 'model_checkpoint_path: "model-00000005"'
    assert tf.train.latest_checkpoint(str(tmp_path)) == str(tmp_path / "model-00000005")
    monkeypatch.chdir(tmp_path)
    with _initialized() as session:
        assert tf.train.Saver().save(session, "here") == "here"
    assert tf.train.latest_checkpoint(".") == "./here"


def test_sharded(tmp_path: Path) -> None:
    with tf.device("/cpu:0"):
        v = tf.Variable([1.0, 2.0], name="v")
    w = tf.Variable(3, name="w", use_resource=True)
    saver = tf.train.Saver(sharded=True)
    with _initialized() as session:
        path = saver.save(session, str(tmp_path / "model"))
        assert path == str(tmp_path / "model")
        assert len(list(tmp_path.glob("model.data-*-of-00002"))) == 2
        assert not list(tmp_path.glob("*_temp*"))
        session.run([v.assign([0.0, 0.0]), w.assign(0)])
        saver.restore(session, path)
        np.testing.assert_array_equal(session.run(v), [1.0, 2.0])
        assert session.run(w) == 3


@pytest.mark.parametrize("sharded", [False, True])
def test_the_first_format(tmp_path: Path, sharded: bool) -> None:
    v = tf.Variable([1.0, 2.0], name="v")
    saver = tf.train.Saver(write_version=tf.train.SaverDef.V1, sharded=sharded)
    with _initialized() as session:
        path = saver.save(session, str(tmp_path / "model"))
        assert path == str(tmp_path / ("model-?????-of-00001" if sharded else "model"))
        session.run(v.assign([0.0, 0.0]))
        saver.restore(session, tf.train.latest_checkpoint(str(tmp_path)))
        np.testing.assert_array_equal(session.run(v), [1.0, 2.0])


def test_reshaping(tmp_path: Path) -> None:
    tf.Variable([[1.0, 2.0], [3.0, 4.0]], name="v")
    with _initialized() as session:
        path = tf.train.Saver().save(session, str(tmp_path / "model"))
    with tf.Graph().as_default(), tf.Session() as session:
        v = tf.Variable([0.0] * 4, name="v")
        with pytest.raises(tf.errors.InvalidArgumentError, match="mismatch between the current"):
            tf.train.Saver().restore(session, path)
        tf.train.Saver(reshape=True).restore(session, path)
        np.testing.assert_array_equal(session.run(v), [1.0, 2.0, 3.0, 4.0])


def test_objects_of_ones_own(tmp_path: Path) -> None:
    class Doubled(tf.train.saver.BaseSaverBuilder.SaveableObject):  # type: ignore[misc]
        def __init__(self, variable: Any, name: str):
            spec = tf.train.saver.BaseSaverBuilder.SaveSpec(variable.value() * 2, "", name)
            super().__init__(variable, [spec], name)

        def restore(self, restored_tensors: Any, restored_shapes: Any) -> Any:
            return self.op.assign(restored_tensors[0] + 1)

    v = tf.Variable(5.0, name="v")
    saver = tf.train.Saver([Doubled(v, "twice")])
    with _initialized() as session:
        path = saver.save(session, str(tmp_path / "model"))
        assert tf.train.load_variable(path, "twice") == 10.0
        saver.restore(session, path)
        assert session.run(v) == 11.0


def test_what_can_not_be_saved() -> None:
    v = tf.Variable([1.0], name="v")
    with pytest.raises(ValueError, match="same saveable will be restored with two names: b"):
        tf.train.Saver({"a": v, "b": v})
    with pytest.raises(TypeError, match="Not a variable"):
        tf.train.Saver({"a": tf.constant(1.0)})
    with pytest.raises(TypeError, match="dict or a list"):
        tf.train.Saver(v)
    w = tf.Variable([1.0], name="w")
    w._set_save_slice_info(tf.Variable.SaveSliceInfo("v", [1], [0], [1]))
    with pytest.raises(ValueError, match="same name: v"):
        tf.train.Saver([v, w])
    with pytest.raises(ValueError, match="defer_build"):
        tf.train.Saver([v], defer_build=True)
    with tf.Graph().as_default():
        with pytest.raises(ValueError, match="No variables to save"):
            tf.train.Saver()
        assert (
            tf.train.Saver(allow_empty=True).save(
                tf.Session(), "/nowhere/x", write_meta_graph=False
            )
            is None
        )


def test_what_is_said_when_saving_fails(tmp_path: Path) -> None:
    tf.Variable(1.0)
    saver = tf.train.Saver()
    with _initialized() as session:
        with pytest.raises(ValueError, match="Parent directory of .* doesn't exist, can't save"):
            saver.save(session, str(tmp_path / "a" / "b" / "model"))
        with pytest.raises(ValueError, match="collides with"):
            saver.save(session, str(tmp_path / "checkpoint"))
        with pytest.raises(ValueError, match="must not contain path"):
            saver.save(session, str(tmp_path / "m"), latest_filename="a/b")
        with pytest.raises(TypeError, match="must be a Session"):
            saver.save("session", str(tmp_path / "m"))
        with pytest.raises(RuntimeError, match="build"):
            tf.train.Saver(defer_build=True).save(session, str(tmp_path / "m"))
    with tf.Session() as session, pytest.raises(tf.errors.FailedPreconditionError):
        saver.save(session, str(tmp_path / "m"))


def test_what_is_said_when_restoring_fails(tmp_path: Path) -> None:
    tf.Variable(1.0, name="weights")
    saver = tf.train.Saver()
    with _initialized() as session:
        path = saver.save(session, str(tmp_path / "model"))
        with pytest.raises(ValueError, match="Can't load save_path when it is None"):
            saver.restore(session, None)
        with pytest.raises(ValueError, match="not a valid checkpoint"):
            saver.restore(session, str(tmp_path / "nothing"))
        with pytest.raises(ValueError, match="give the prefix"):
            saver.restore(session, f"{path}.data-00000-of-00001")
    with tf.Graph().as_default(), tf.Session() as session:
        tf.Variable(1.0, name="weight")
        with pytest.raises(tf.errors.NotFoundError, match="Key weight not found.*weights"):
            tf.train.Saver().restore(session, path)


def test_recovering_after_a_restart(tmp_path: Path) -> None:
    tf.Variable(1.0)
    with _initialized() as session:
        saver = tf.train.Saver()
        paths = [saver.save(session, str(tmp_path / "m"), global_step=n) for n in range(2)]
        tf.train.remove_checkpoint(paths[0])
        restarted = tf.train.Saver()
        restarted.recover_last_checkpoints(paths)
        assert restarted.last_checkpoints == [paths[1]]
        times = tf.train.get_checkpoint_mtimes(paths)
        assert len(times) == 1
        assert abs(times[0] - time.time()) < 600


def test_initializing_from_a_checkpoint(tmp_path: Path) -> None:
    whole = np.arange(8, dtype=np.float32).reshape(4, 2)
    with tf.variable_scope("old"):
        tf.get_variable("a", initializer=tf.constant(whole))
        tf.get_variable("b", initializer=3.0)
    with _initialized() as session:
        path = tf.train.Saver().save(session, str(tmp_path / "model"))
    with tf.Graph().as_default():
        with tf.variable_scope("new"):
            a = tf.get_variable("a", [4, 2], partitioner=tf.fixed_size_partitioner(2))
            b = tf.get_variable("b", [], use_resource=True)
            c = tf.get_variable("c", [])
        tf.train.init_from_checkpoint(str(tmp_path), {"old/b": c})
        with pytest.raises(ValueError, match="is not found in"):
            tf.train.init_from_checkpoint(path, {"old/nothing": c})
        with pytest.raises(ValueError, match="doesn't match with shape"):
            tf.train.init_from_checkpoint(path, {"old/a": c})
        with pytest.raises(ValueError, match=r"old/c \(c in old/\) is not found"):
            tf.train.init_from_checkpoint(path, {"old/": "new/"})
        tf.train.init_from_checkpoint(path, {"old/a": "new/a", "old/b": b})
        with _initialized() as session:
            np.testing.assert_array_equal(session.run(a.as_tensor()), whole)
            assert session.run([b, c]) == [3.0, 3.0]


def test_reader() -> None:
    reader = tf.train.NewCheckpointReader(str(DATA / "partitioned"))
    assert reader.has_tensor("rows")
    assert not reader.has_tensor("row")
    assert reader.get_variable_to_shape_map() == {"rows": [7, 3], "even": [4, 2], "one": [3]}
    assert reader.get_variable_to_dtype_map()["one"] is tf.float32
    assert b"one (DT_FLOAT) [3]\n" in reader.debug_string()
    with pytest.raises(tf.errors.NotFoundError, match="Key nothing not found in checkpoint"):
        reader.get_tensor("nothing")
    with pytest.raises(tf.errors.NotFoundError, match="Failed to find any matching files"):
        tf.train.NewCheckpointReader("nowhere")


def test_a_table_comes_back(tmp_path: Path) -> None:
    table = CheckpointedOp("table")
    saver = tf.train.Saver()
    with tf.Session() as session:
        session.run(table.insert(["a", "b"], [1.0, 2.0]))
        path = saver.save(session, str(tmp_path / "model"))
        session.run(table.insert(["a", "c"], [7.0, 7.0]))
        saver.restore(session, path)
        found = dict(zip(*session.run([table.keys(), table.values()]), strict=True))
        assert found == {b"a": 1.0, b"b": 2.0}
        assert session.run(table.lookup(["b", "c"], -1.0)).tolist() == [2.0, -1.0]


def test_the_graph_is_written_before_the_state(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tf.Variable(1.0)
    saver = tf.train.Saver()
    with _initialized() as session:
        first = saver.save(session, str(tmp_path / "model"), global_step=1)
        with monkeypatch.context() as patch:
            patch.setattr(saver, "export_meta_graph", _fail)
            with pytest.raises(RuntimeError, match="no graph today"):
                saver.save(session, str(tmp_path / "model"), global_step=2)
        assert tf.train.latest_checkpoint(str(tmp_path)) == first


def _fail(*args: Any, **kwargs: Any) -> None:
    raise RuntimeError("no graph today")
