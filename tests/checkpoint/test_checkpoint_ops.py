"""The operations SaveV2, RestoreV2, Save, SaveSlices, Restore, RestoreSlice, MergeV2Checkpoints."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock import raw_ops
from tests.checkpoint import values

DATA = Path(__file__).with_name("data")


@pytest.fixture
def session() -> Iterator[tf.Session]:
    with tf.Graph().as_default(), tf.Session() as made:
        yield made


def _save(session: tf.Session, prefix: Path, **arrays: Any) -> None:
    names = list(arrays)
    session.run(
        raw_ops.SaveV2(
            prefix=str(prefix),
            tensor_names=names,
            shape_and_slices=[""] * len(names),
            tensors=[tf.constant(array) for array in arrays.values()],
        )
    )


def _restore(prefix: Path, name: str, dtype: Any, spec: str = "") -> Any:
    return raw_ops.RestoreV2(
        prefix=str(prefix), tensor_names=[name], shape_and_slices=[spec], dtypes=[dtype]
    )[0]


def test_restores_what_tensorflow_saved(session: tf.Session) -> None:
    arrays = values.plain()
    tensors = raw_ops.RestoreV2(
        prefix=str(DATA / "plain"),
        tensor_names=list(arrays),
        shape_and_slices=[""] * len(arrays),
        dtypes=[tf.string if a.dtype == object else tf.as_dtype(a.dtype) for a in arrays.values()],
    )
    for name, restored in zip(arrays, session.run(tensors), strict=True):
        assert np.asarray(restored).tolist() == arrays[name].tolist(), name


def test_a_v1_checkpoint_is_restored_too(session: tf.Session) -> None:
    value = session.run(_restore(DATA / "plain_v1", "float32/matrix", tf.float32))
    np.testing.assert_array_equal(value, values.number("float32", (3, 2)))


def test_slices(session: tf.Session, tmp_path: Path) -> None:
    _save(session, tmp_path / "x", a=np.arange(12.0).reshape(4, 3))
    part = _restore(tmp_path / "x", "a", tf.float64, "4 3 1,2:-")
    assert part.shape == (2, 3)
    np.testing.assert_array_equal(session.run(part), np.arange(12.0).reshape(4, 3)[1:3])


@pytest.mark.parametrize(
    ("name", "dtype", "spec", "error", "words"),
    [
        ("weight", tf.float32, "", tf.errors.NotFoundError, "nearest names in it: weights"),
        ("weights", tf.int32, "", tf.errors.InvalidArgumentError, "expected dtype int32"),
        ("weights", tf.float32, "3 0,2", tf.errors.InvalidArgumentError, "stored in checkpoint"),
    ],
)
def test_what_is_not_there_is_explained(
    session: tf.Session, tmp_path: Path, name: str, dtype: Any, spec: str, error: Any, words: str
) -> None:
    _save(session, tmp_path / "x", weights=np.float32([1, 2]))
    with pytest.raises(error, match=words):
        session.run(_restore(tmp_path / "x", name, dtype, spec))


def test_wrong_paths_are_explained(session: tf.Session, tmp_path: Path) -> None:
    _save(session, tmp_path / "model-100", a=np.float32(1))
    with pytest.raises(tf.errors.NotFoundError, match="checkpoints with that start: .*model-100"):
        session.run(_restore(tmp_path / "model", "a", tf.float32))
    one_file = tmp_path / "model-100.data-00000-of-00001"
    with pytest.raises(tf.errors.DataLossError, match="give the prefix that they share"):
        session.run(_restore(one_file, "a", tf.float32))


def test_one_name_twice(session: tf.Session, tmp_path: Path) -> None:
    twice = raw_ops.SaveV2(
        prefix=str(tmp_path / "x"),
        tensor_names=["a", "a"],
        shape_and_slices=["", ""],
        tensors=[tf.constant(1), tf.constant(2)],
    )
    with pytest.raises(tf.errors.InvalidArgumentError, match="duplicate key: a"):
        session.run(twice)
    assert list(tmp_path.iterdir()) == [], "a save that failed leaves nothing behind"


def test_a_failed_save_keeps_the_old_checkpoint(session: tf.Session, tmp_path: Path) -> None:
    _save(session, tmp_path / "x", a=np.float32(1))
    bad = raw_ops.SaveV2(
        prefix=str(tmp_path / "x"),
        tensor_names=["a", "b"],
        shape_and_slices=["", "4 0,3"],
        tensors=[tf.constant(2.0), tf.constant([1.0, 2.0])],
    )
    with pytest.raises(tf.errors.InvalidArgumentError, match="does not match the shape"):
        session.run(bad)
    assert session.run(_restore(tmp_path / "x", "a", tf.float32)) == 1.0


def test_v1_operations(session: tf.Session, tmp_path: Path) -> None:
    path = str(tmp_path / "old")
    session.run(raw_ops.Save(filename=path, tensor_names=["a"], data=[tf.constant([1.0, 2.0])]))
    restore = raw_ops.Restore(file_pattern=path, tensor_name="a", dt=tf.float32)
    np.testing.assert_array_equal(session.run(restore), [1.0, 2.0])
    part = raw_ops.RestoreSlice(
        file_pattern=path, tensor_name="a", shape_and_slice="2 1,1", dt=tf.float32
    )
    assert part.shape == (1,)
    np.testing.assert_array_equal(session.run(part), [2.0])


def test_v1_slices_from_several_files(session: tf.Session, tmp_path: Path) -> None:
    for shard, (spec, part) in enumerate({"3 0,1": [1.0], "3 1,2": [2.0, 3.0]}.items()):
        save = raw_ops.SaveSlices(
            filename=str(tmp_path / f"old-{shard:05d}-of-00002"),
            tensor_names=["a"],
            shapes_and_slices=[spec],
            data=[tf.constant(part)],
        )
        session.run(save)
    pattern = str(tmp_path / "old-?????-of-00002")
    restore = raw_ops.Restore(file_pattern=pattern, tensor_name="a", dt=tf.float32)
    np.testing.assert_array_equal(session.run(restore), [1.0, 2.0, 3.0])


def test_merging(session: tf.Session, tmp_path: Path) -> None:
    aside = tmp_path / "m_temp"
    aside.mkdir()
    _save(session, aside / "part-0", a=np.float32([1, 2]))
    _save(session, aside / "part-1", b=np.int64(7))
    merge = raw_ops.MergeV2Checkpoints(
        checkpoint_prefixes=[str(aside / "part-0"), str(aside / "part-1")],
        destination_prefix=str(tmp_path / "m"),
    )
    session.run(merge)
    assert session.run(_restore(tmp_path / "m", "b", tf.int64)) == 7
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "m.data-00000-of-00002",
        "m.data-00001-of-00002",
        "m.index",
    ]


def test_merging_refuses_a_name_that_two_have(session: tf.Session, tmp_path: Path) -> None:
    for name in ("x", "y"):
        _save(session, tmp_path / name, a=np.float32(1))
    merge = raw_ops.MergeV2Checkpoints(
        checkpoint_prefixes=[str(tmp_path / "x"), str(tmp_path / "y")],
        destination_prefix=str(tmp_path / "m"),
    )
    with pytest.raises(tf.errors.InvalidArgumentError, match="Duplicate tensor keyed by a"):
        session.run(merge)


def test_a_matrix_from_a_path_in_a_list(session: tf.Session, tmp_path: Path) -> None:
    _save(session, tmp_path / "x", a=np.float32([[1, 2], [3, 4]]))

    def load(paths: list[str]) -> Any:
        return raw_ops.LoadAndRemapMatrix(
            ckpt_path=paths,
            old_tensor_name="a",
            row_remapping=[1, 0],
            col_remapping=[],
            initializing_values=[],
            num_rows=2,
            num_cols=2,
        )

    assert session.run(load([str(tmp_path / "x")])).tolist() == [[3, 4], [1, 2]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="exactly one element"):
        session.run(load([str(tmp_path / "x")] * 2))
