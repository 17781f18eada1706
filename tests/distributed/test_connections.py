"""Connections between two ends in one process: large messages, what goes between, limits."""

import gc
import socket
import struct
import threading
import time

import numpy as np
import pytest
import torch

import penstock as tf
from penstock.distributed import frames
from penstock.distributed.arena import VARIABLE, host_identity, usage
from penstock.distributed.connection import Connection
from penstock.distributed.fair_lock import FairLock

MIB = 1 << 20
LONG = 30.0


class Pair:
    """Two connected ends; `right` keeps what it gets, and answers calls with their values."""

    def __init__(self, *, one_host=False):
        listener = socket.create_server(("127.0.0.1", 0))
        near = socket.create_connection(listener.getsockname())
        far, _ = listener.accept()
        listener.close()
        self.got = []
        self.came = threading.Condition()
        self.left = Connection(near, "right", self._take, one_host=one_host)
        self.right = Connection(far, "left", self._take, one_host=one_host)
        self.left.start()
        self.right.start()

    def _take(self, connection, fields, values):
        if "call" in fields:
            connection.reply(fields, {}, values)
            return
        with self.came:
            self.got.append((fields, values))
            self.came.notify_all()

    def wait(self, count):
        with self.came:
            assert self.came.wait_for(lambda: len(self.got) >= count, LONG)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.left.close()
        self.right.close()


def sharing(pair):
    """Sends until memory is shared: the first large value makes the offer."""
    limit = time.monotonic() + LONG
    while not pair.left.shares_memory:
        assert time.monotonic() < limit
        pair.left.ask({"do": "echo"}, [torch.zeros(MIB, dtype=torch.uint8)])
    return pair


@pytest.mark.parametrize("one_host", [False, True])
@pytest.mark.parametrize("size", [0, 1, 65_535, 65_536, MIB - 64, MIB, 5 * MIB + 3])
def test_values_of_all_sizes(one_host, size):
    data = torch.randint(0, 255, [size], dtype=torch.uint8)
    strings = np.array([b"", b"long" * 30_000], object)
    with Pair(one_host=one_host) as pair:
        for _ in range(3):
            _, values = pair.left.ask({"do": "echo"}, [data, strings, b"bytes", data.view(1, -1)])
            assert torch.equal(values[0], data)
            assert values[1].tolist() == strings.tolist()
            assert values[2] == b"bytes"
            assert values[3].shape == (1, size)


@pytest.mark.skipif(not host_identity(), reason="no shared memory")
def test_large_values_take_no_bytes_of_the_socket():
    with sharing(Pair(one_host=True)) as pair:
        before = pair.left.sent
        pair.left.note({"do": "keep"}, [torch.arange(4 * MIB, dtype=torch.float32)])
        pair.wait(1)
        assert pair.left.sent - before < 1000
        value = pair.got[0][1][0]
        value += 1.0  # it is the receiver's own
        assert value[-1].item() == 4 * MIB


@pytest.mark.skipif(not host_identity(), reason="no shared memory")
def test_what_does_not_fit_goes_over_the_socket(monkeypatch):
    monkeypatch.setenv(VARIABLE, str(usage.bytes + 4 * MIB))
    with sharing(Pair(one_host=True)) as pair:
        before = usage.bytes
        for number in range(8):
            pair.left.note({"do": "keep"}, [torch.full([MIB], number, dtype=torch.uint8)])
        pair.wait(8)
        for number, (_, values) in enumerate(pair.got):
            assert bool((values[0] == number).all())
        assert usage.bytes <= before + 4 * MIB
        sent = pair.left.sent
        pair.got.clear()  # which frees what they had of the memory
        del values
        gc.collect()
        pair.left.note({"do": "keep"}, [torch.full([MIB], 9, dtype=torch.uint8)])
        pair.wait(1)
        assert pair.left.sent - sent < 1000
    assert usage.bytes <= before


def test_two_hosts_share_nothing():
    with Pair(one_host=False) as pair:
        for _ in range(3):
            pair.left.ask({"do": "echo"}, [torch.zeros(MIB, dtype=torch.uint8)])
        assert not pair.left.shares_memory
        assert pair.left.sent > 3 * MIB


def test_a_memory_that_is_not_found_is_done_without(monkeypatch):
    monkeypatch.setattr("penstock.distributed.connection.Inbox", _not_found)
    with Pair(one_host=True) as pair:
        for _ in range(3):
            _, values = pair.left.ask({"do": "echo"}, [torch.ones(MIB, dtype=torch.uint8)])
            assert bool(values[0].all())
        assert not pair.left.shares_memory


def _not_found(offer):
    raise FileNotFoundError("another container's")


def test_a_small_message_does_not_wait_for_a_large_one():
    """The receiver reads nothing until both are under way: the large one can't be sent whole."""
    listener = socket.create_server(("127.0.0.1", 0))
    near = socket.create_connection(listener.getsockname())
    far, _ = listener.accept()
    listener.close()
    left = Connection(near, "right", _ignore)
    large = torch.ones(64 * MIB, dtype=torch.uint8)
    with far:
        sending = threading.Thread(target=left.note, args=({"do": "large"}, [large]))
        sending.start()
        while left.sent < MIB:
            time.sleep(0.001)
        small = threading.Thread(target=left.note, args=({"do": "small"}, []))
        small.start()
        receiver = frames.Receiver(far)
        order = [receiver.receive() for _ in range(2)]
        assert [fields["do"] for fields, _ in order] == ["small", "large"]
        assert bool(order[1][1][0].all())
        sending.join(LONG)
        small.join(LONG)
        left.close()


def test_a_sender_waits_for_a_receiver_that_does_not_read():
    listener = socket.create_server(("127.0.0.1", 0))
    near = socket.create_connection(listener.getsockname())
    far, _ = listener.accept()
    listener.close()
    left = Connection(near, "right", _ignore)
    raised = []

    def send():
        try:
            left.note({"do": "large"}, [torch.ones(256 * MIB, dtype=torch.uint8)])
        except tf.errors.UnavailableError as error:
            raised.append(error)

    sending = threading.Thread(target=send)
    sending.start()
    while left.sent == 0:
        time.sleep(0.001)
    sending.join(0.2)
    assert sending.is_alive()  # nothing takes the bytes, and nothing gathers them
    assert left.sent < 64 * MIB  # what the system itself keeps on the way
    far.close()
    sending.join(LONG)
    assert len(raised) == 1
    left.close()


def _ignore(connection, fields, values):
    pass


@pytest.fixture
def raw():
    """A socket to write frames to, and the receiver at its other end, of 1 MiB at most."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.settimeout(LONG)
        theirs.settimeout(LONG)
        yield ours, frames.Receiver(theirs, most_bytes=MIB)


@pytest.mark.parametrize("comes_fast", [True, False])
def test_a_reader_looks_for_more_of_a_large_value_while_it_comes_fast(raw, monkeypatch, comes_fast):
    looked = []

    def found_soon(poll, has_to_stop, seconds):
        looked.append(seconds)
        return poll.poll(1000 * LONG) if comes_fast else []

    monkeypatch.setattr(frames, "found_soon", found_soon)
    sock, receiver = raw
    value = np.random.default_rng(1).integers(0, 255, MIB // 2, np.uint8)
    frame = b"".join(frames.packed({"do": "large"}, [value]).whole())
    parts = [frame[i : i + MIB // 8] for i in range(0, len(frame), MIB // 8)]
    sending = threading.Thread(target=lambda: [sock.sendall(part) for part in parts])
    sending.start()
    _, (found,) = receiver.receive()
    sending.join(LONG)
    np.testing.assert_array_equal(found, value)
    assert max(looked) < 0.001  # others want the core
    assert len(looked) > 1 if comes_fast else len(looked) == 1


def test_sizes_are_checked_before_memory_is_taken(raw):
    sock, receiver = raw
    sock.sendall(frames._HEAD.pack(b"PSTK", 2, 1 << 60))
    with pytest.raises(frames.Disconnected, match="too large"):
        receiver.receive()


def test_a_message_that_has_no_room_here_ends_the_connection(raw, monkeypatch):
    def take(size):
        raise MemoryError(f"{size} bytes")

    monkeypatch.setattr(frames, "buffer_of", take)
    sock, receiver = raw
    sock.sendall(struct.pack("<4sIQ", b"PSTK", 2, MIB) + b"{}")
    with pytest.raises(frames.Disconnected, match=f"can't be read: {MIB} bytes"):
        receiver.receive()


def test_messages_on_their_way_count_together(raw):
    sock, receiver = raw
    half = frames.Message({}, [memoryview(bytes(700_000))], 700_000)
    for number in range(2):
        frames.write(sock, next(half.frames(number)))
    with pytest.raises(frames.Disconnected, match="too large"):
        receiver.receive()


@pytest.mark.parametrize(
    "sent",
    [
        frames._HEAD.pack(b"PSTP", 7, 10),  # a piece of nothing
        frames._HEAD.pack(b"HTTP", 2, 0),
        frames._HEAD.pack(b"PSTK", 2, 0) + b"[]",
        frames._HEAD.pack(b"PSTK", 3, 0) + b"{]}",
        frames._HEAD.pack(b"PSTK", 32, 0) + b'{"values": [["uint8", [1], 64]]}',
        frames._HEAD.pack(b"PSTK", 41, 0) + b'{"values": [["uint8", [9], 9, 0, 4096]]} ',
    ],
)
def test_what_is_no_message_ends_the_connection(raw, sent):
    sock, receiver = raw
    sock.sendall(sent)
    with pytest.raises(frames.Disconnected):
        receiver.receive()


def test_a_message_that_is_given_up_leaves_nothing(raw):
    sock, receiver = raw
    message = frames.Message({"do": "lost"}, [memoryview(bytes(7_000))], 7_000)
    pieces = list(message.frames(1))
    for frame in [pieces[0], frames.given_up(1), *message.frames(2)]:
        frames.write(sock, frame)
    fields, _ = receiver.receive()
    assert fields["do"] == "lost"
    assert not receiver._begun


def test_a_fair_lock_goes_to_who_waits():
    lock = FairLock()
    order = []
    lock.acquire()

    def other():
        with lock:
            order.append("other")

    thread = threading.Thread(target=other)
    thread.start()
    while not lock._waiting:
        time.sleep(0.001)
    lock.release()
    assert not lock.acquire(blocking=False) or order == ["other"]
    thread.join(LONG)
    assert order == ["other"]
