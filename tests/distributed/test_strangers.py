"""Who connects to the road between tasks without belonging to them: nothing comes of it."""

import errno
import gc
import json
import socket
import struct

import pytest

from penstock.distributed import frames, road
from penstock.distributed.credentials import Credentials
from penstock.distributed.road import PROTOCOL, Address, Road, connected

LONG = 30.0
CREDENTIALS = Credentials(token="secret")


def echo(connection, fields, values):
    if "call" in fields:
        connection.reply(fields, {"said": fields["say"]})


def open_road(interface="127.0.0.1"):
    return Road(interface, "here", echo, CREDENTIALS)


def assert_answers(made, host="127.0.0.1"):
    """A task of the cluster is served, over TCP."""
    address = Address(made.address.port)
    connection = connected(host, address, "there", "here", CREDENTIALS, echo)
    try:
        assert connection.ask({"say": "hello"})[0]["said"] == "hello"
    finally:
        connection.close()


def dialled(made):
    return socket.create_connection(("127.0.0.1", made.address.port), timeout=LONG)


def is_hung_up_on(sock):
    """Reads what comes until nothing more does."""
    try:
        while sock.recv(1 << 16):
            pass
    except ConnectionResetError:
        pass
    return True


def frame(text, size=0):
    return struct.pack("<4sIQ", b"PSTK", len(text), size) + text


def hello(**fields):
    return frame(json.dumps({"protocol": PROTOCOL, **fields}).encode())


@pytest.mark.parametrize(
    "said",
    [
        b"GET / HTTP/1.0\r\n\r\n",
        frame(b"[]"),
        hello(),
        hello(task="there", proof=5),
        hello(task="there", proof="\u00e9" * 64),
        hello(task="there", proof="0" * 64),
        frame(b'{"a":' + b"[" * 4000),
        frame(b"9" * 5000),
        frame(b"{" + b" " * 5000 + b"}"),
        frame(b"{}", 1 << 40),
        frame(b"{}", 1),
    ],
    ids=lambda said: repr(said[:40]),
)
def test_what_is_no_greeting_ends_the_conversation(said):
    gc.collect()  # what is nested deeply starts it, where finalizers of earlier tests have no room
    made = open_road()
    try:
        with dialled(made) as sock:
            sock.sendall(said)
            assert is_hung_up_on(sock)
        assert not made.connections
        assert_answers(made)
    finally:
        made.close()


def test_who_belongs_to_it_need_not_say_its_name():
    made = Road("127.0.0.1", "here", echo, Credentials())
    try:
        with dialled(made) as sock:
            sock.sendall(hello())
            greeting, verdict = (frames.Receiver(sock, ahead=0).receive()[0] for _ in range(2))
        assert greeting["task"] == "here"
        assert verdict["refused"] == ""
    finally:
        made.close()


def test_the_slowest_to_greet_makes_room(monkeypatch):
    monkeypatch.setattr(road, "_MOST_GREETINGS", 2)
    made = open_road()
    silent = [dialled(made) for _ in range(3)]
    try:
        assert is_hung_up_on(silent[0])
        assert_answers(made)
    finally:
        for sock in silent:
            sock.close()
        made.close()


def test_a_greeting_that_drips_in_is_not_waited_for(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(road.time, "monotonic", lambda: now[0])

    class Dripping:
        def settimeout(self, seconds):
            assert seconds <= 10.0 - now[0]

        def recv_into(self, view, count=0, flags=0):
            now[0] += 1.0
            view[:1] = frame(b"{" + b" " * 100)[int(now[0]) - 1 : int(now[0])]
            return 1

    with pytest.raises(frames.Disconnected, match="timed out"):
        road._read_greeting(Dripping(), 10.0)
    assert now[0] == 10.0


class _Full:
    """A listener that is told once that the process has too many files open."""

    def __init__(self, listener):
        self._listener = listener
        self._told = False

    def accept(self):
        if not self._told:
            self._told = True
            raise OSError(errno.EMFILE, "Too many open files")
        return self._listener.accept()

    def __getattr__(self, name):
        return getattr(self._listener, name)


def test_a_system_without_room_is_asked_again(monkeypatch):
    listener = road._tcp_listener
    monkeypatch.setattr(road, "_tcp_listener", lambda interface: _Full(listener(interface)))
    made = open_road()
    try:
        assert_answers(made)
    finally:
        made.close()


def test_on_all_interfaces_ipv4_and_ipv6_are_taken():
    made = open_road("[::]")
    try:
        assert_answers(made)
        if socket.has_dualstack_ipv6():
            assert_answers(made, "[::1]")
    finally:
        made.close()


def test_a_system_without_ipv6(monkeypatch):
    monkeypatch.setattr(socket, "has_dualstack_ipv6", lambda: False)
    made = open_road("[::]")
    try:
        assert_answers(made)
    finally:
        made.close()
