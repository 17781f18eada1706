"""A gRPC server in this process: it listens, checks who calls, and hands bytes to methods."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Executor, Future
from typing import Any

import grpc

from penstock import errors
from penstock.distributed.credentials import Credentials
from penstock.distributed.grpc_master import Method
from penstock.distributed.statuses import status_of
from penstock.runtime.crew import Crew
from penstock.state.waiting import Cancellation

#: A tensor of a message may be as large as a message can be.
MESSAGE_SIZES = (
    ("grpc.max_receive_message_length", 2**31 - 1),
    ("grpc.max_send_message_length", 2**31 - 1),
)
_OPTIONS = (
    *MESSAGE_SIZES,
    ("grpc.so_reuseport", 0),  # a port that is in use is an error
    # Clients that are still there are asked about once a minute, so that those that are gone
    # don't keep their steps running.
    ("grpc.keepalive_time_ms", 60_000),
    ("grpc.keepalive_timeout_ms", 20_000),
    ("grpc.http2.min_ping_interval_without_data_ms", 5_000),
    # Who connects and does not begin to speak is hung up on, as on the road between tasks.
    ("grpc.server_handshake_timeout_ms", 10_000),
)
_STATUS = {status.value[0]: status for status in grpc.StatusCode}
_GRACE = 0.5  # seconds that calls under way have to answer when a server stops


class _Calls(Executor):
    """Threads for the calls under way: one waits for another (a queue), so none for a thread."""

    def __init__(self) -> None:
        self._crew = Crew("penstock-grpc")

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()

        def run() -> None:
            try:
                future.set_result(fn(*args, **kwargs))
            except BaseException as error:  # gRPC looks it up in the future
                future.set_exception(error)

        self._crew.start(run)
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        self._crew.close()


class _Methods(grpc.GenericRpcHandler):  # type: ignore[misc]
    """Finds the method of a path; who has not the cluster's token finds none."""

    def __init__(self, methods: Mapping[str, Method], credentials: Credentials):
        self._handlers = {
            path: grpc.unary_unary_rpc_method_handler(_answering(method))
            for path, method in methods.items()
        }
        self._credentials = credentials
        # As a method of a stream, so that not even the bytes of the request are read.
        self._refusal = grpc.stream_unary_rpc_method_handler(_refuse)

    def service(self, handler_call_details: Any) -> Any:
        # The request has not been read yet.
        if not self._credentials.admits(handler_call_details.invocation_metadata):
            return self._refusal
        return self._handlers.get(handler_call_details.method)


def _refuse(requests: Any, context: Any) -> bytes:
    context.abort(
        grpc.StatusCode.UNAUTHENTICATED, "The call does not have the token of this cluster."
    )
    raise AssertionError("abort raises")


def _answering(method: Method) -> Callable[[bytes, Any], bytes]:
    def answer(request: bytes, context: Any) -> bytes:
        call = Cancellation()
        if not context.add_callback(call.cancel):  # the caller is gone already
            call.cancel()
        try:
            return method(request, call)
        except Exception as error:
            code, message = status_of(error)
            context.abort(_STATUS.get(code, grpc.StatusCode.UNKNOWN), message)
            raise

    return answer


class GrpcDoor:
    """A listening server. `port` 0 means a free one; `self.port` is the one that was taken."""

    def __init__(
        self, interface: str, port: int, methods: Mapping[str, Method], credentials: Credentials
    ):
        self._calls = _Calls()
        self._server = grpc.server(
            self._calls, handlers=[_Methods(methods, credentials)], options=_OPTIONS
        )
        address = f"{interface}:{port}"
        try:
            if credentials.has_certificates:
                self.port = self._server.add_secure_port(address, _server_side(credentials))
            else:
                self.port = self._server.add_insecure_port(address)
        except RuntimeError as error:
            self.stop()
            raise errors.UnknownError(
                None, None, f"Could not start gRPC server on {address}: {error}"
            ) from None

    def start(self) -> None:
        self._server.start()

    def stop(self) -> None:
        """Ends the calls under way and gives the port back."""
        self._server.stop(_GRACE).wait()
        self._calls.shutdown()


def _server_side(credentials: Credentials) -> Any:
    return grpc.ssl_server_credentials(
        [(credentials.key, credentials.certificate)],
        root_certificates=credentials.authority,
        require_client_auth=True,
    )
