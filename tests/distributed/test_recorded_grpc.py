"""What real TensorFlow clients and servers said to each other, replayed with one side Penstock's.

`record_grpc.py` recorded the calls and the outcomes of `wire_program.py` with TensorFlow.
"""

from __future__ import annotations

import base64
import json
import pathlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock import proto
from penstock.distributed.credentials import Credentials
from penstock.distributed.grpc_door import GrpcDoor
from penstock.distributed.grpc_master import MasterService
from penstock.distributed.local_master import LocalMaster
from penstock.distributed.statuses import error_of, status_of
from penstock.ir.tensor_codec import proto_to_array
from penstock.state.containers import ResourceManager
from penstock.state.waiting import Cancellation
from tests.distributed.wire_program import run_program

DATA = pathlib.Path(__file__).with_name("data")
RECORDINGS = ["grpc_tensorflow_1_15", "grpc_tensorflow_2_21"]
TASK = "/job:local/replica:0/task:0"


def recording(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((DATA / f"{name}.json").read_text())
    for call in found["calls"]:
        call["request"] = base64.b64decode(call["request"])
        call["response"] = base64.b64decode(call.get("response", ""))
    return found


# A recorded client ----------------------------------------------------------------------------

HANDLES = ("session_handle", "partial_run_handle", "handle")


class Replay:
    """Sends recorded requests, in which the handles are those of this server's answers."""

    def __init__(self) -> None:
        master = LocalMaster(TASK, ResourceManager(), proto.ConfigProto())
        self._methods = MasterService(master, TASK).methods()
        self._own: dict[tuple[str, Any], Any] = {}

    def answer(self, call: dict[str, Any]) -> tuple[int, Any]:
        """The status code of a call, and the answer's message."""
        request = getattr(proto, f"{call['method']}Request").FromString(call["request"])
        for field in HANDLES:
            recorded = getattr(request, field, None)
            if (field, recorded) in self._own:
                setattr(request, field, self._own[field, recorded])
        method = self._methods[f"/tensorflow.MasterService/{call['method']}"]
        try:
            answered = method(request.SerializeToString(), Cancellation())
        except Exception as error:
            return status_of(error)[0], None
        kind = getattr(proto, f"{call['method']}Response")
        message, original = kind.FromString(answered), kind.FromString(call["response"])
        for field in HANDLES:
            if hasattr(message, field):
                self._own[field, getattr(original, field)] = getattr(message, field)
        return 0, message


def tensors_of(method: str, message: Any) -> dict[Any, Any]:
    if method == "RunStep":
        return {each.name: proto_to_array(each.tensor) for each in message.tensor}
    return dict(enumerate(proto_to_array(each) for each in message.fetch))


@pytest.mark.parametrize("name", RECORDINGS)
def test_a_recorded_client_gets_the_same_answers(name: str) -> None:
    replay = Replay()
    checked = 0
    for call in recording(name)["calls"]:
        code, answer = replay.answer(call)
        assert code == call.get("status", [0])[0], call["method"]
        if code or call["method"] not in ("RunStep", "RunCallable"):
            continue
        wanted = getattr(proto, f"{call['method']}Response").FromString(call["response"])
        if call["method"] == "RunStep":
            assert answer.status_code == wanted.status_code, answer.status_error_message
        found = tensors_of(call["method"], answer)
        for key, array in tensors_of(call["method"], wanted).items():
            np.testing.assert_array_equal(found[key], array)
            assert found[key].dtype == array.dtype
            checked += 1
    assert checked >= 10


# A recorded server ----------------------------------------------------------------------------


class RecordedServer:
    """Answers as the recorded server did: a step by its form, all else in its order."""

    def __init__(self, calls: list[dict[str, Any]]):
        self._answers: dict[Any, list[dict[str, Any]]] = {}
        for call in calls:
            self._answers.setdefault(self._key(call["method"], call["request"]), []).append(call)

    @staticmethod
    def _key(method: str, request: bytes) -> Any:
        if method != "RunStep":
            return method
        step = proto.RunStepRequest.FromString(request)
        fed = sorted(feed.name for feed in step.feed)
        return method, tuple(fed), tuple(step.fetch), tuple(step.target)

    def methods(self) -> dict[str, Any]:
        names = {key if isinstance(key, str) else key[0] for key in self._answers}
        return {f"/tensorflow.MasterService/{name}": self._method(name) for name in names}

    def _method(self, name: str) -> Any:
        def answer(request: bytes, _: Any) -> bytes:
            answers = self._answers[self._key(name, request)]
            call = answers.pop(0) if len(answers) > 1 else answers[0]
            if "status" in call:
                raise error_of(*call["status"])
            response: bytes = call["response"]
            return response

        return answer


@pytest.fixture
def recorded_server(request: Any) -> Iterator[tuple[str, Any]]:
    found = recording(request.param)
    door = GrpcDoor("127.0.0.1", 0, RecordedServer(found["calls"]).methods(), Credentials())
    door.start()
    yield f"grpc://127.0.0.1:{door.port}", found["outcomes"]
    door.stop()


@pytest.mark.parametrize("recorded_server", RECORDINGS, indirect=True)
def test_a_recorded_server_gives_the_same_outcomes(recorded_server: tuple[str, Any]) -> None:
    target, outcomes = recorded_server
    assert run_program(tf, target, proto.CallableOptions()) == outcomes


# Both sides Penstock's ------------------------------------------------------------------------


@pytest.mark.parametrize("name", RECORDINGS)
def test_the_same_program_on_a_server_of_penstock(name: str) -> None:
    methods = MasterService(LocalMaster(TASK, ResourceManager(), proto.ConfigProto()), TASK)
    door = GrpcDoor("127.0.0.1", 0, methods.methods(), Credentials())
    door.start()
    try:
        target = f"grpc://127.0.0.1:{door.port}"
        found = run_program(tf, target, proto.CallableOptions())
    finally:
        door.stop()
    wanted = recording(name)["outcomes"]
    # TensorFlow names the node that sends the value to the client, which the client doesn't know.
    wanted["not initialized"]["op"] = "v"
    assert found == wanted
