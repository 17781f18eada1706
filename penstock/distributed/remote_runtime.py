"""The runtime of a session on a server: its steps run there, reached by gRPC or by the road.

It stands in for a `LocalRuntime` in a session. The server has the graph; it gets nodes that were
added since the last time before a step that it doesn't know yet.
"""

from __future__ import annotations

import random
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from penstock import errors, proto
from penstock.distributed.client_road import ClientRoad, Form
from penstock.distributed.frames import Fields
from penstock.distributed.grpc_client import MasterClient
from penstock.distributed.statuses import error_of
from penstock.distributed.step_messages import Sent, parse_run_step_response, run_step_request
from penstock.distributed.value_arrays import array_of, array_type, value_of
from penstock.dtypes import DType
from penstock.ir.graph import Graph
from penstock.ir.operation import Operation
from penstock.ir.tensor import Tensor
from penstock.kernels.values import to_array


def _seconds(config: Any) -> float | None:
    milliseconds = config.operation_timeout_in_ms if config is not None else 0
    return milliseconds / 1000 if milliseconds > 0 else None


def reset_target(target: str, containers: Sequence[str], config: Any = None) -> None:
    """Closes all sessions of a server and clears containers of its state, the default one if none
    are named."""
    client = MasterClient(target)
    try:
        filters = list(config.device_filters) if config is not None else []
        request = proto.ResetRequest(container=containers, device_filters=filters)
        client.ask("Reset", request, proto.ResetResponse, _seconds(config))
    finally:
        client.close()


class RemoteRuntime:
    """A session of a server, created with its first step."""

    def __init__(self, target: str, graph: Graph, config: Any):
        self._target = target
        self._graph = graph
        self._config = config
        self._timeout = _seconds(config)
        self._lock = threading.Lock()
        self._handle = ""
        self._closing = False
        self._version = 0  # of the graph at the server
        self._sent = 0  # nodes that the server has
        self._client = MasterClient(target, graph)
        self._road = ClientRoad(target, self._client)

    # Graph ------------------------------------------------------------------------------------

    def _up_to_date(self) -> str:
        """Sends what the server lacks of the graph; the handle of the session there."""
        with self._lock, self._graph._lock:
            count = self._graph.version
            if not self._handle:
                self._create(self._nodes_since(0), count)
            elif count > self._sent:
                self._extend(count)
            return self._handle

    def _opened(self) -> str:
        """The handle of the session at the server, which may have nothing of the graph yet.

        What is asked of the server then is answered even if the graph could not run on it.
        """
        with self._lock, self._graph._lock:
            if not self._handle:
                self._create(proto.GraphDef(versions=self._graph.graph_def_versions), 0)
            return self._handle

    def _create(self, graph_def: Any, count: int) -> None:
        request = proto.CreateSessionRequest(
            graph_def=graph_def, config=self._config, target=self._target
        )
        answer = self._client.ask(
            "CreateSession", request, proto.CreateSessionResponse, self._timeout
        )
        self._handle, self._version = answer.session_handle, answer.graph_version
        self._sent = count

    def _extend(self, count: int) -> None:
        request = proto.ExtendSessionRequest(
            session_handle=self._handle,
            graph_def=self._nodes_since(self._sent),
            current_graph_version=self._version,
        )
        answer = self._client.ask(
            "ExtendSession", request, proto.ExtendSessionResponse, self._timeout
        )
        self._version, self._sent = answer.new_graph_version, count

    def _nodes_since(self, version: int) -> Any:
        return self._graph.as_graph_def(
            from_version=version, add_shapes=self._config.graph_options.infer_shapes
        )

    # Steps ------------------------------------------------------------------------------------

    def compile(
        self,
        feeds: Sequence[Tensor],
        fetches: Sequence[Tensor],
        targets: Sequence[Operation],
    ) -> RemoteStep:
        """A step of the server; what is fed is not fetched from it."""
        return RemoteStep(self, self._up_to_date(), feeds, fetches, targets)

    def partial_run(
        self, feeds: Sequence[Tensor], fetches: Sequence[Tensor], targets: Sequence[Operation]
    ) -> RemotePartialRun:
        """A step that is run in parts."""
        request = proto.PartialRunSetupRequest(
            session_handle=self._up_to_date(),
            feed=[tensor.name for tensor in feeds],
            fetch=[tensor.name for tensor in fetches],
            target=[op.name for op in targets],
            request_id=_request_id(),
        )
        answer = self._client.ask(
            "PartialRunSetup", request, proto.PartialRunSetupResponse, self._timeout
        )
        handles = request.session_handle, answer.partial_run_handle
        return RemotePartialRun(self, *handles, {*feeds, *fetches, *targets})

    def run_form(
        self, form: Form, values: Sequence[Any], options: Any, timeout: float | None
    ) -> tuple[Any, list[Any]] | None:
        """The RunMetadata of a step, if options ask for it, and the values of its fetches.

        None if there is no road to the server.
        """
        way = self._road.way()
        if way is None:
            return None
        if options is not None:
            values = [*values, options.SerializeToString()]
        try:
            reply, given = self._road.run(way, form, values, timeout)
        except errors.UnavailableError as error:
            raise self._explained(error) from error.__cause__
        if "status" in reply:
            self._check(reply["status"], reply["message"])
        return proto.RunMetadata.FromString(given.pop()) if "told" in reply else None, given

    def run_part(self, head: Any, feeds: Sequence[Sent]) -> dict[str, np.ndarray]:
        """The tensors, by name, that the next part of a step gives."""
        way = self._road.way()
        if way is None:
            return self.run_by_grpc(head, feeds, None)[1]
        fields: Fields = {
            "partial": head.partial_run_handle,
            "session": head.session_handle,
            "feeds": [[each.name, each.dtype.name] for each in feeds],
            "fetches": list(head.fetch),
            "targets": list(head.target),
        }
        values = [value_of(each.value, each.dtype) for each in feeds]
        try:
            reply, given = self._road.run_part(way, fields, values)
        except errors.UnavailableError as error:
            raise self._explained(error) from error.__cause__
        if "status" in reply:
            self._check(reply["status"], reply["message"])
        names = dict.fromkeys(head.fetch)
        return {
            name: array_of(value, array_type(self._graph.get_tensor_by_name(name).dtype.base_dtype))
            for name, value in zip(names, given, strict=True)
        }

    def _explained(self, error: errors.UnavailableError) -> errors.OpError:
        """A connection that ends with the session is no failure of the server."""
        return _closed() if self._closing else error

    def run_by_grpc(
        self, head: Any, feeds: Sequence[Sent], timeout: float | None
    ) -> tuple[Any, dict[str, np.ndarray]]:
        """The RunMetadata of the step of a RunStepRequest, and the fetched tensors by name."""
        head.request_id = _request_id()
        answer = self._client.call("RunStep", run_step_request(head, feeds), timeout)
        response, tensors = parse_run_step_response(answer)
        self._check(response.status_code, response.status_error_message)
        return response.metadata, tensors

    def _check(self, code: int, message: str) -> None:
        """Raises the error of a status that is not OK."""
        if self._closing and code == errors.ABORTED:
            raise _closed()  # it came to the server after the end of the session
        if code:
            raise error_of(code, message, self._graph)

    # Tensors that the server keeps ---------------------------------------------------------------

    def kept_tensor(self, handle: str, dtype: DType) -> np.ndarray:
        """The tensor that a step has left at the server under a handle."""
        from penstock.ops.session_handles import get_session_tensor

        with self._graph.as_default():
            holder, value = get_session_tensor(handle, dtype)
        text = np.array([handle.encode(), None], dtype=object)[:1].reshape(())
        return np.asarray(self.compile([holder], [value], []).run([text])[0])

    def forget_tensor(self, handle: str) -> None:
        """Drops the tensor of a handle."""
        from penstock.ops.session_handles import delete_session_tensor

        with self._graph.as_default():
            holder, delete = delete_session_tensor(handle)
        text = np.array([handle.encode(), None], dtype=object)[:1].reshape(())
        self.compile([holder], [], [delete]).run([text])

    # Life -------------------------------------------------------------------------------------

    def device_attributes(self) -> list[Any]:
        """The DeviceAttributes messages of the server's devices."""
        request = proto.ListDevicesRequest(session_handle=self._opened())
        answer = self._client.ask("ListDevices", request, proto.ListDevicesResponse, self._timeout)
        return [*answer.local_device, *answer.remote_device]

    def close(self) -> None:
        """Ends the session at the server; one that is gone has ended already."""
        self._closing = True
        if self._handle:
            request = proto.CloseSessionRequest(session_handle=self._handle)
            # A server that does not answer closes it when it gets to it, or never will.
            with suppress(
                errors.AbortedError, errors.UnavailableError, errors.DeadlineExceededError
            ):
                timeout = self._timeout or _CLOSING
                self._client.ask("CloseSession", request, proto.CloseSessionResponse, timeout)
        self._road.close()
        self._client.close()

    def abandon(self) -> None:
        """Ends the session without waiting for the server."""
        # While the interpreter shuts down, a call would wait for a thread that never starts.
        if self._handle and not sys.is_finalizing():
            request = proto.CloseSessionRequest(session_handle=self._handle)
            with suppress(Exception):  # nobody is there to be told
                self._client.last_call("CloseSession", request)
        self._road.close()


_CLOSING = 1.0  # seconds that a server has to close a session


def _closed() -> errors.CancelledError:
    return errors.CancelledError(
        None, None, "Step was cancelled by an explicit call to `Session::Close()`."
    )


def _request_id() -> int:
    return random.getrandbits(63)


class RemoteStep:
    """A form of step of a server's session; safe to run from many threads at once."""

    def __init__(
        self,
        runtime: RemoteRuntime,
        handle: str,
        feeds: Sequence[Tensor],
        fetches: Sequence[Tensor],
        targets: Sequence[Operation],
    ):
        self._runtime = runtime
        self._feeds = [(tensor.name, tensor.dtype.base_dtype) for tensor in feeds]
        asked = {tensor.name: tensor.dtype.base_dtype for tensor in fetches if tensor not in feeds}
        self._types = [array_type(dtype) for dtype in asked.values()]
        places = {name: i for i, name in enumerate(asked)}
        self._places = [places.get(tensor.name) for tensor in fetches]
        self._form = Form(
            handle, [name for name, _ in self._feeds], list(asked), [op.name for op in targets]
        )
        self._is_empty = not asked and not targets

    def run(self, feeds: Sequence[Any], timeout: float | None = None) -> tuple[Any, ...]:
        """Runs the step on runtime values; `timeout` is in seconds."""
        options = None if timeout is None else proto.RunOptions()
        return self.run_with_options(feeds, options, None, timeout)

    def run_with_options(
        self, feeds: Sequence[Any], options: Any, metadata: Any, timeout: float | None = None
    ) -> tuple[Any, ...]:
        """Runs the step, and puts what RunOptions ask for into RunMetadata, if it is there."""
        if self._is_empty:
            return (None,) * len(self._places)
        if timeout is not None:
            given, options = options, proto.RunOptions()
            options.CopyFrom(given)
            options.timeout_in_ms = max(1, round(timeout * 1000))
        answer = self._runtime.run_form(self._form, feeds, options, timeout)
        if answer is None:
            told, arrays = self._by_grpc(feeds, options, timeout)
        else:
            told, values = answer
            arrays = list(map(array_of, values, self._types))
        if metadata is not None and told is not None:
            metadata.MergeFrom(told)
        return tuple(None if place is None else _fetched(arrays[place]) for place in self._places)

    def _by_grpc(
        self, feeds: Sequence[Any], options: Any, timeout: float | None
    ) -> tuple[Any, list[np.ndarray]]:
        description = self._form.description
        names = description["fetches"]
        head = proto.RunStepRequest(
            session_handle=description["session"],
            fetch=names,
            target=description["targets"],
            options=options,
            store_errors_in_response_body=True,
        )
        pairs = zip(self._feeds, feeds, strict=True)
        sent = [Sent(name, to_array(value), dtype) for (name, dtype), value in pairs]
        told, tensors = self._runtime.run_by_grpc(head, sent, timeout)
        return told, [_named(tensors, name) for name in names]


def _named(tensors: dict[str, np.ndarray], name: str) -> np.ndarray:
    array = tensors.get(name)
    if array is None:
        raise errors.InternalError(None, None, f"The server's answer has no value for {name}.")
    return array


def _fetched(array: Any) -> Any:
    if not isinstance(array, np.ndarray):  # a handle
        return array
    if array.dtype.names is not None:  # quantized numbers are fetched as the integers that they are
        array = array.view(array.dtype[0])
    if not array.ndim:
        return array[()]
    # The array is the caller's for as long as they like, the memory that it came in is not.
    return array.copy()


class RemotePartialRun:
    """A step that a server holds between calls, with the methods of a `PartialRun`."""

    def __init__(
        self,
        runtime: RemoteRuntime,
        handle: str,
        partial_handle: str,
        named: set[Tensor | Operation],
    ):
        self._runtime = runtime
        self._handle = handle
        self._partial_handle = partial_handle
        self._left = named

    @property
    def is_over(self) -> bool:
        """Whether all that was named ahead has been fed, fetched and run."""
        return not self._left

    def run(
        self, feeds: dict[Tensor, Any], fetches: Sequence[Tensor], targets: Sequence[Operation]
    ) -> list[Any]:
        """Runs the next part; returns the values of the fetches."""
        head = proto.RunStepRequest(
            session_handle=self._handle,
            partial_run_handle=self._partial_handle,
            fetch=[tensor.name for tensor in fetches],
            target=[op.name for op in targets],
            store_errors_in_response_body=True,
        )
        sent = [Sent(t.name, to_array(v), t.dtype.base_dtype) for t, v in feeds.items()]
        tensors = self._runtime.run_part(head, sent)
        self._left.difference_update(feeds, fetches, targets)
        return [_fetched(_named(tensors, tensor.name)) for tensor in fetches]
