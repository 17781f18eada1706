"""A kept connection between two tasks: calls that are answered, and notes that are not."""

from __future__ import annotations

import itertools
import select
import socket
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from penstock import errors
from penstock.distributed import frames
from penstock.distributed.arena import SMALLEST, Inbox, Outbox
from penstock.distributed.fair_lock import FairLock
from penstock.distributed.frames import Disconnected, Fields, Socket, Value
from penstock.distributed.interrupts import Held, Open
from penstock.distributed.readers import Readers, leave_turn
from penstock.distributed.reading import Leading, Reading, step_aside
from penstock.distributed.spinning import QUICK_ANSWER_SECONDS
from penstock.errors import OpError
from penstock.runtime.value_bytes import decoded
from penstock.state.gates import closed_gate, passed

Answer = Callable[[Fields, list[Value], "OpError | None"], None]
Handler = Callable[["Connection", Fields, list[Value]], None]


class Connection:
    """One socket. One thread at a time reads; whoever has something to say writes.

    `handler` gets every call and note of the other side, in the reading thread: it must not wait,
    but may hand over what takes time (`work`), which is then done in this thread while another one
    goes on reading. Answers go to those who called. When the connection is lost, calls that wait
    for an answer get an UnavailableError that names the other task, and `on_lost` is called.

    A large message is written in pieces, and others go between them: messages may overtake it. If
    both sides are on one host, the first large value has this side offer memory to the other; from
    when that is found there, values go through it.

    Args:
      sock: a connected socket.
      task: the name of the other side.
      handler: see above.
      on_lost: see above.
      one_host: whether both sides run on the same system.
      readers: the threads that read, and do what messages ask for; by default some of its own.
      decode: see `frames.Receiver`.

    Attributes:
      reading: the end that messages are read from.
      open_calls: who waits for an answer of the other side, by the numbers of their calls.
      sent: bytes so far.
    """

    def __init__(
        self,
        sock: Socket,
        task: str,
        handler: Handler,
        on_lost: Callable[[Connection], None] | None = None,
        *,
        one_host: bool = False,
        readers: Readers | None = None,
        decode: frames.Decode = decoded,
    ):
        with suppress(OSError):  # a Unix socket sends at once anyway
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.task = task
        self._sock = sock
        self._handler = handler
        self._on_lost = on_lost
        self._receiver = frames.Receiver(sock, decode=decode)
        self._owns_readers = readers is None
        self._readers = readers or Readers(f"penstock-from-{task}")
        self.reading = Reading(
            sock,
            self._receiver,
            self._handle,
            self._lose,
            self._free,
            self._readers,
        )
        self._writing = FairLock()
        self._room = select.poll()  # for something to write
        self._room.register(sock.fileno(), select.POLLOUT)
        self._lock = threading.Lock()
        self._may_offer = one_host
        self._outbox: Outbox | None = None  # once the other side has found it
        self.open_calls: dict[int, Answer] = {}
        self._numbers = itertools.count(1)
        self.is_lost = False
        self.sent = 0
        #: Does what a message asks for once its handler is done; see `Readers.work`.
        self.work = self.reading.work

    def start(self) -> None:
        self.reading.start()

    def note(self, fields: Fields, values: Sequence[Value] = ()) -> None:
        """Tells the other side something that it does not answer."""
        try:
            if not values:
                self._write(frames.plain(fields))
                return
            message = frames.packed(fields, values, self._outbox)
            if isinstance(message, bytes):
                self._write(message)
                return
            if self._may_offer and message.size >= SMALLEST:
                self._offer()
            if message.size < frames.CHUNK:
                self._write(message.whole())
            else:
                self._write_in_pieces(message)
        except Disconnected as error:
            self._lose(str(error))
            raise self._unavailable(str(error)) from error

    def _write(self, frame: bytes | list[Any]) -> None:
        """Writes when no other thread does; what is short, and was joined, mostly at once.

        This one must not lead while it waits for that: the other side may be waiting for room, too,
        and somebody has to read meanwhile.
        """
        if not self._writing.take_now(False):
            step_aside()
            self._writing.acquire()
        try:
            if type(frame) is bytes:
                sent = frames.written_at_once(self._sock, frame)
                self.sent += sent
                if sent == len(frame):
                    return
                frame = [memoryview(frame)[sent:]]
            step_aside()
            frames.write(self._sock, frame, self._moved)
        finally:
            self._writing.release()

    def _write_in_pieces(self, message: frames.Message) -> None:
        number = next(self._numbers)
        try:
            for frame in message.frames(number):
                self._write(frame)
        except Disconnected:
            raise
        except BaseException:  # Ctrl-C
            with suppress(Disconnected):
                self._write(frames.given_up(number))
            raise

    def ping(self) -> None:
        """Asks for a sign of life, unless that would have to wait behind something else."""
        self.reading.look()
        if self._outbox is not None:
            self._outbox.trim(time.monotonic())
        if not self._writing.acquire(blocking=False):
            return
        try:
            if self._room.poll(0):
                frames.send(self._sock, {"do": "ping"})
        except (Disconnected, OSError, ValueError) as error:
            reason = str(error)
        else:
            return
        finally:
            self._writing.release()
        self._lose(reason)

    def call(self, fields: Fields, values: Sequence[Value], answer: Answer) -> int:
        """Asks the other side; `answer` is called once, in another thread or in this one.

        Returns the number of the call.
        """
        number = next(self._numbers)
        self.open_calls[number] = answer
        if self.is_lost:  # after which nobody may look for those who wait
            if self.open_calls.pop(number, None) is not None:
                answer({}, [], self._unavailable("the connection was lost"))
            return number
        try:
            self.note({**fields, "call": number}, values)
        except errors.UnavailableError:
            pass  # the answer has been told
        except BaseException:  # a value that can't travel, Ctrl-C
            self._forget(number)
            raise
        return number

    def _forget(self, number: int) -> None:
        """An answer that nobody waits for any more is dropped when it comes."""
        self.open_calls.pop(number, None)

    def ask(
        self,
        fields: Fields,
        values: Sequence[Value] = (),
        timeout: float | None = None,
        giving_up: str = "",
    ) -> Any:
        """Asks, and reads what comes until it is the answer: its fields and values.

        If it is not waited for any longer, the other side gets a note of the kind `giving_up` with
        the number of the call.
        """
        gate = closed_gate()
        found: list[Any] = []

        def answer(fields: Fields, values: list[Value], error: OpError | None) -> None:
            found.append((fields, values, error))
            gate.release()

        deadline = None if timeout is None else time.monotonic() + timeout
        with Held():
            leading = Leading([self], quick=QUICK_ANSWER_SECONDS)
            try:
                number = self.call(fields, values, answer)
                try:
                    if not leading.wait(found.__len__, deadline):
                        leading.end()
                        leave_turn()
                        with Open():
                            came = passed(gate, deadline)
                        if not came:
                            raise errors.DeadlineExceededError(
                                None, None, f"{self.task} did not answer within {timeout} seconds"
                            )
                except BaseException:
                    self._forget(number)
                    if giving_up:
                        with suppress(errors.UnavailableError):
                            self.note({"do": giving_up, "step": number})
                    raise
            finally:
                leading.end()
        reply, given, error = found[0]
        if error is not None:
            raise error
        return reply, given

    def reply(self, to: Fields, fields: Fields, values: Sequence[Value] = ()) -> None:
        """Answers a call of the other side."""
        self.note({**fields, "reply": to["call"]}, values)

    def refuse(self, to: Fields, error: Exception) -> None:
        """Answers a call with an error."""
        code = error.error_code if isinstance(error, OpError) else errors.UNKNOWN
        text = error.message if isinstance(error, OpError) else f"{type(error).__name__}: {error}"
        self.note({"reply": to["call"], "code": int(code), "message": text[:3000]})

    def _free(self) -> None:
        """Closes what nobody uses any more."""
        self._sock.close()
        if self._owns_readers:
            self._readers.close()

    def _handle(self, fields: Fields, values: list[Value]) -> None:
        if "reply" in fields:
            self._answered(fields, values)
            return
        kind = fields.get("do")
        if kind == "ping":
            self.note({"do": "pong"})
        elif kind == "arena":
            self._take_offer(fields)
        elif kind != "pong":
            self._handler(self, fields, values)

    # Shared memory ----------------------------------------------------------------------------

    def _offer(self) -> None:
        """Offers memory to the other side, once; values go over the socket meanwhile."""
        with self._lock:
            offers, self._may_offer = self._may_offer, False
        if not offers:
            return
        try:
            outbox = Outbox()
        except (OSError, ValueError, MemoryError):  # a system without it, or without room
            return

        def answer(fields: Fields, values: list[Value], error: OpError | None) -> None:
            outbox.found()
            with self._lock:
                usable = error is None and fields["found"] and not self.is_lost
                if usable:
                    self._outbox = outbox
            if not usable:
                outbox.close()

        self.call({"do": "arena", **outbox.offer()}, [], answer)

    def _take_offer(self, offer: Fields) -> None:
        try:
            self._receiver.inbox = Inbox(offer)
        except (OSError, ValueError):  # another container's, or another user's
            self.reply(offer, {"found": False})
        else:
            self.reply(offer, {"found": True})

    @property
    def shares_memory(self) -> bool:
        """Whether large values to the other side go through shared memory."""
        return self._outbox is not None

    # Life -------------------------------------------------------------------------------------

    def _moved(self, count: int) -> None:
        self.sent += count
        # The other side has made room for it: a large tensor may take long, without an answer.
        if count >= frames.WRITTEN:
            self._receiver.heard = time.monotonic()

    @property
    def heard(self) -> float:
        """When something last came from the other side, in seconds of the monotonic clock."""
        return self._receiver.heard

    @property
    def received(self) -> int:
        """Bytes that have come so far."""
        return self._receiver.received

    def _answered(self, fields: Fields, values: list[Value]) -> None:
        answer = self.open_calls.pop(fields["reply"], None)
        if answer is None:
            return
        code = fields.get("code")
        error: OpError | None = None
        if code is not None:
            message = f"From {self.task}:\n{fields['message']}"
            error = errors.exception_type_from_error_code(code)(None, None, message)  # type: ignore[call-arg]
        answer(fields, values, error)

    def _unavailable(self, reason: str) -> errors.UnavailableError:
        return errors.UnavailableError(None, None, f"{self.task} can't be reached: {reason}")

    def _lose(self, reason: str) -> None:
        with self._lock:
            if self.is_lost:
                return
            self.is_lost = True
            outbox, self._outbox = self._outbox, None
        if outbox is not None:
            outbox.close()
        with suppress(OSError):
            self._sock.shutdown(socket.SHUT_RDWR)
        self.reading.end()
        for number in list(self.open_calls):
            answer = self.open_calls.pop(number, None)
            if answer is not None:
                answer({}, [], self._unavailable(reason))
        if self._on_lost is not None:
            self._on_lost(self)

    def close(self, reason: str = "the connection was closed") -> None:
        self._lose(reason)
