"""The threads that read for all connections of a task."""

import os
import select
import socket
import threading
import time

import pytest
import torch

from penstock.distributed import frames
from penstock.distributed.connection import Connection
from penstock.distributed.read_turns import LockTurns
from penstock.distributed.readers import Readers, TaskReaders
from penstock.state.turns import Turns
from penstock.state.waiting import NOTHING, Attempt, Cancellation, Lines

LONG = 30.0


class Hub:
    """One task with several connections; `done`: what it has done, in which thread."""

    def __init__(self, count):
        self.readers = Readers("hub")
        self.done = []
        self.came = threading.Condition()
        self.work = lambda fields: None
        self.inner, self.outer = [], []
        listener = socket.create_server(("127.0.0.1", 0))
        for number in range(count):
            there = socket.create_connection(listener.getsockname())
            here, _ = listener.accept()
            self.inner.append(
                Connection(here, f"client {number}", self._take, readers=self.readers)
            )
            self.outer.append(there)
        listener.close()
        for connection in self.inner:
            connection.start()

    def _take(self, connection, fields, values):
        def job():
            self.work(fields)
            with self.came:
                self.done.append((fields["say"], threading.get_ident()))
                self.came.notify_all()

        connection.work(job, instant=fields.get("instant", True))

    def say(self, number, what, **more):
        frames.send(self.outer[number], {"do": "say", "say": what, **more})

    def wait_for(self, count):
        with self.came:
            assert self.came.wait_for(lambda: len(self.done) >= count, LONG)
        return [what for what, _ in self.done]

    def close(self):
        for connection in self.inner:
            connection.close()
        for sock in self.outer:
            sock.close()
        self.readers.close()


def _threads():
    return [each for each in threading.enumerate() if each.name == "hub"]


def _await_end_of_threads():
    limit = time.monotonic() + LONG
    while _threads():
        assert time.monotonic() < limit, "threads have stayed"
        time.sleep(0.001)


@pytest.fixture(params=["system", "lock"])
def hub(request, monkeypatch):
    if request.param == "lock":
        monkeypatch.setattr("penstock.distributed.readers.read_turns", LockTurns)
    elif not hasattr(select, "epoll"):
        pytest.skip("needs Linux's epoll")
    made = Hub(8)
    yield made
    made.close()
    _await_end_of_threads()


def test_few_threads_read_from_many_connections(hub):
    for turn in range(20):
        for number in range(8):
            hub.say(number, (turn, number))
    assert sorted(map(tuple, hub.wait_for(160))) == sorted(
        (t, n) for t in range(20) for n in range(8)
    )
    assert len(_threads()) <= 3


def test_messages_of_one_connection_are_taken_in_their_order(hub):
    for number in range(200):
        hub.say(0, number)
    assert hub.wait_for(200) == list(range(200))


def test_work_that_takes_long_does_not_keep_others_from_reading(hub):
    free = threading.Event()
    hub.work = lambda fields: fields["say"] == "long" and free.wait(LONG)
    hub.say(0, "long", instant=False)
    hub.say(1, "short")
    hub.say(0, "later")
    assert sorted(hub.wait_for(2)) == ["later", "short"]
    free.set()
    assert hub.wait_for(3)[-1] == "long"


def test_work_that_waits_after_all_lets_others_read(hub):
    """As an enqueue does that finds its queue full."""
    lines, cancellation = Lines(1), Cancellation()

    class Waiter:
        only_tries = False
        gate = parked = deadline = trace = None

        def check(self):
            pass

    Waiter.cancellation = cancellation

    def work(fields):
        if fields["say"] == "waits":
            with pytest.raises(Exception, match="was cancelled"):
                lines.run(0, Attempt(lambda: NOTHING), Waiter(), "Test")

    hub.work = work
    hub.say(0, "waits")
    hub.say(1, "goes on")
    assert hub.wait_for(1) == ["goes on"]
    cancellation.cancel()
    assert hub.wait_for(2) == ["goes on", "waits"]


def test_work_that_waits_for_a_turn_to_compute_lets_others_read(hub):
    turns = Turns(1)

    def work(fields):
        if fields["say"] == "waits":
            with turns.taken():
                pass

    hub.work = work
    with turns.taken():
        hub.say(0, "waits")
        hub.say(1, "goes on")
        assert hub.wait_for(1) == ["goes on"]
    assert hub.wait_for(2) == ["goes on", "waits"]


@pytest.mark.parametrize("missing", [1, 60_000])
def test_a_message_that_has_not_come_completely_keeps_nobody_waiting(hub, missing):
    whole = frames.packed({"do": "say", "say": "slow"}, [torch.zeros(20_000)]).whole()
    data = b"".join(bytes(part) for part in ([whole] if isinstance(whole, bytes) else whole))
    hub.say(0, "before")
    hub.outer[0].sendall(data[:-missing])
    for number in range(1, 8):
        hub.say(number, number)
    assert sorted(map(str, hub.wait_for(8))) == [*"1234567", "before"]
    hub.outer[0].sendall(data[-missing:])
    hub.say(0, "after")
    assert hub.wait_for(10)[-2:] == ["slow", "after"]


def test_even_the_first_bytes_may_come_one_by_one(hub):
    data = frames.plain({"do": "say", "say": "slow"})
    hub.outer[0].sendall(data[:3])
    hub.say(1, "other")
    assert hub.wait_for(1) == ["other"]
    hub.outer[0].sendall(data[3:])
    assert hub.wait_for(2) == ["other", "slow"]


def test_what_work_leads_to_is_done_next_in_the_same_thread(hub):
    def work(fields):
        if fields["say"] == "first":
            hub.inner[0].work(lambda: hub.work({"say": "second"}), instant=True)
        else:
            threads.append(threading.get_ident())

    threads = []
    hub.work = work
    hub.say(0, "first")
    hub.wait_for(1)
    hub.say(1, "last")
    hub.wait_for(2)
    assert threads[0] == hub.done[0][1]


def test_a_connection_that_ends_takes_none_of_the_others_along(hub):
    hub.outer[3].close()
    limit = time.monotonic() + LONG
    while not hub.inner[3].is_lost:
        assert time.monotonic() < limit
        time.sleep(0.001)
    hub.say(4, "alive")
    assert hub.wait_for(1) == ["alive"]


def test_a_connection_is_forgotten_before_its_file_may_be_that_of_another(hub):
    """Who holds it may be done with it at any time, and then it is closed."""
    connection, remove = hub.inner[0], hub.readers.remove
    held = connection.reading.hold()
    was_open = []

    def remove_late(reading):
        if held:
            connection.reading.let_go()
        was_open.append(connection._sock.fileno() >= 0)
        remove(reading)

    hub.readers.remove = remove_late
    connection.close()
    assert was_open == [True]
    limit = time.monotonic() + LONG
    while connection._sock.fileno() >= 0:
        assert time.monotonic() < limit
        time.sleep(0.001)


def test_work_that_fails_ends_its_connection_alone(hub):
    def work(fields):
        if fields["say"] == "bad":
            raise ValueError("no such thing")

    hub.work = work
    hub.say(0, "bad")
    limit = time.monotonic() + LONG
    while not hub.inner[0].is_lost:
        assert time.monotonic() < limit
        time.sleep(0.001)
    hub.say(1, "good")
    assert hub.wait_for(1) == ["good"]


def test_files_are_closed(hub):
    before = len(os.listdir("/proc/self/fd"))
    other = Hub(4)
    other.say(0, "x")
    other.wait_for(1)
    other.close()
    limit = time.monotonic() + LONG
    while len(os.listdir("/proc/self/fd")) > before:
        assert time.monotonic() < limit
        time.sleep(0.001)


def test_connections_are_dealt_to_several_sets_of_readers():
    readers = TaskReaders()
    dealt = [readers.dealt() for _ in range(8)]
    assert 2 <= len(set(dealt)) <= 4
    assert dealt[0] is not dealt[1]
    readers.close()


def test_a_thread_that_keeps_its_turn_and_waits_for_an_answer_lets_others_read(hub):
    """As a step of a client does: nobody else is woken for it as long as nothing else comes."""
    ours, theirs = socket.socketpair()
    asked = Connection(ours, "asked", lambda *_: None, readers=hub.readers)
    asked.start()
    answers = []

    def work(fields):
        if fields["say"] == "asks":
            answers.append(asked.ask({"do": "question"}))

    hub.work = work
    hub.say(0, "asks")
    question, _ = frames.Receiver(theirs).receive()
    hub.say(1, "meanwhile")
    hub.say(0, "behind")
    assert sorted(hub.wait_for(2)) == ["behind", "meanwhile"]
    frames.send(theirs, {"reply": question["call"], "said": 1})
    assert hub.wait_for(3)[2] == "asks"
    assert answers[0][0]["said"] == 1
    asked.close()
    theirs.close()


def test_work_that_was_read_with_what_asks_is_done_by_others(hub):
    """It would be done by the same thread next, which waits for an answer."""
    ours, theirs = socket.socketpair()
    asked = Connection(ours, "asked", lambda *_: None, readers=hub.readers)
    asked.start()
    hub.work = lambda fields: fields["say"] == "asks" and asked.ask({"do": "question"})
    both = [frames.plain({"do": "say", "say": what}) for what in ("asks", "behind")]
    hub.outer[0].sendall(b"".join(both))
    question, _ = frames.Receiver(theirs).receive()
    assert hub.wait_for(1) == ["behind"]
    frames.send(theirs, {"reply": question["call"]})
    assert hub.wait_for(2) == ["behind", "asks"]
    asked.close()
    theirs.close()


def test_turns_are_there_until_their_end_has_been_told(monkeypatch):
    """A thread may leave by itself when all is over, before that."""
    made = Hub(1)
    busy, free = threading.Event(), threading.Event()
    made.work = lambda fields: (busy.set(), free.wait(LONG))
    started = []
    monkeypatch.setattr(made.readers._crew, "start", started.append)
    made.say(0, "long", instant=False)
    assert busy.wait(LONG)
    end = made.readers._turns.end

    def end_late():
        free.set()
        (late,) = started  # who was to stand by meanwhile
        late()
        made.wait_for(1)
        limit = time.monotonic() + LONG
        while made.readers._count > 1:
            assert time.monotonic() < limit
            time.sleep(0.001)
        end()

    monkeypatch.setattr(made.readers._turns, "end", end_late)
    made.close()
    assert made.readers._count == 0
    _await_end_of_threads()


def test_a_connection_that_comes_after_the_end_is_not_read():
    readers = Readers("hub")
    readers.close()
    ours, theirs = socket.socketpair()
    connection = Connection(ours, "late", lambda *_: None, readers=readers)
    connection.start()
    connection.close()
    theirs.close()
    _await_end_of_threads()
