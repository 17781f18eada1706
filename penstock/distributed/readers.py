"""The threads that read what comes at connections, and do what it asks for."""

from __future__ import annotations

import itertools
import threading
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from penstock.distributed.frames import Disconnected
from penstock.distributed.read_turns import read_turns
from penstock.distributed.spinning import at_work, wake_politely
from penstock.errors import OpError
from penstock.platform.processors import processors
from penstock.runtime.crew import Crew
from penstock.state.turns import before_waits

if TYPE_CHECKING:
    from penstock.distributed.reading import Reading

_MOST_STANDING_BY = 2  # threads that wait for messages: one more than does something with one

Job = Callable[[], None]
# What a message may lead to that nobody of this protocol has sent, or for which nobody is there.
NOT_READ = (Disconnected, OpError, KeyError, TypeError, ValueError, IndexError)


class Readers:
    """Threads that stand by for messages: few, however many connections there are.

    1. One of them has the turn. It takes what has come, at whatever connection, and does a moment's
       work that is asked for itself: so such work is done by one thread, one message after the
       other, and threads of this process do not take the interpreter's lock from each other for it.
    2. Before it does what takes longer, or has to wait, it passes the turn on. It does so in the
       middle of a message, too, if the rest has not come yet.
    3. Another thread stands by while one is busy.
    """

    def __init__(self, name: str):
        self._crew = Crew(name)
        self._turns = read_turns()
        self.lets_lead = self._turns.lets_lead
        self.file = self._turns.file
        self.share = self._turns.share
        self._lock = threading.Lock()
        self._readings: dict[int, Reading] = {}  # by file
        self._count = 0  # of threads that use the turns: that read, or wait for their turn
        self._standing_by = 0  # those of them that wait
        self._is_over = False

    # Connections --------------------------------------------------------------------------------

    def add(self, reading: Reading) -> None:
        with self._lock:
            if self._is_over:  # the connection will be closed at once
                return
            self._readings[reading.file] = reading
            self._turns.watch(reading.file)
        self._see_to_another()

    def remove(self, reading: Reading) -> None:
        """Nobody is to read there any more."""
        if self._readings.get(reading.file) is reading:
            del self._readings[reading.file]
            self._turns.forget(reading.file)

    def start_reading(self, read: Job) -> None:
        """Has a thread without the turn read from a connection."""
        self._crew.start(partial(_read_apart, read))

    # Threads ------------------------------------------------------------------------------------

    def _see_to_another(self) -> None:
        """Has a thread stand by, if none does."""
        with self._lock:
            if self._standing_by or self._is_over:
                return
            self._count += 1
        self._crew.start(self._read)

    def _read(self) -> None:
        wake_politely()
        before_waits(leave_turn)
        has_turn = False
        try:
            while (found := self._stood_by(has_turn)) is not None:
                has_turn = self._served(found)
        finally:
            self._ended()

    def _ended(self) -> None:
        """One thread less uses the turns."""
        with self._lock:
            self._count -= 1
            is_last = self._is_over and not self._count
        if is_last:
            self._turns.close()

    def _stood_by(self, has_turn: bool) -> list[tuple[int, int]] | None:
        """Waits for the turn to read: see `ReadTurns.take`; None if enough others wait for it."""
        with self._lock:
            if not has_turn and (self._is_over or self._standing_by >= _MOST_STANDING_BY):
                return None
            self._standing_by += 1
        found = self._turns.take(has_turn)
        with self._lock:
            self._standing_by -= 1
            if not self._is_over:
                return found
        self._turns.pass_on()
        return None

    def _served(self, found: list[tuple[int, int]]) -> bool:
        """Reads with the turn, and does what is asked for; whether the turn was not passed on."""
        _thread.turn = self
        has_turn = True
        number = threading.get_ident()
        at_work.add(number)
        try:
            for file, _ in found:
                reading = self._readings.get(file)
                if reading is not None:
                    _thread.jobs = deque()
                    reading.read()
                    _work_off()
                has_turn = passes_on()
                if not has_turn:
                    break
        except BaseException:
            leave_turn()
            raise
        finally:
            at_work.discard(number)
            _thread.turn = _thread.jobs = None
        return has_turn

    def pass_on(self) -> None:
        """Lets another thread read, if the calling one has the turn."""
        if _thread.turn is self:
            _thread.turn = None
            self._turns.pass_on()
            self._see_to_another()

    # Work ---------------------------------------------------------------------------------------

    def work(self, reading: Reading, job: Job, *, instant: bool = False) -> None:
        """Does what a message asks for once its handler is done.

        The thread that handles it does so; meanwhile another one reads on, unless the work is
        `instant`: a moment's, without waits. A thread of nobody's leaves it to another one.
        """
        if _thread.jobs is None:
            self._crew.start(job)
        else:
            _thread.jobs.append((reading, job, instant))

    def start(self, job: Job) -> None:
        """Has a thread of its own do something."""
        self._crew.start(job)

    def close(self) -> None:
        """Ends the threads that stand by, and those at work after their work."""
        with self._lock:
            if self._is_over:
                return
            self._is_over = True
            self._count += 1  # this thread, too: the turns must be there until it has ended them
        self._turns.end()
        self._ended()
        self._crew.close()


class TaskReaders:
    """The readers of a task: several sets, to which its connections are dealt.

    With a single one, two workers that train beside each other wait for the same thread, which the
    system may have put on the core of the third: a step of asynchronous training took a fifth
    longer. With more sets than processors nothing is gained.
    """

    _MOST_SETS = 4

    def __init__(self) -> None:
        count = max(2, min(processors(), self._MOST_SETS))
        self._sets = [Readers("penstock-readers") for _ in range(count)]
        self._next = itertools.cycle(self._sets)

    def dealt(self) -> Readers:
        """Those for another connection."""
        return next(self._next)

    def close(self) -> None:
        for readers in self._sets:
            readers.close()


class _Thread(threading.local):
    turn: Readers | None = None  # whose turn it has
    # What it does next, if it reads: asked for at which connection, and whether it is instant.
    jobs: deque[tuple[Reading, Job, bool]] | None = None


_thread = _Thread()


def _work_off() -> None:
    """Does what the messages that this thread has read ask for."""
    jobs = _thread.jobs
    while jobs:
        reading, job, is_instant = jobs.popleft()
        if not is_instant:
            leave_turn()
        try:
            job()
        except NOT_READ as error:
            reading.fail(error)
        del job


def _read_apart(read: Job) -> None:
    _thread.jobs = deque()
    try:
        read()
        _work_off()
    finally:
        _thread.jobs = None


def passes_on() -> bool:
    """Whether the calling thread has a turn that it could pass on."""
    return _thread.turn is not None


def turn_file() -> int:
    """What tells of something to read for the calling thread's turn; -1 if it has none."""
    return -1 if _thread.turn is None else _thread.turn.file


def pass_on() -> None:
    """Has others read on, if the calling thread has a turn."""
    if _thread.turn is not None:
        _thread.turn.pass_on()


def leave_turn() -> None:
    """Has others read on, and do what this thread was to do next: it will be busy, or wait."""
    leave_jobs()
    pass_on()


def leave_jobs() -> None:
    """Has others do what this thread was to do next, and what it reads from now on asks for."""
    if _thread.jobs:
        delegate()
    _thread.jobs = None


def delegate() -> None:
    """Has others do what this thread was to do next: it will be busy for some time."""
    while _thread.jobs:
        reading, job, _ = _thread.jobs.popleft()
        reading.readers.start(job)
