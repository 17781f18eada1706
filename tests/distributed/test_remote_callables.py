"""Callables at a server, as TensorFlow's clients ask for them; its Keras connects tensors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

import penstock as tf
from penstock import proto
from penstock.distributed.grpc_client import MasterClient
from penstock.ir.tensor_codec import proto_to_array


class Callables:
    """A client with a session on the nodes of the default graph."""

    def __init__(self, target: str):
        self._client = MasterClient(target)
        request = proto.CreateSessionRequest(graph_def=tf.get_default_graph().as_graph_def())
        made = self._client.ask("CreateSession", request, proto.CreateSessionResponse)
        self._session = made.session_handle

    def run(self, *names: str, connected: dict[str, str] | None = None, **options: Any) -> Any:
        """Fetches tensors by one callable; `connected` maps tensors to those that they become."""
        wanted = proto.CallableOptions(fetch=names, **options)
        for to, source in (connected or {}).items():
            wanted.tensor_connection.add(from_tensor=source, to_tensor=to)
        made = self._client.ask(
            "MakeCallable",
            proto.MakeCallableRequest(session_handle=self._session, options=wanted),
            proto.MakeCallableResponse,
        )
        answer = self._client.ask(
            "RunCallable",
            proto.RunCallableRequest(session_handle=self._session, handle=made.handle),
            proto.RunCallableResponse,
        )
        return [proto_to_array(each).tolist() for each in answer.fetch]

    def close(self) -> None:
        self._client.close()


@pytest.fixture
def callables(start_server: Callable[..., Any]) -> Iterator[Callable[[], Callables]]:
    made: list[Callables] = []
    target = start_server().target

    def make() -> Callables:
        made.append(Callables(target))
        return made[-1]

    with tf.Graph().as_default():
        yield make
    for each in made:
        each.close()


def test_a_tensor_is_fed_by_another_one(callables: Any) -> None:
    elements = tf.data.make_one_shot_iterator(tf.data.Dataset.range(1, 9)).get_next("element")
    assert elements.name == "element:0"
    x = tf.placeholder(tf.int64, [], name="x")
    total = tf.Variable(tf.constant(0, tf.int64), name="total", use_resource=True)
    with tf.control_dependencies([total.assign_add(2 * x, read_value=False)]):
        tf.identity(x + 1, name="next")
    client = callables()
    client.run(target=["total/Assign"])
    # It is computed once, whoever takes it.
    assert client.run("next:0", "x:0", "element:0", connected={"x:0": "element:0"}) == [2, 1, 1]
    assert client.run("next", "x", connected={"x": "element"}) == [3, 2]
    assert client.run("total/Read/ReadVariableOp:0") == [6]
    with pytest.raises(tf.errors.InvalidArgumentError, match="must feed a value"):
        client.run("next:0")


def test_wrong_connections(callables: Any) -> None:
    x = tf.placeholder(tf.float32, [], name="x")
    tf.add(x, 1.0, name="y")
    tf.constant("text", name="text")
    client = callables()
    refused: list[tuple[dict[str, str], Any]] = [
        ({"nothing:0": "y:0"}, tf.errors.NotFoundError),
        ({"x:0": "nothing:0"}, tf.errors.NotFoundError),
        ({"x:0": "text:0"}, tf.errors.InvalidArgumentError),
        ({"x:0": "y:0"}, tf.errors.InvalidArgumentError),  # which needs x
        ({"x:0": "y:0", "x": "text:0"}, tf.errors.InvalidArgumentError),
    ]
    for connected, error in refused:
        with pytest.raises(error):
            client.run("y:0", connected=connected)
