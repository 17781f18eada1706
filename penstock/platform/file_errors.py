"""Errors of the operating system as TensorFlow's classes: a missing file is a NotFoundError."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager

from penstock import errors

_NAMES = {
    errors.InvalidArgumentError: (
        "EINVAL ENAMETOOLONG E2BIG EDESTADDRREQ EDOM EFAULT EILSEQ ENOPROTOOPT ENOSTR ENOTSOCK "
        "ENOTTY EPROTOTYPE ESPIPE"
    ),
    errors.DeadlineExceededError: "ETIMEDOUT ETIME",
    errors.NotFoundError: "ENODEV ENOENT ENXIO ESRCH",
    errors.AlreadyExistsError: "EEXIST EADDRNOTAVAIL EALREADY",
    errors.PermissionDeniedError: "EPERM EACCES EROFS",
    errors.FailedPreconditionError: (
        "ENOTEMPTY EISDIR ENOTDIR EADDRINUSE EBADF EBUSY ECHILD EISCONN ENOTBLK ENOTCONN EPIPE "
        "ESHUTDOWN ETXTBSY"
    ),
    errors.ResourceExhaustedError: (
        "ENOSPC EDQUOT EMFILE EMLINK ENFILE ENOBUFS ENODATA ENOMEM ENOSR EUSERS"
    ),
    errors.OutOfRangeError: "EFBIG EOVERFLOW ERANGE",
    errors.UnimplementedError: (
        "ENOSYS ENOTSUP EAFNOSUPPORT EPFNOSUPPORT EPROTONOSUPPORT ESOCKTNOSUPPORT EXDEV"
    ),
    errors.UnavailableError: (
        "EAGAIN ECONNREFUSED ECONNABORTED ECONNRESET EINTR EHOSTDOWN EHOSTUNREACH ENETDOWN "
        "ENETRESET ENETUNREACH ENOLCK ENOLINK"
    ),
    errors.AbortedError: "EDEADLK ESTALE",
    errors.CancelledError: "ECANCELED",
}

# A platform lacks some of these numbers.
_CLASS_OF_NUMBER = {
    getattr(errno, name): error_class
    for error_class, names in _NAMES.items()
    for name in names.split()
    if hasattr(errno, name)
}


def from_os_error(error: OSError, context: object) -> errors.OpError:
    """TensorFlow's error for one of the operating system, e.g. about the file `context`."""
    number = error.errno or 0
    message = f"{context}; {os.strerror(number) if number else error}"
    return _CLASS_OF_NUMBER.get(number, errors.UnknownError)(None, None, message)


@contextmanager
def file_errors(context: object) -> Iterator[None]:
    """Raises the operating system's errors of a `with` block as TensorFlow's."""
    try:
        yield
    except OSError as error:
        raise from_os_error(error, context) from error
