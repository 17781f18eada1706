"""What a client is told when a step, a graph or a message at a server is wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock import proto
from penstock.distributed.grpc_client import MasterClient

LOCAL = "/job:local/replica:0/task:0"


@pytest.fixture(autouse=True)
def graph() -> Iterator[Any]:
    with tf.Graph().as_default() as graph:
        yield graph


@pytest.fixture
def target(start_server: Callable[..., Any]) -> str:
    found: str = start_server().target
    return found


def test_an_error_names_the_node_of_the_client(target: str, by_grpc: Any) -> None:
    x = tf.placeholder(tf.float32, [None], name="x")
    checked = tf.check_numerics(x, "watch out", name="checked")
    with (
        tf.Session(target, config=by_grpc) as session,
        pytest.raises(tf.errors.InvalidArgumentError, match=f"From {LOCAL}:\n.*watch out") as info,
    ):
        session.run(checked, {x: [np.nan]})
    assert info.value.op is checked.op
    assert "test_remote_errors.py" in str(info.value)  # the client's line, not the server's
    assert "made at" not in info.value.message


def test_the_error_of_a_kernel_that_can_not_be_made(target: str, by_grpc: Any) -> None:
    wrong = tf.regex_replace("a", "(", "b", name="wrong")
    with (
        tf.Session(target, config=by_grpc) as session,
        pytest.raises(tf.errors.InvalidArgumentError, match="Invalid pattern") as info,
    ):
        session.run(wrong)
    assert info.value.op is wrong.op


def test_the_error_of_a_fetched_variable_without_a_value(target: str, by_grpc: Any) -> None:
    v = tf.Variable(1.0, use_resource=False, name="v")
    queue = tf.FIFOQueue(1, tf.int32)
    for fetches in (v, [v, queue.size()]):  # where something may wait, and where nothing does
        with (
            tf.Session(target, config=by_grpc) as session,
            pytest.raises(tf.errors.FailedPreconditionError, match="uninitialized value v") as info,
        ):
            session.run(fetches)
        assert info.value.op is v.op


def test_the_error_of_a_node_in_a_function_of_the_client(target: str, by_grpc: Any) -> None:
    """It has no line: the client knows it, and the server's own lines explain nothing."""
    numbers = tf.data.Dataset.from_tensors(float("nan"))
    checked = numbers.map(lambda x: tf.check_numerics(x, "watch out"))
    element = tf.data.make_one_shot_iterator(checked).get_next()
    with (
        tf.Session(target, config=by_grpc) as session,
        pytest.raises(tf.errors.InvalidArgumentError, match="watch out") as info,
    ):
        session.run(element)
    assert "made at" not in info.value.message


def test_long_messages_are_cut(target: str, by_grpc: Any) -> None:
    held = tf.Assert(False, ["y" * 50_000], name="held")
    with (
        tf.Session(target, config=by_grpc) as session,
        pytest.raises(tf.errors.InvalidArgumentError, match="characters left out") as info,
    ):
        session.run(held)
    assert len(info.value.message) < 3500 and info.value.op is held


@pytest.mark.parametrize(
    ("request_fields", "error", "message"),
    [
        ({"fetch": ["zz:0"]}, tf.errors.NotFoundError, "FetchOutputs node zz:0: not found"),
        ({"target": ["zz"]}, tf.errors.NotFoundError, "target nodes not found: zz"),
        ({"fetch": ["one:3"]}, tf.errors.InvalidArgumentError, "has 1 outputs"),
        ({}, tf.errors.InvalidArgumentError, "at least one target"),
        ({"session_handle": "gone", "fetch": ["one:0"]}, tf.errors.AbortedError, "not found"),
        ({"partial_run_handle": "9", "fetch": ["one:0"]}, tf.errors.InvalidArgumentError, "Setup"),
    ],
)
@pytest.mark.parametrize("in_body", [True, False])
def test_wrong_requests(
    request_fields: dict[str, Any], error: Any, message: str, in_body: bool, target: str
) -> None:
    tf.constant(1, name="one")
    client = MasterClient(target)
    graph_def = tf.get_default_graph().as_graph_def()
    made = client.ask(
        "CreateSession",
        proto.CreateSessionRequest(graph_def=graph_def),
        proto.CreateSessionResponse,
    )
    fields = {"session_handle": made.session_handle, **request_fields}
    request = proto.RunStepRequest(store_errors_in_response_body=in_body, **fields)
    if in_body:
        answer = client.ask("RunStep", request, proto.RunStepResponse)
        assert answer.status_code == tf.errors.error_code_from_exception_type(error)
        assert message in answer.status_error_message
    else:
        with pytest.raises(error, match=message):
            client.ask("RunStep", request, proto.RunStepResponse)
    client.close()


def test_extending_an_old_version_or_a_node_twice(target: str) -> None:
    tf.constant(1, name="one")
    nodes = tf.get_default_graph().as_graph_def()
    client = MasterClient(target)
    made = client.ask(
        "CreateSession", proto.CreateSessionRequest(graph_def=nodes), proto.CreateSessionResponse
    )
    request = proto.ExtendSessionRequest(
        session_handle=made.session_handle, graph_def=nodes, current_graph_version=7
    )
    with pytest.raises(tf.errors.AbortedError, match="Current version is 0 but caller expected 7"):
        client.ask("ExtendSession", request, proto.ExtendSessionResponse)
    request.current_graph_version = 0
    with pytest.raises(tf.errors.InvalidArgumentError, match="includes node 'one'"):
        client.ask("ExtendSession", request, proto.ExtendSessionResponse)
    client.close()


@pytest.mark.parametrize("method", ["CreateSession", "RunStep", "RunCallable", "Reset"])
def test_damaged_messages(method: str, target: str) -> None:
    client = MasterClient(target)
    with pytest.raises(tf.errors.InternalError, match="Unable to parse request"):
        client.call(method, b"\x0a\xff\xff\xff\xff\x01abc")
    client.close()


def test_unknown_methods(target: str) -> None:
    client = MasterClient(target)
    with pytest.raises(tf.errors.UnimplementedError):
        client.call("Dance", b"")
    client.close()
