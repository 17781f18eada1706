"""Who reads: threads that stand by, or the one that waits for an answer."""

import os
import select
import socket
import threading
import time

import pytest
import torch

import penstock as tf
from penstock.distributed import reading
from penstock.distributed.connection import Connection
from penstock.distributed.reading import Leading
from penstock.distributed.spinning import wake_politely

LONG = 30.0

pytestmark = pytest.mark.skipif(not hasattr(select, "epoll"), reason="needs Linux's epoll")


class Ends:
    """A connection whose other end echoes calls; `heard`: what came, and by which thread."""

    def __init__(self):
        listener = socket.create_server(("127.0.0.1", 0))
        near = socket.create_connection(listener.getsockname())
        far, _ = listener.accept()
        listener.close()
        self.heard = []
        self.came = threading.Condition()
        self.near = Connection(near, "far", self._hear)
        self.far = Connection(far, "near", self._echo)
        self.near.start()
        self.far.start()

    def _hear(self, connection, fields, values):
        with self.came:
            self.heard.append((fields["do"], threading.get_ident()))
            self.came.notify_all()

    def _echo(self, connection, fields, values):
        limit = time.monotonic() + LONG
        while fields.get("led") and not self.near.reading._is_held:
            assert time.monotonic() < limit
            time.sleep(0.0001)
        for number in range(fields.get("notes", 0)):
            connection.note({"do": f"note {number}"})
        if "call" in fields:
            connection.reply(fields, {"said": fields["say"]}, values)

    def wait_for(self, count):
        with self.came:
            assert self.came.wait_for(lambda: len(self.heard) >= count, LONG)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.near.close()
        self.far.close()


def _leading(connection):
    """A thread holds a connection from its first wait on."""
    leading = Leading([connection])
    leading.wait(lambda: True)
    assert connection.reading._is_held
    return leading


@pytest.fixture
def ends():
    with Ends() as made:
        yield made


def test_who_asks_reads_the_answer_and_what_comes_before_it(ends, monkeypatch):
    monkeypatch.setattr(reading, "_LEADING_SECONDS", LONG)  # also on a busy machine
    for say in range(20):
        reply, _ = ends.near.ask({"say": say, "notes": 2, "led": True})
        assert reply["said"] == say
    assert [what for what, _ in ends.heard] == ["note 0", "note 1"] * 20
    assert {thread for _, thread in ends.heard} == {threading.get_ident()}


def test_without_a_question_threads_that_stand_by_read(ends):
    ends.near.ask({"say": 0})
    ends.far.note({"do": "unasked"})
    ends.wait_for(1)
    assert ends.heard[0][1] != threading.get_ident()


def test_many_threads_ask_at_once(ends):
    wrong = []

    def ask(number):
        for i in range(200):
            reply, values = ends.near.ask({"say": [number, i]}, [torch.tensor([number, i])])
            if reply["said"] != [number, i] or values[0].tolist() != [number, i]:
                wrong.append((number, i))

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LONG)
    assert not any(thread.is_alive() for thread in threads)
    assert not wrong


def test_a_thread_that_leads_and_works_does_not_keep_a_sign_of_life_from_others(ends):
    leading = _leading(ends.near)
    ends.far.ping()
    heard = ends.far.heard
    ends.near.ping()  # what the health checks do
    limit = time.monotonic() + LONG
    while ends.far.heard == heard:
        assert time.monotonic() < limit
        time.sleep(0.001)
    leading.end()


def test_a_thread_that_leads_and_works_does_not_keep_an_answer_from_others(ends):
    leading = _leading(ends.near)
    answers = []
    other = threading.Thread(target=lambda: answers.append(ends.near.ask({"say": 1})))
    other.start()
    other.join(LONG)
    assert answers[0][0]["said"] == 1
    leading.end()
    ends.near.ask({"say": 2, "notes": 1, "led": True})  # and then one may lead again
    assert ends.heard == [("note 0", threading.get_ident())]


def test_a_thread_that_leads_reads_the_answers_of_others(ends):
    held_back = threading.Event()
    answers = []
    other = threading.Thread(target=lambda: answers.append(ends.near.ask({"say": 1})))
    leading = Leading([ends.near])

    def came():
        if not held_back.is_set():
            held_back.set()
            other.start()
        return bool(answers)

    assert leading.wait(came)
    other.join(LONG)
    assert answers[0][0]["said"] == 1
    assert not leading.wait(lambda: False)  # the other one has made it give up its lead
    leading.end()


def test_a_thread_that_does_not_wait_yet_leaves_the_reading_to_others(ends):
    leading = Leading([ends.near])
    ends.far.note({"do": "early"})
    ends.wait_for(1)
    assert ends.heard[0][1] != threading.get_ident()
    leading.end()


def test_a_thread_that_has_to_step_aside_while_it_waits_keeps_nobody_from_reading(
    ends, monkeypatch
):
    monkeypatch.setattr(reading, "_LEADING_SECONDS", 10 * LONG)
    leading = Leading([ends.near])
    came = []

    def came_after_stepping_aside():
        if not came:
            came.append(True)
            leading.step_aside()
        return False

    assert not leading.wait(came_after_stepping_aside)
    ends.far.note({"do": "late"})
    ends.wait_for(1)
    leading.end()


def test_nobody_leads_while_another_waits_for_an_answer(ends):
    answers = []
    ends.near.call({"say": 1}, [], lambda *answer: answers.append(answer))
    leading = Leading([ends.near])
    limit = time.monotonic() + LONG
    while not answers:
        assert time.monotonic() < limit
        time.sleep(0.001)
    leading.end()


def test_what_has_come_when_a_thread_stops_to_lead_is_read_by_others(ends):
    leading = _leading(ends.near)
    for number in range(3):
        ends.far.note({"do": f"note {number}"})
    assert leading.wait(lambda: bool(ends.heard))
    leading.end()
    ends.wait_for(3)
    assert [what for what, _ in ends.heard] == ["note 0", "note 1", "note 2"]


def test_the_loss_of_a_connection_ends_a_question(ends):
    def silent(connection, fields, values):
        connection.close()

    ends.far.reading._handle = lambda fields, values: silent(ends.far, fields, values)
    with pytest.raises(tf.errors.UnavailableError, match="far can't be reached"):
        ends.near.ask({"say": 1})
    with pytest.raises(tf.errors.UnavailableError):
        ends.near.ask({"say": 2})


def test_a_question_has_its_time():
    ours, theirs = socket.socketpair()
    with theirs:
        near = Connection(_Stream(ours), "far", lambda *_: None)
        near.start()
        with pytest.raises(tf.errors.DeadlineExceededError, match="did not answer within"):
            near.ask({"say": 1}, timeout=0.05)
        with pytest.raises(tf.errors.DeadlineExceededError):
            near.ask({"say": 2}, timeout=0.3)  # longer than a thread waits at the socket itself
        near.close()


class _Stream:
    """A local socket, which knows nothing of TCP's options."""

    def __init__(self, sock):
        self._sock = sock

    def setsockopt(self, *_):
        pass

    def __getattr__(self, name):
        return getattr(self._sock, name)


@pytest.mark.parametrize("size", [4 << 20, 50_000])
def test_two_threads_that_lead_and_send_much_do_not_wait_for_each_other(ends, size):
    """Neither reads while it writes: more than the system keeps on the way can't be sent so."""
    count = (32 << 20) // size
    value = torch.zeros(size, dtype=torch.uint8)
    done = []

    def send(connection):
        leading = _leading(connection)
        try:
            for _ in range(count):
                connection.note({"do": "much"}, [value])
        finally:
            leading.end()
        done.append(connection)

    threads = [threading.Thread(target=send, args=(end,)) for end in (ends.near, ends.far)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LONG)
    assert len(done) == 2
    ends.wait_for(count)


def test_the_time_of_a_question_ends_while_another_thread_reads_a_long_message(ends):
    began = threading.Event()

    class Slow:
        def __init__(self, receiver):
            self.receiver = receiver

        def receive(self):
            began.set()
            time.sleep(1.0)
            return self.receiver.receive()

        def has_more(self):
            return self.receiver.has_more()

        def has_come(self):
            return self.receiver.has_come()

    ends.near.reading.receiver = Slow(ends.near.reading.receiver)
    ends.far.note({"do": "long"})
    assert began.wait(LONG)
    with pytest.raises(tf.errors.DeadlineExceededError):
        ends.near.ask({"say": 1}, timeout=0.1)
    ends.wait_for(1)


def test_who_leads_is_woken_by_what_comes_another_way(ends, monkeypatch):
    monkeypatch.setattr(reading, "_LEADING_SECONDS", 10 * LONG)
    came = threading.Event()
    leading = Leading([ends.near])

    def bring():
        while not leading._sleeps:
            time.sleep(0.001)
        came.set()
        leading.wake()

    threading.Thread(target=bring).start()
    began = time.monotonic()
    assert leading.wait(came.is_set)
    leading.end()
    assert time.monotonic() - began < LONG


class Working(Ends):
    """An echo that does its work after the handler, at once or while others read."""

    def __init__(self):
        self.threads = []
        super().__init__()

    def _echo(self, connection, fields, values):
        def work():
            self.threads.append(threading.get_ident())
            for size in fields.get("sizes", ()):
                connection.note({"do": "much"}, [torch.zeros(size)])
            connection.reply(fields, {"said": fields["say"]})

        connection.work(work, instant=fields["instant"])


def test_instant_work_is_done_by_the_thread_that_reads_on():
    with Working() as ends:
        for say in range(50):
            reply, _ = ends.near.ask({"say": say, "instant": True})
            assert reply["said"] == say
        assert len(set(ends.threads)) <= 2  # those that stand by


@pytest.mark.parametrize("instant", [True, False])
def test_work_that_has_to_wait_for_room_does_not_keep_others_from_reading(instant):
    with Working() as ends:
        answers = []

        def ask():
            for say in range(5):
                fields = {"say": say, "instant": instant, "sizes": [1 << 16] * 4}
                answers.append(ends.near.ask(fields, [torch.zeros(1 << 20)])[0]["said"])

        threads = [threading.Thread(target=ask) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(LONG)
        assert sorted(answers) == sorted(list(range(5)) * 3)
        ends.wait_for(60)


def test_after_instant_work_the_next_message_is_read():
    with Working() as ends:
        ends.near.ask({"say": 0, "instant": True})
        ends.near.ping()  # handled without work: the turn must have been passed on before and after
        ends.near.note({"do": "ping"})
        assert ends.near.ask({"say": 1, "instant": False})[0]["said"] == 1
        assert ends.near.ask({"say": 2, "instant": True})[0]["said"] == 2


# How threads are woken ------------------------------------------------------------------------


def _class_after(action):
    """The scheduling class of a plain thread that has done something."""
    found = []

    def run():
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
        action()
        found.append(os.sched_getscheduler(0))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    return found[0]


needs_classes = pytest.mark.skipif(
    not hasattr(os, "SCHED_BATCH"), reason="the system has no scheduling classes"
)


@needs_classes
def test_a_thread_that_asks_does_not_take_the_core_of_who_answers(ends):
    assert _class_after(lambda: ends.near.ask({"say": 0})) == os.SCHED_BATCH


@needs_classes
def test_the_class_of_a_thread_can_be_left_alone(monkeypatch):
    monkeypatch.setenv("PENSTOCK_POLITE", "0")
    assert _class_after(wake_politely) == os.SCHED_OTHER


@needs_classes
def test_a_class_that_was_chosen_is_kept():
    def choose():
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
        wake_politely()

    assert _class_after(choose) == os.SCHED_IDLE
