"""Which way connections take: a Unix socket on the same host, TCP elsewhere."""

import socket

import pytest

from penstock.distributed.arena import VARIABLE, host_identity
from penstock.distributed.credentials import Credentials
from penstock.distributed.road import Address, Road, connected

CREDENTIALS = Credentials(token="secret")


def echo(connection, fields, values):
    if "call" in fields:
        connection.reply(fields, {"said": fields["say"]})


@pytest.fixture
def road():
    made = Road("127.0.0.1", "here", echo, CREDENTIALS)
    yield made
    made.close()


def family_of_connection_to(address):
    connection = connected("127.0.0.1", address, "there", "here", CREDENTIALS, echo)
    try:
        reply, _ = connection.ask({"say": "hello"})
        assert reply["said"] == "hello"
        return connection._sock.family
    finally:
        connection.close()


def test_an_address_is_told_as_a_message():
    address = Address(1234, "name")
    assert Address.parsed(address.message()) == address
    assert Address.parsed(b'{"port": 5}') == Address(5)


@pytest.mark.skipif(not host_identity(), reason="needs memory that processes can share")
def test_on_one_host_a_unix_socket_is_taken(road):
    assert road.address.local
    assert family_of_connection_to(road.address) == socket.AF_UNIX


def test_a_name_that_is_not_found_here_is_that_of_another_host(road):
    elsewhere = road.address._replace(local="penstock-of-another-host")
    assert family_of_connection_to(elsewhere) == socket.AF_INET


def test_without_shared_memory_there_is_tcp_alone(monkeypatch):
    monkeypatch.setenv(VARIABLE, "0")
    road = Road("127.0.0.1", "here", echo, CREDENTIALS)
    try:
        assert not road.address.local
        assert family_of_connection_to(road.address) == socket.AF_INET
    finally:
        road.close()


def test_a_unix_socket_asks_for_the_token_as_well(road):
    with pytest.raises(Exception, match="does not have the token"):
        connected("127.0.0.1", road.address, "there", "here", Credentials(token="no"), echo)
