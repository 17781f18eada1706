"""A network in virtual time: hosts, their interfaces, and connections that behave as TCP's do.

A packet that is lost is sent again after a while, so a message is late, not lost; what a broken
connection had under way is. Messages of one connection come in their order, but for large ones,
which others may overtake, as on the road. Messages of two connections come in any order.
"""

from __future__ import annotations

import heapq
import itertools
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from penstock import errors
from penstock.distributed.simulation.scheduler import Scheduler

Fields = dict[str, Any]
TakeAnswer = Callable[[Fields, Sequence[Any], "BaseException | None"], None]

SMALL_BYTES = 64 << 10  # of messages that don't wait behind the pieces of larger ones
_OVERTAKEN_BYTES = 1 << 20
_MESSAGE_BYTES = 200  # of the fields of a message
_MOST_RETRIES = 6


@dataclass(frozen=True)
class NetworkModel:
    """How fast messages go, and how reliably.

    Attributes:
      latency: seconds on the way.
      jitter: the mean of what is added to that, exponentially distributed.
      loss: the probability that a message has to be sent again.
      retry: seconds until then; each further time twice as many.
    """

    latency: float = 1e-4
    jitter: float = 0.0
    loss: float = 0.0
    retry: float = 0.2


class Host:
    """A machine: an interface that sends and receives, and cores.

    Args:
      bandwidth: bytes in a second, each way.
      cores: how many things it computes at once.
    """

    def __init__(self, bandwidth: float = 1e9, cores: int = 1):
        self.bandwidth = bandwidth
        self.sends_from = 0.0  # when its interface is free to send
        self.receives_from = 0.0
        self._cores = [0.0] * cores
        self.is_up = True
        self.is_cut_off = False  # of the network

    def computed(self, now: float, seconds: float) -> float:
        """When work that comes now is done: what came before it is done first."""
        begin = max(now, heapq.heappop(self._cores))
        heapq.heappush(self._cores, begin + seconds)
        return begin + seconds


class Sized(Protocol):
    @property
    def size(self) -> int: ...  # in bytes


class Owner(Protocol):
    """A process, as its connections see it."""

    name: str
    host: Host
    is_alive: bool

    def handle(self, read: Callable[[], None]) -> None: ...  # when it has time to

    def receive(self, end: LinkEnd, fields: Fields, values: Sequence[Any]) -> None: ...

    def lost(self, end: LinkEnd) -> None: ...


class LinkEnd:
    """One end of a connection, with the calls that wait for their answers."""

    def __init__(self, network: Network, owner: Owner, other: str):
        self.task = other
        self.owner = owner
        self.peer: LinkEnd = self  # until both ends are there
        self.is_lost = False
        self.heard = network.scheduler.now
        self._network = network
        self._waiting: dict[int, TakeAnswer] = {}
        self._numbers = itertools.count()
        self._last_arrival = 0.0
        self.held: deque[Callable[[], None]] = deque()  # what comes when it is cut no more

    def note(self, fields: Fields, values: Sequence[Sized] = ()) -> None:
        if self.is_lost:
            raise self._unavailable()
        self._network.transmit(self, fields, values)

    def call(self, fields: Fields, values: Sequence[Sized], answer: TakeAnswer) -> None:
        if self.is_lost:
            answer({}, [], self._unavailable())
            return
        number = next(self._numbers)
        self._waiting[number] = answer
        self.note({**fields, "call": number}, values)

    def reply(self, to: Fields, fields: Fields, values: Sequence[Sized] = ()) -> None:
        self.note({**fields, "reply": to["call"]}, values)

    def refuse(self, to: Fields, error: BaseException) -> None:
        self.note({"reply": to["call"], "error": error})

    def arrival(self, time: float, size: int) -> float:
        """When a message arrives that would by itself at that time."""
        time = max(time, self._last_arrival)
        if size < _OVERTAKEN_BYTES:
            self._last_arrival = time
        return time

    def arrived(self, fields: Fields, values: Sequence[Any]) -> None:
        self.heard = self._network.scheduler.now
        kind = fields.get("do")
        if kind == "ping":
            self.note({"do": "pong"})
        elif kind != "pong":
            self.owner.handle(lambda: self._read(fields, values))

    def _read(self, fields: Fields, values: Sequence[Any]) -> None:
        if "reply" not in fields:
            self.owner.receive(self, fields, values)
            return
        answer = self._waiting.pop(fields["reply"], None)
        if answer is not None:
            answer(fields, values, fields.get("error"))

    def lose(self) -> None:
        """This end finds that the connection is broken."""
        if self.is_lost:
            return
        self.is_lost = True
        waiting, self._waiting = self._waiting, {}
        if self.owner.is_alive:
            for answer in waiting.values():
                answer({}, [], self._unavailable())
            self.owner.lost(self)

    def close(self) -> None:
        """This end gives the connection up; the other one notices, if a word comes through."""
        self.lose()
        self._network.say_goodbye(self)

    def _unavailable(self) -> errors.UnavailableError:
        text = f"{self.task} can't be reached: the connection was lost"
        return errors.UnavailableError(None, None, text)


class Network:
    """All connections between processes."""

    def __init__(self, scheduler: Scheduler, model: NetworkModel):
        self.scheduler = scheduler
        self.model = model
        self.messages = 0

    def delay(self) -> float:
        """How long a message is on its way, if it is not large."""
        model, random = self.model, self.scheduler.random
        seconds = model.latency
        if model.jitter:
            seconds += random.expovariate(1 / model.jitter)
        if model.loss:
            for retry in range(_MOST_RETRIES):
                if random.random() >= model.loss:
                    break
                seconds += model.retry * 2**retry
        return seconds

    def join(self, a: Owner, b: Owner) -> LinkEnd:
        """A new connection; returns the end of `a`."""
        here, there = LinkEnd(self, a, b.name), LinkEnd(self, b, a.name)
        here.peer, there.peer = there, here
        return here

    def transmit(self, end: LinkEnd, fields: Fields, values: Sequence[Sized]) -> None:
        """Sends one message to the other end."""
        self.messages += 1
        size = _MESSAGE_BYTES + sum(value.size for value in values)
        peer = end.peer
        time = peer.arrival(self._passed(end.owner.host, peer.owner.host, size), size)
        self.scheduler.at(time, lambda: self._deliver(end, lambda: peer.arrived(fields, values)))

    def say_goodbye(self, end: LinkEnd) -> None:
        """Lets the other end know that this one is closed."""
        peer = end.peer
        time = peer.arrival(self.scheduler.now + self.delay(), 0)
        self.scheduler.at(time, lambda: self._deliver(end, peer.lose))

    def _passed(self, source: Host, target: Host, size: int) -> float:
        """When a message has passed both interfaces: the second begins while the first sends."""
        begin, delay = self.scheduler.now, self.delay()
        if size < SMALL_BYTES:
            return begin + delay
        begin = max(begin, source.sends_from)
        source.sends_from = begin + size / source.bandwidth
        arrives = max(begin + delay, target.receives_from)
        done = max(source.sends_from + delay, arrives + size / target.bandwidth)
        target.receives_from = done
        return done

    def _deliver(self, end: LinkEnd, take: Callable[[], None]) -> None:
        peer = end.peer
        if peer.is_lost:
            return
        if not peer.owner.is_alive:
            if peer.owner.host.is_up and not self._is_cut(end):  # it was started again since
                self.scheduler.after(self.delay(), end.lose)
        elif peer.held or self._is_cut(end):  # it is sent again and again, in order
            peer.held.append(take)
            if len(peer.held) == 1:
                self.scheduler.after(self.model.retry, lambda: self._try_again(end))
        else:
            take()

    def _try_again(self, end: LinkEnd) -> None:
        peer = end.peer
        if self._is_cut(end):
            self.scheduler.after(self.model.retry, lambda: self._try_again(end))
            return
        while peer.held and not peer.is_lost and peer.owner.is_alive:
            peer.held.popleft()()

    @staticmethod
    def _is_cut(end: LinkEnd) -> bool:
        return end.owner.host.is_cut_off or end.peer.owner.host.is_cut_off
