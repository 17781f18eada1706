"""A TLS connection that one thread reads while another writes."""

from __future__ import annotations

import select
import socket
import ssl
import threading
from collections.abc import Callable, Sequence


class TlsSocket:
    """What connections need of a socket, over TLS.

    OpenSSL allows one thread at a time, and one that waits for something to read must not keep
    others from writing. So nothing waits inside OpenSSL: waiting is done outside of the lock.
    """

    def __init__(self, sock: ssl.SSLSocket):
        self._sock = sock
        self._lock = threading.Lock()
        self._timeout = sock.gettimeout()
        sock.setblocking(False)

    def send(self, data: bytes, flags: int) -> int:
        """Writes some of the bytes, without waiting where flags say so; how many."""
        if not flags & socket.MSG_DONTWAIT:
            return self._do(lambda: self._sock.send(data))
        try:
            with self._lock:
                return self._sock.send(data)
        except (ssl.SSLWantReadError, ssl.SSLWantWriteError):
            raise BlockingIOError from None

    def sendmsg(self, buffers: Sequence[memoryview]) -> int:
        """Writes some of the bytes; how many."""
        data = b"".join(buffers)
        return self.send(data, 0)

    def recv_into(self, view: memoryview, count: int = 0, flags: int = 0) -> int:
        """Reads some bytes, without waiting where flags say so; how many."""
        if not flags & socket.MSG_DONTWAIT:
            return self._do(lambda: self._sock.recv_into(view, count))
        try:
            with self._lock:
                return self._sock.recv_into(view, count)
        except (ssl.SSLWantReadError, ssl.SSLWantWriteError):
            raise BlockingIOError from None

    def pending(self) -> int:
        """Bytes that have been decrypted and not been read."""
        with self._lock:
            return self._sock.pending()

    def _do(self, work: Callable[[], int]) -> int:
        while True:
            try:
                with self._lock:
                    return work()
            except ssl.SSLWantReadError:
                self._wait(select.POLLIN)
            except ssl.SSLWantWriteError:
                self._wait(select.POLLOUT)

    def _wait(self, event: int) -> None:
        poll = select.poll()
        poll.register(self._sock, event)
        if not poll.poll(None if self._timeout is None else self._timeout * 1000):
            raise TimeoutError("timed out")

    def fileno(self) -> int:
        return self._sock.fileno()

    def settimeout(self, seconds: float | None) -> None:
        self._timeout = seconds

    def setsockopt(self, level: int, option: int, value: int) -> None:
        self._sock.setsockopt(level, option, value)

    def shutdown(self, how: int) -> None:
        """Ends both directions, and with them the waits of other threads."""
        socket.socket.shutdown(self._sock, how)

    def close(self) -> None:
        self._sock.close()
