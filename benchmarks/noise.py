"""How much of the machine others used while a worker was measured."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

SHORTEST = 1.0  # seconds of turns below which ticks are too coarse
_TICKS = os.sysconf("SC_CLK_TCK")


def process_seconds(pid: int) -> float:
    """CPU time of a process and of its children that have ended."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return 0.0
    # The name in parentheses may hold spaces; what follows it starts at field 3.
    fields = stat.rpartition(")")[2].split()
    return sum(int(ticks) for ticks in fields[11:15]) / _TICKS


def machine_seconds() -> float:
    """CPU time of everything on the machine, time stolen by other virtual machines included."""
    try:
        user, nice, system, _idle, _iowait, irq, softirq, steal = (
            int(ticks) for ticks in Path("/proc/stat").read_text().split(maxsplit=9)[1:9]
        )
    except OSError:
        return 0.0
    return (user + nice + system + irq + softirq + steal) / _TICKS


@dataclass
class NoiseMeter:
    """Adds up, over many slots in which one worker ran, what the others and the rest used.

    elapsed: seconds of all slots together.
    machine: CPU seconds of everything.
    running: CPU seconds of the workers whose turn it was.
    sleeping: CPU seconds of the workers whose turn it was not.

    The kernel counts in ticks, longer than many a slot: only the sums mean something.
    """

    elapsed: float = 0.0
    machine: float = 0.0
    running: float = 0.0
    sleeping: float = 0.0

    def slot(self, running: int, sleeping: Sequence[int]) -> "Slot":
        return Slot(self, running, sleeping)

    def summary(self) -> str:
        if self.elapsed < SHORTEST:
            return "too short a run to tell what else used the machine"
        foreign = max(0.0, self.machine - self.running - self.sleeping)
        return (
            f"{foreign / self.elapsed:.0%} of one CPU went to other processes, "
            f"{self.sleeping / self.elapsed:.0%} to workers that should have slept"
        )


class Slot:
    """A context manager around one worker's turn."""

    def __init__(self, meter: NoiseMeter, running: int, sleeping: Sequence[int]) -> None:
        self._meter = meter
        self._running = running
        self._sleeping = sleeping

    def __enter__(self) -> None:
        self._before = self._read()

    def __exit__(self, *exception: object) -> None:
        elapsed, machine, running, sleeping = (
            after - before for after, before in zip(self._read(), self._before, strict=True)
        )
        self._meter.elapsed += elapsed
        self._meter.machine += machine
        self._meter.running += running
        self._meter.sleeping += sleeping

    def _read(self) -> tuple[float, float, float, float]:
        sleeping = sum(process_seconds(pid) for pid in self._sleeping)
        return perf_counter(), machine_seconds(), process_seconds(self._running), sleeping
