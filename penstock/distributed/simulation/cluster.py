"""A cluster in virtual time: tasks that are started, crash, come back, and end with their job."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

from penstock.distributed.simulation.client import leaving
from penstock.distributed.simulation.network import Host, Network, NetworkModel
from penstock.distributed.simulation.scheduler import Crashed, Program, Scheduler
from penstock.distributed.simulation.task import SimulatedTask
from penstock.distributed.worker_machine import PATIENCE_SECONDS, Tick

TaskProgram = Callable[[SimulatedTask], Program]


def task_name(job: str, index: int) -> str:
    return f"/job:{job}/replica:0/task:{index}"


class SimulatedCluster:
    """The tasks of a job and the network between them.

    Args:
      tasks: their names.
      programs: what the tasks that don't only serve others run; one that crashes is run again from
        its beginning.
      seed: decides what is left to chance.
      model: that of the network.
      make_host: gives the machine of a task.
      handling: seconds of a core that a message takes.

    Attributes:
      lives: the life that each task has now, or had last.
      done: the tasks whose programs have come to their end.
      ended: the tasks that have ended since the job is over.
    """

    def __init__(
        self,
        tasks: Iterable[str],
        programs: Mapping[str, TaskProgram],
        seed: int = 0,
        model: NetworkModel | None = None,
        make_host: Callable[[str], Host] = lambda task: Host(),
        handling: float = 0.0,
    ):
        self.scheduler = Scheduler(seed)
        self.network = Network(self.scheduler, model or NetworkModel())
        self.names = list(tasks)
        self.lives: dict[str, SimulatedTask] = {}
        self.done: set[str] = set()
        self.ended: set[str] = set()
        self.crash_chance = 0.0  # after each action of a task
        self.crashes = 0
        self._programs = programs
        self._hosts = {name: make_host(name) for name in self.names}
        self._handling = handling
        self._lives_so_far = dict.fromkeys(self.names, 0)

    def start(self, name: str) -> None:
        """Starts a task, or starts it again."""
        self._lives_so_far[name] += 1
        incarnation = f"{name}#{self._lives_so_far[name]}"
        host = self._hosts[name]
        host.is_up = True
        life = SimulatedTask(
            name,
            incarnation,
            host,
            self.network,
            self.lives,
            self.names,
            self._handling,
            lambda: self._job_over(life),
        )
        self.lives[name] = life
        if self.crash_chance:
            life.between_actions = lambda: self._perhaps_crash(life)
        program = self._programs.get(name)
        if program is not None:
            life.start(self._whole(life, program))

    def _whole(self, life: SimulatedTask, program: TaskProgram) -> Program:
        yield from program(life)
        yield from leaving(life)
        self.done.add(life.name)
        # Not from within itself: a program can't be closed while it runs.
        self.scheduler.after(0.0, life.stop)

    def _job_over(self, life: SimulatedTask) -> None:
        self.ended.add(life.name)
        self.scheduler.after(0.0, life.stop)

    def _perhaps_crash(self, life: SimulatedTask) -> None:
        if self.scheduler.random.random() < self.crash_chance and life.name not in self.done:
            self.crash(life.name)
            raise Crashed

    def crash(self, name: str) -> None:
        """Kills a task, with a word of its system to the others or without; it comes back."""
        life = self.lives[name]
        if not life.is_alive or name in self.done or name in self.ended:
            return
        self.crashes += 1
        silently = self.scheduler.random.random() < 0.3
        life.stop(silently=silently)
        life.host.is_up = False
        self.scheduler.after(self.scheduler.random.uniform(0.0, 15.0), lambda: self.start(name))

    def cut_off(self, name: str, seconds: float) -> None:
        """Lets nothing through to a task and from it for a while."""
        host = self._hosts[name]
        host.is_cut_off = True

        def mend() -> None:
            host.is_cut_off = False

        self.scheduler.after(seconds, mend)

    def break_link(self, name: str) -> None:
        """Breaks one of a task's connections."""
        ends = sorted(self.lives[name].open_ends, key=lambda end: end.task)
        if ends and self.lives[name].is_alive:
            self.scheduler.random.choice(ends).close()

    @property
    def serving(self) -> list[str]:
        """The tasks that have no program of their own."""
        return [name for name in self.names if name not in self._programs]

    @property
    def is_over(self) -> bool:
        """Whether all programs have ended, and all that served them."""
        return len(self.done) == len(self._programs) and self.ended >= set(self.serving)

    def start_all(self) -> None:
        for name in self.names:
            self.scheduler.after(0.0, partial(self.start, name))

    def run(self, until: float) -> None:
        """Lets the job run to its end, or until it is late."""
        self.scheduler.run(until, lambda: self.is_over)

    def leftovers(self) -> dict[str, Any]:
        """What serving tasks would keep of steps and sessions, however long they went on."""
        found = {}
        for name in self.serving:
            machine = self.lives[name].machine
            machine.handle(Tick(), self.scheduler.now + PATIENCE_SECONDS + 1.0)
            if machine.steps or machine.keys:
                found[name] = machine.steps, machine.keys
        return found
