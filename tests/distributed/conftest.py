"""Servers that are stopped after their test, and a check that they leave nothing behind."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

import penstock as tf


@pytest.fixture
def start_server() -> Iterator[Callable[..., Any]]:
    """Starts servers; `start_server()` is a local one."""
    started = []

    def start(cluster: Any = None, **settings: Any) -> Any:
        server = tf.train.Server(cluster or {"local": ["localhost:0"]}, **settings)
        started.append(server)
        return server

    yield start
    for server in started:
        server.stop()


@pytest.fixture(params=["road", "grpc"])
def by_grpc(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A ConfigProto of sessions that reach even the server of their own process from outside.

    Their steps go over the road to it, or by gRPC, as those of other clients do.
    """
    if request.param == "grpc":
        monkeypatch.setenv("PENSTOCK_ROAD", "0")
    config = tf.ConfigProto()
    config.rpc_options.use_rpc_for_inprocess_master = True
    return config
