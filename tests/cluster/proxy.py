"""A link between tasks that can be slow, or be cut without a word."""

from __future__ import annotations

import socket
import threading
import time
from contextlib import suppress

_PIECE = 1 << 14


class Proxy:
    """Passes bytes on from its own port to another one of this machine.

    Attributes:
      delay: seconds that each piece of 16 KiB takes.
    """

    def __init__(self, port: int):
        self._target = port
        self.delay = 0.0
        self._passable = threading.Event()
        self._passable.set()
        self._closed = False
        self._sockets: list[socket.socket] = []
        self._threads: list[threading.Thread] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._start(self._accept)

    def _start(self, work, *arguments) -> None:
        thread = threading.Thread(target=work, args=arguments, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            far = socket.create_connection(("127.0.0.1", self._target))
            # Small buffers, so that who writes notices what the link is like.
            for sock in (near, far):
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _PIECE)
            self._sockets += [near, far]
            self._start(self._pump, near, far)
            self._start(self._pump, far, near)

    def _pump(self, source: socket.socket, sink: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(_PIECE):
                time.sleep(self.delay)
                self._passable.wait()
                sink.sendall(data)
        for sock in (source, sink):
            with suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)

    def cut(self) -> None:
        """Lets nothing through any more; the ends are not told."""
        self._passable.clear()

    def mend(self) -> None:
        """Lets everything through again, what was held back too."""
        self._passable.set()

    def close(self) -> None:
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.mend()
        for sock in self._sockets:
            with suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join()
        for sock in self._sockets:
            sock.close()
