"""Memory that two tasks of one host share, so that tensors between them are copied once.

Who sends has an `Outbox`: it copies a value into the memory and says where it lies. Who receives
has the `Inbox` of the same memory: the value is a view of it, and a byte of the memory is cleared
when nobody uses the view any more, which gives the place back without a message.

The memory has no name in a file system. The receiver finds it in /proc among the sender's files,
and the system frees it when the last of the two is gone, however it ended.
"""

from __future__ import annotations

import fcntl
import hmac
import mmap
import os
import secrets
import threading
import time
import weakref
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from penstock.distributed.numbers_of_environment import number_of_environment

VARIABLE = "PENSTOCK_SHM"  # bytes that a task may have in such memories; 0: none, 1: as by default
SMALLEST = 1 << 16  # bytes of a value: smaller ones are as fast over the socket

_NAME = "penstock"
_PAGE = 4096
_SECRET_SIZE = 32
_SLOTS = 256  # values that a receiver may have at a time
_SLOTS_AT = 64  # behind the secret
_DATA_AT = _PAGE
_IDLE_SECONDS = 10.0  # until memory that nobody uses is given back to the system
# Linux's numbers of file seals, which older versions of Python do not name.
_ADD_SEALS, _GET_SEALS = 1033, 1034
_SEAL_SEAL, _SEAL_SHRINK, _SEAL_GROW = 1, 2, 4


def host_identity() -> str:
    """Names the running system; empty where memory can't be shared, or is not to be."""
    if allowance() < SMALLEST or not hasattr(os, "memfd_create"):
        return ""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return ""


def allowance() -> int:
    """The bytes of shared memory that this task may use for what it sends."""
    chosen = number_of_environment(VARIABLE, 1)
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return memory // 4 if chosen == 1 else int(min(chosen, memory))


class _Usage:
    """How much memory all outboxes of this process hold."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._bytes = 0

    def take(self, count: int) -> bool:
        with self._lock:
            if self._bytes + count > allowance():
                return False
            self._bytes += count
            return True

    def give_back(self, count: int) -> None:
        with self._lock:
            self._bytes -= count

    @property
    def bytes(self) -> int:
        return self._bytes


usage = _Usage()


@dataclass(frozen=True)
class Place:
    """Where a value lies: the byte to clear when it is done with, and its first byte."""

    slot: int
    begin: int


@dataclass(order=True)
class _Block:
    begin: int
    end: int
    slot: int = field(compare=False)


class Outbox:
    """The sender's end.

    1. A block is in use from `put` until its byte is cleared; blocks never overlap.
    2. The system gives memory when it is first written, and gets it back when nothing was in it for
       some time; `usage` counts it.
    3. The size never changes (the memory is sealed), so no access of the receiver can fail.
    """

    def __init__(self, size: int | None = None) -> None:
        size = allowance() if size is None else size
        self.size = max(size - size % _PAGE, 2 * _PAGE)
        self._file = os.memfd_create(_NAME, os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        try:
            os.ftruncate(self._file, self.size)
            fcntl.fcntl(self._file, _ADD_SEALS, _SEAL_SHRINK | _SEAL_GROW | _SEAL_SEAL)
            self._memory = mmap.mmap(self._file, self.size)
        except BaseException:
            os.close(self._file)
            raise
        self._closing = weakref.finalize(self, os.close, self._file)
        self._secret = secrets.token_bytes(_SECRET_SIZE)
        self._memory[:_SECRET_SIZE] = self._secret
        self._bytes = np.frombuffer(self._memory, np.uint8)
        self._lock = threading.Lock()
        self._blocks: list[_Block] = []  # by where they begin
        self._free_slots = list(range(_SLOTS))
        self._touched = _DATA_AT  # what lies behind it has never been written
        self._used = time.monotonic()
        self._is_closed = False

    def offer(self) -> dict[str, Any]:
        """What the receiver needs to find the memory."""
        return {
            "pid": os.getpid(),
            "file": self._file,
            "size": self.size,
            "secret": self._secret.hex(),
        }

    def found(self) -> None:
        """The receiver has the memory: its file is not needed any more."""
        self._closing()

    def put(self, parts: Sequence[bytes | memoryview], size: int) -> Place | None:
        """Copies a value of `size` bytes, which may be in parts; None if there is no room."""
        block = self._take(size)
        if block is None:
            return None
        at = block.begin
        for part in parts:
            self._bytes[at : at + len(part)] = np.frombuffer(part, np.uint8)
            at += len(part)
        return Place(block.slot, block.begin)

    def take_back(self, place: Place) -> None:
        """Frees the place of a value that is not sent after all."""
        self._bytes[_SLOTS_AT + place.slot] = 0

    def _take(self, size: int) -> _Block | None:
        with self._lock:
            self._collect()
            begin = self._gap(size + -size % _PAGE)
            if begin is None or not self._free_slots or self._is_closed:
                return None
            end = begin + size + -size % _PAGE
            if end > self._touched:
                if not usage.take(end - self._touched):
                    return None
                self._touched = end
            block = _Block(begin, end, self._free_slots.pop())
            self._bytes[_SLOTS_AT + block.slot] = 1
            self._blocks.append(block)
            self._blocks.sort()
            self._used = time.monotonic()
            return block

    def _collect(self) -> None:
        """Takes back the blocks that the receiver is done with."""
        kept = []
        for block in self._blocks:
            if self._bytes[_SLOTS_AT + block.slot]:
                kept.append(block)
            else:
                self._free_slots.append(block.slot)
        self._blocks = kept

    def _gap(self, size: int) -> int | None:
        """The first place where so many bytes are free: used memory is used again."""
        begin = _DATA_AT
        for block in self._blocks:
            if block.begin - begin >= size:
                return begin
            begin = block.end
        return begin if self.size - begin >= size else None

    def trim(self, now: float) -> None:
        """Gives memory back to the system if nothing was in it for some time."""
        with self._lock:
            self._collect()
            idle = not self._blocks and now - self._used > _IDLE_SECONDS
            if idle and self._touched > _DATA_AT and not self._is_closed:
                self._memory.madvise(mmap.MADV_REMOVE, _DATA_AT, self._touched - _DATA_AT)
                usage.give_back(self._touched - _DATA_AT)
                self._touched = _DATA_AT

    def close(self) -> None:
        """Lets go of the memory; values that the receiver has stay."""
        with self._lock:
            if not self._is_closed:
                self._is_closed = True
                usage.give_back(self._touched - _DATA_AT)
                self._touched = _DATA_AT
        self._closing()


class Inbox:
    """The receiver's end. Raises OSError or ValueError if the memory is not what was offered."""

    def __init__(self, offer: dict[str, Any]) -> None:
        path = f"/proc/{int(offer['pid'])}/fd/{int(offer['file'])}"
        # Opening a file of another kind could wait, or have effects.
        if not os.readlink(path).startswith(f"/memfd:{_NAME}"):
            raise ValueError("the file is no memory of a task")
        file = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        try:
            if not fcntl.fcntl(file, _GET_SEALS) & _SEAL_SHRINK:
                raise ValueError("the memory could be taken away")
            size = os.fstat(file).st_size
            self._memory = mmap.mmap(file, size)
        finally:
            os.close(file)
        secret = bytes.fromhex(offer["secret"])
        if size != offer["size"] or not hmac.compare_digest(self._memory[:_SECRET_SIZE], secret):
            raise ValueError("it is another task's memory")
        self._slots = np.frombuffer(self._memory, np.uint8, _SLOTS, _SLOTS_AT)

    def view(self, place: Place, size: int) -> np.ndarray:
        """The bytes of a value; its place is free again when all views of them are gone."""
        if not (0 <= place.slot < _SLOTS and place.begin >= _DATA_AT):
            raise ValueError("a value lies outside of the shared memory")
        found = np.frombuffer(self._memory, np.uint8, size, place.begin)
        done = weakref.finalize(found, self._slots.__setitem__, place.slot, 0)
        done.atexit = False
        return found
