"""Whatever fails, and whenever the power goes: the latest checkpoint can be loaded."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import penstock as tf
from penstock.checkpoint import disk
from tests.checkpoint.faulty_disks import FailingDisk, PowerLoss, RecordingDisk

OLD, NEW = 1.0, 2.0
Save = Callable[[float], None]


@pytest.fixture(params=["single", "sharded"])
def sharded(request: pytest.FixtureRequest) -> bool:
    return request.param == "sharded"


@pytest.fixture(params=["new name", "same name"])
def step(request: pytest.FixtureRequest) -> int | None:
    return 2 if request.param == "new name" else None


@pytest.fixture
def save(tmp_path: Path, sharded: bool, step: int | None) -> Iterator[Save]:
    """Saves two variables of a value to the folder "run"; there is a checkpoint already."""
    (tmp_path / "run").mkdir()
    with tf.Graph().as_default(), tf.Session() as session:
        with tf.device("/cpu:0"):
            v = tf.Variable(tf.fill([50], OLD), name="v")
        w = tf.Variable(tf.fill([50], OLD), name="w")
        saver = tf.train.Saver(sharded=sharded, max_to_keep=1)
        session.run(tf.global_variables_initializer())

        def run(value: float) -> None:
            session.run([v.assign(tf.fill([50], value)), w.assign(tf.fill([50], value))])
            saver.save(session, str(tmp_path / "run" / "model"), global_step=step)

        saver.save(session, str(tmp_path / "run" / "model"), global_step=step and 1)
        yield run


def _value_of_latest(folder: Path) -> float:
    path = tf.train.latest_checkpoint(str(folder))
    assert path is not None, sorted(folder.iterdir())
    return _value_of(path)


def _value_of(path: str) -> float:
    reader = tf.train.load_checkpoint(path)
    values = np.concatenate([reader.get_tensor("v"), reader.get_tensor("w")])
    assert values.shape == (100,)
    assert values.min() == values.max(), "half of one checkpoint, half of the other"
    return float(values[0])


def _restore_folder(folder: Path, original: Path) -> None:
    shutil.rmtree(folder)
    shutil.copytree(original, folder)


def _error_of(save: Save) -> str | None:
    try:
        save(NEW)
    except tf.errors.OpError as error:
        return error.message
    return None


@pytest.mark.parametrize("stays_down", [False, True], ids=["fails once", "stays down"])
def test_a_failure_at_any_operation(
    tmp_path: Path, save: Save, stays_down: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, original = tmp_path / "run", tmp_path / "original"
    shutil.copytree(folder, original)
    failed = attempts = 0
    while True:
        attempts += 1
        _restore_folder(folder, original)
        failing = FailingDisk(attempts, stays_down=stays_down)
        with monkeypatch.context() as patch:
            patch.setattr(disk, "current", failing)
            message = _error_of(save)
        failed += message is not None
        assert message is None or str(folder) in message, "an error names its file"
        assert _value_of_latest(folder) in (OLD, NEW)
        for index in folder.glob("*.index"):
            _value_of(str(index).removesuffix(".index"))
        if not stays_down:
            assert not list(folder.glob("*.tempstate*"))
        if failing.count < attempts:
            break
    assert _value_of_latest(folder) == NEW
    assert failed > 10


def test_a_power_loss_at_any_moment(
    tmp_path: Path, save: Save, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "run"
    model = PowerLoss(folder)
    recording = RecordingDisk()
    with monkeypatch.context() as patch:
        patch.setattr(disk, "current", recording)
        save(NEW)
    found = []
    for name, args, _ in recording.events:
        model.happens(name, args)
        for files in model.outcomes():
            found.append(_value_in(folder, files))
    assert {"create", "write", "sync", "rename", "sync_directory"} <= {
        name for name, _, _ in recording.events
    }
    assert found[0] == OLD
    assert {_value_in(folder, files) for files in model.outcomes()} == {NEW}, (
        "a save that returned lasts"
    )


def _value_in(folder: Path, files: dict[str, bytes]) -> float:
    shutil.rmtree(folder)
    folder.mkdir()
    for path, content in files.items():
        Path(path).parent.mkdir(exist_ok=True)
        Path(path).write_bytes(content)
    value = _value_of_latest(folder)
    assert value in (OLD, NEW)
    return value


def test_a_file_system_without_links(
    tmp_path: Path, save: Save, monkeypatch: pytest.MonkeyPatch
) -> None:
    class NoLinks(disk.Disk):
        def link(self, source: str, target: str) -> None:
            raise PermissionError(1, "no links here")

    monkeypatch.setattr(disk, "current", NoLinks())
    for value in (NEW, OLD, NEW):
        save(value)
        assert _value_of_latest(tmp_path / "run") == value


def test_nothing_is_left_over(tmp_path: Path, save: Save, step: int | None, sharded: bool) -> None:
    save(NEW)
    name = "model" if step is None else "model-2"
    shards = ["00000-of-00002", "00001-of-00002"] if sharded else ["00000-of-00001"]
    assert sorted(path.name for path in (tmp_path / "run").iterdir()) == sorted(
        ["checkpoint", f"{name}.index", f"{name}.meta", *(f"{name}.data-{s}" for s in shards)]
    )


def test_two_threads_save_under_one_name(
    tmp_path: Path, save: Save, monkeypatch: pytest.MonkeyPatch
) -> None:
    over, waiting = threading.Event(), threading.Event()
    graph = tf.get_default_graph()

    class Slow(disk.Disk):
        def link(self, source: str, target: str) -> None:
            if not waiting.is_set():
                waiting.set()
                over.wait(0.3)  # in the middle of its save the other one gets its turn
            super().link(source, target)

    def save_beside() -> None:
        waiting.wait(1.0)
        with graph.as_default():
            save(OLD)
        over.set()

    monkeypatch.setattr(disk, "current", Slow())
    with ThreadPoolExecutor(1) as pool:
        beside = pool.submit(save_beside)
        save(OLD)
        beside.result()
    assert _value_of_latest(tmp_path / "run") == OLD
