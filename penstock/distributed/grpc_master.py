"""TensorFlow's MasterService on a `Master`: messages in, messages out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock import errors, proto
from penstock.distributed.master import Master, StepForm, StepResult
from penstock.distributed.statuses import status_of
from penstock.distributed.step_messages import (
    parse,
    parse_run_callable_request,
    parse_run_step_request,
    run_callable_response,
    run_step_response,
)
from penstock.state.waiting import Cancellation

#: A method takes the bytes of a request, and the cancellation of its call.
Method = Callable[[bytes, Cancellation], bytes]

MASTER_SERVICE = "tensorflow.MasterService"
WORKER_SERVICE = "tensorflow.WorkerService"


class MasterService:
    """The ten methods of the service, and GetStatus of the worker service.

    Args:
      master: who does the work.
      task_name: the task's name, which errors of its nodes begin with.
    """

    def __init__(self, master: Master, task_name: str):
        self._master = master
        self._task_name = task_name

    def methods(self) -> dict[str, Method]:
        """The methods by their paths on the wire."""
        names = (
            "CreateSession ExtendSession RunStep PartialRunSetup CloseSession Reset ListDevices "
            "MakeCallable RunCallable ReleaseCallable"
        ).split()
        own = {name: getattr(self, f"_{_snake_case(name)}") for name in names}
        found = {f"/{MASTER_SERVICE}/{name}": method for name, method in own.items()}
        found[f"/{WORKER_SERVICE}/GetStatus"] = self._get_status
        return found

    # Sessions ---------------------------------------------------------------------------------

    def _create_session(self, message: bytes, _: Cancellation) -> bytes:
        request = parse(proto.CreateSessionRequest, message)
        handle = self._master.create_session(request.graph_def, request.config)
        return _bytes(proto.CreateSessionResponse(session_handle=handle))

    def _extend_session(self, message: bytes, _: Cancellation) -> bytes:
        request = parse(proto.ExtendSessionRequest, message)
        version = self._master.extend_session(
            request.session_handle, request.graph_def, request.current_graph_version
        )
        return _bytes(proto.ExtendSessionResponse(new_graph_version=version))

    def _close_session(self, message: bytes, _: Cancellation) -> bytes:
        request = parse(proto.CloseSessionRequest, message)
        self._master.close_session(request.session_handle)
        return b""

    def _reset(self, message: bytes, _: Cancellation) -> bytes:
        self._master.reset(list(parse(proto.ResetRequest, message).container))
        return b""

    def _list_devices(self, message: bytes, _: Cancellation) -> bytes:
        request = parse(proto.ListDevicesRequest, message)
        local, remote = self._master.list_devices(request.session_handle)
        return _bytes(proto.ListDevicesResponse(local_device=local, remote_device=remote))

    def _get_status(self, message: bytes, _: Cancellation) -> bytes:
        local, _remote = self._master.list_devices("")
        return _bytes(proto.GetStatusResponse(device_attributes=local))

    # Steps ------------------------------------------------------------------------------------

    def _run_step(self, message: bytes, cancellation: Cancellation) -> bytes:
        request, feeds = parse_run_step_request(message)
        try:
            result = self._step_of(request, feeds, cancellation)
            head = proto.RunStepResponse(metadata=result.metadata)
            return run_step_response(head, result.tensors)
        except Exception as error:
            code, text = status_of(error, self._task_name)
            if not request.store_errors_in_response_body:
                raise errors.exception_type_from_error_code(code)(None, None, text) from error  # type: ignore[call-arg]
            return _bytes(proto.RunStepResponse(status_code=code, status_error_message=text))

    def _step_of(self, request: Any, feeds: Any, cancellation: Cancellation) -> StepResult:
        handle, fetches, targets = request.session_handle, request.fetch, request.target
        if request.partial_run_handle:
            return self._master.partial_run(
                handle, request.partial_run_handle, feeds, list(fetches), list(targets)
            )
        return self._master.run_step(
            handle, feeds, list(fetches), list(targets), request.options, cancellation
        )

    def _partial_run_setup(self, message: bytes, _: Cancellation) -> bytes:
        request = parse(proto.PartialRunSetupRequest, message)
        form = StepForm(tuple(request.feed), tuple(request.fetch), tuple(request.target))
        handle = self._master.partial_run_setup(request.session_handle, form)
        return _bytes(proto.PartialRunSetupResponse(partial_run_handle=handle))

    def _make_callable(self, message: bytes, _: Cancellation) -> bytes:
        request = parse(proto.MakeCallableRequest, message)
        number = self._master.make_callable(request.session_handle, request.options)
        return _bytes(proto.MakeCallableResponse(handle=number))

    def _run_callable(self, message: bytes, cancellation: Cancellation) -> bytes:
        request, feeds = parse_run_callable_request(message)
        result = self._master.run_callable(
            request.session_handle, request.handle, feeds, cancellation
        )
        return run_callable_response(
            proto.RunCallableResponse(metadata=result.metadata), result.tensors
        )

    def _release_callable(self, message: bytes, _: Cancellation) -> bytes:
        request = parse(proto.ReleaseCallableRequest, message)
        self._master.release_callable(request.session_handle, request.handle)
        return b""


def _snake_case(name: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)[1:]


def _bytes(message: Any) -> bytes:
    serialized: bytes = message.SerializeToString()
    return serialized
