"""Disks that fail, and a disk that loses what was not synced when the power goes."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

from penstock.checkpoint.disk import Disk

OPERATIONS = [name for name in vars(Disk) if not name.startswith("_")]


def _overriding(around: Callable[[Any, str, Callable[..., Any], tuple[Any, ...]], Any]) -> type:
    """A kind of disk whose every operation goes through a function."""

    def method(name: str) -> Callable[..., Any]:
        # These disks decide themselves what lasts; waiting for the real one would prove nothing.
        operation = (lambda *_: None) if name.startswith("sync") else getattr(Disk, name)
        return lambda self, *args: around(self, name, lambda: operation(self, *args), args)

    return type("_Overridden", (Disk,), {name: method(name) for name in OPERATIONS})


def _fail_in_turn(disk: Any, name: str, operation: Callable[[], Any], args: Any) -> Any:
    disk.count += 1
    if disk.count == disk.fails_at or (disk.count > disk.fails_at and disk.stays_down):
        raise OSError(errno.EIO, f"{name} fails")
    return operation()


class FailingDisk(_overriding(_fail_in_turn)):  # type: ignore[misc]
    """Fails at one operation; one that stays down is what a killed process leaves behind."""

    def __init__(self, fails_at: int, *, stays_down: bool):
        self.fails_at, self.stays_down, self.count = fails_at, stays_down, 0


def _record(disk: Any, name: str, operation: Callable[[], Any], args: Any) -> Any:
    result = operation()
    disk.note(name, args, result)
    return result


class RecordingDisk(_overriding(_record)):  # type: ignore[misc]
    """Does as it is told, and remembers it."""

    def __init__(self) -> None:
        self.events: list[tuple[str, Any, Any]] = []
        self._paths: dict[int, tuple[str, BinaryIO]] = {}

    def note(self, name: str, args: Any, result: Any) -> None:
        if name == "create":
            self._paths[id(result)] = args[0], result
        elif name == "write":
            args = (self._paths[id(args[0])][0], bytes(args[1]))
        elif name == "sync":
            args = (self._paths[id(args[0])][0],)
        self.events.append((name, args, None))


class PowerLoss:
    """What a file system that promises no more than it must holds after a power loss.

    1. The contents of a file are those of its last sync.
    2. Changes of names up to the last sync of their directory are there; of those after it, some
       of the first.
    """

    def __init__(self, folder: Path):
        self._names: dict[str, int] = {}
        self._written: list[bytes] = []
        self._synced: list[bytes] = []
        for path in folder.rglob("*"):
            if path.is_file():
                self._names[str(path)] = self._new(path.read_bytes())
        self._last = dict(self._names)
        self._pending: list[tuple[str, Callable[[dict[str, int]], None]]] = []

    def _new(self, content: bytes) -> int:
        self._written.append(content)
        self._synced.append(content)
        return len(self._written) - 1

    def _change(self, path: str, change: Callable[[dict[str, int]], None]) -> None:
        change(self._names)
        self._pending.append((os.path.dirname(path), change))

    def happens(self, name: str, args: Any) -> None:
        if name == "create":
            number = self._new(b"")
            self._change(args[0], lambda names: names.update({args[0]: number}))
        elif name == "write":
            self._written[self._names[args[0]]] += args[1]
        elif name == "sync":
            number = self._names[args[0]]
            self._synced[number] = self._written[number]
        elif name == "rename":
            number = self._names[args[0]]

            def rename(names: dict[str, int]) -> None:
                names.pop(args[0], None)
                names[args[1]] = number

            self._change(args[1], rename)
        elif name == "link":
            number = self._names[args[0]]
            self._change(args[1], lambda names: names.update({args[1]: number}))
        elif name == "remove":
            self._change(args[0], lambda names: names.pop(args[0], None) and None)
        elif name == "sync_directory":
            for directory, change in self._pending:
                if directory == args[0]:
                    change(self._last)
            self._pending = [entry for entry in self._pending if entry[0] != args[0]]

    def outcomes(self) -> Iterator[dict[str, bytes]]:
        """The files that may be found, for each number of changes that were still written."""
        names = dict(self._last)
        yield {path: self._synced[number] for path, number in names.items()}
        for _, change in self._pending:
            change(names)
            yield {path: self._synced[number] for path, number in names.items()}
