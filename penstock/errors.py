"""The errors a step can raise: TensorFlow's canonical classes and their numeric codes."""

from __future__ import annotations

import traceback
import warnings
from typing import Any

OK = 0
CANCELLED = 1
UNKNOWN = 2
INVALID_ARGUMENT = 3
DEADLINE_EXCEEDED = 4
NOT_FOUND = 5
ALREADY_EXISTS = 6
PERMISSION_DENIED = 7
RESOURCE_EXHAUSTED = 8
FAILED_PRECONDITION = 9
ABORTED = 10
OUT_OF_RANGE = 11
UNIMPLEMENTED = 12
INTERNAL = 13
UNAVAILABLE = 14
DATA_LOSS = 15
UNAUTHENTICATED = 16


class OpError(Exception):
    """An error of a running step.

    Args:
      node_def: The `NodeDef` of the op that failed, or None.
      op: The `Operation` that failed, where this process has its graph, or None.
      message: What went wrong.
      error_code: One of this module's integer codes.
    """

    def __init__(self, node_def: Any, op: Any, message: str, error_code: int) -> None:
        super().__init__()
        self._node_def = node_def
        self._op = op
        self._message = message
        self._error_code = error_code

    @property
    def message(self) -> str:
        """What went wrong."""
        return self._message

    @property
    def op(self) -> Any:
        """The `Operation` that failed; None when it is not in this process's graph."""
        return self._op

    @property
    def node_def(self) -> Any:
        """The `NodeDef` of the op that failed, or None."""
        return self._node_def

    @property
    def error_code(self) -> int:
        """The canonical integer code, e.g. `NOT_FOUND`."""
        return self._error_code

    def __str__(self) -> str:
        frames = getattr(self._op, "traceback", None)
        if not frames:
            return str(self._message)
        stack = "".join(traceback.format_list(frames))
        return f"{self._message}\n\nOriginal stack trace for {self._op.name!r}:\n{stack}"

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._message!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        # The op stays behind: it belongs to a graph of this process.
        return _restore, (type(self), self._node_def, self._message, self._error_code)


def _restore(cls: type[OpError], node_def: Any, message: str, error_code: int) -> OpError:
    error = cls.__new__(cls)
    OpError.__init__(error, node_def, None, message, error_code)
    return error


class CancelledError(OpError):
    """The step or the op was cancelled, e.g. because its session or queue was closed."""

    def __init__(self, node_def: Any, op: Any, message: str) -> None:
        super().__init__(node_def, op, message, CANCELLED)


class UnknownError(OpError):
    """An error with no better class, e.g. one from another system's error space."""

    def __init__(self, node_def: Any, op: Any, message: str, error_code: int = UNKNOWN) -> None:
        super().__init__(node_def, op, message, error_code)


class InvalidArgumentError(OpError):
    """An op was given a value, shape or attribute that can never be right."""

    def __init__(self, node_def: Any, op: Any, message: str) -> None:
        super().__init__(node_def, op, message, INVALID_ARGUMENT)


class DeadlineExceededError(OpError):
    """A time limit passed before the operation was done."""

    def __init__(self, node_def: Any, op: Any, message: str) -> None:
        super().__init__(node_def, op, message, DEADLINE_EXCEEDED)


class NotFoundError(OpError):
    """A file, tensor, resource or node that was asked for does not exist."""

    def __init__(self, node_def: Any, op: Any, message: str) -> None:
        super().__init__(node_def, op, message, NOT_FOUND)


class AlreadyExistsError(OpError):
    """Something that was to be created exists already."""

    def __init__(self, node_def: Any, op: Any, message: str) -> None:
        super().__init__(node_def, op, message, ALREADY_EXISTS)


class PermissionDeniedError(OpError):
    """The caller may not do this."""

    def __init__(self, node_def: Any, op: Any, message: str) -> None:
        super().__init__(node_def, op, message, PERMISSION_DENIED)


class ResourceExhaustedError(OpError):
    """Memory, disk space or a quota has run out."""

    def __init__(self, node_def: Any, op: Any, message: str) -> None:
        super().__init__(node_def, op, message, RESOURCE_EXHAUSTED)


class FailedPreconditionError(OpError):
    """The state is not ready for this op, e.g. a variable was read before it was initialised."""

    def __init__(self, node_def: Any, op: Any, message: str) -> None:
        super().__init__(node_def, op, message, FAILED_PRECONDITION)


class AbortedError(OpError):
    """The operation was given up, often after a task restarted; the caller may start it again."""

    def __init__(self, node_def: Any, op: Any, message: str) -> None:
        super().__init__(node_def, op, message, ABORTED)


class OutOfRangeError(OpError):
    """An input has ended, e.g. a closed queue that is empty or a dataset at its end."""

    def __init__(self, node_def: Any, op: Any, message: str) -> None:
        super().__init__(node_def, op, message, OUT_OF_RANGE)


class UnimplementedError(OpError):
    """The op has no implementation for this device, type or attribute."""

    def __init__(self, node_def: Any, op: Any, message: str) -> None:
        super().__init__(node_def, op, message, UNIMPLEMENTED)


class InternalError(OpError):
    """An invariant of the system itself is broken."""

    def __init__(self, node_def: Any, op: Any, message: str) -> None:
        super().__init__(node_def, op, message, INTERNAL)


class UnavailableError(OpError):
    """A task cannot be reached at the moment; trying again may help."""

    def __init__(self, node_def: Any, op: Any, message: str) -> None:
        super().__init__(node_def, op, message, UNAVAILABLE)


class DataLossError(OpError):
    """Data is corrupt or lost beyond recovery, e.g. a checksum does not match."""

    def __init__(self, node_def: Any, op: Any, message: str) -> None:
        super().__init__(node_def, op, message, DATA_LOSS)


class UnauthenticatedError(OpError):
    """The caller's credentials are missing or wrong."""

    def __init__(self, node_def: Any, op: Any, message: str) -> None:
        super().__init__(node_def, op, message, UNAUTHENTICATED)


class InaccessibleTensorError(ValueError):
    """A tensor was used outside the graph or function that made it."""


class OperatorNotAllowedInGraphError(TypeError):
    """A Python operation, such as `if tensor:`, needs a value that a graph tensor has not."""


_TYPE_OF_CODE: dict[int, type[OpError]] = {
    CANCELLED: CancelledError,
    UNKNOWN: UnknownError,
    INVALID_ARGUMENT: InvalidArgumentError,
    DEADLINE_EXCEEDED: DeadlineExceededError,
    NOT_FOUND: NotFoundError,
    ALREADY_EXISTS: AlreadyExistsError,
    PERMISSION_DENIED: PermissionDeniedError,
    RESOURCE_EXHAUSTED: ResourceExhaustedError,
    FAILED_PRECONDITION: FailedPreconditionError,
    ABORTED: AbortedError,
    OUT_OF_RANGE: OutOfRangeError,
    UNIMPLEMENTED: UnimplementedError,
    INTERNAL: InternalError,
    UNAVAILABLE: UnavailableError,
    DATA_LOSS: DataLossError,
    UNAUTHENTICATED: UnauthenticatedError,
}

_CODE_OF_TYPE = {error_type: code for code, error_type in _TYPE_OF_CODE.items()}


def exception_type_from_error_code(error_code: int) -> type[OpError]:
    """The class for a canonical code; KeyError for `OK` and for codes that do not exist."""
    return _TYPE_OF_CODE[error_code]


def error_code_from_exception_type(cls: type[BaseException]) -> Any:
    """The canonical code of a class of this module; for others an UnknownError, and a warning."""
    try:
        return _CODE_OF_TYPE[cls]  # type: ignore[index]
    except KeyError:
        text = f"Unknown class exception: {getattr(cls, '__name__', cls)}"
        warnings.warn(text, stacklevel=2)
        return UnknownError(None, None, text)


def _make_specific_exception(node_def: Any, op: Any, message: str, error_code: int) -> OpError:
    """An error of the class of a code; an UnknownError, with a warning, where there is none."""
    error_type = _TYPE_OF_CODE.get(error_code)
    if error_type is None:
        warnings.warn(f"Unknown error code: {error_code}", stacklevel=2)
        return UnknownError(node_def, op, message, error_code)
    made: Any = error_type
    return made(node_def, op, message)
