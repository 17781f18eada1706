"""A task in virtual time: what drives its machines, in the place of threads and sockets."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from penstock import errors
from penstock.distributed.departures import Departures, chief_of
from penstock.distributed.health import LOOKS, Advice, Vigil
from penstock.distributed.master_machine import MasterMachine
from penstock.distributed.simulation.network import Fields, Host, LinkEnd, Network, TakeAnswer
from penstock.distributed.simulation.scheduler import Process, Program, Resume, Wait
from penstock.distributed.simulation.work import Context, Meeting, SimulatedPart, SimulatedStep
from penstock.distributed.step_run import Answered, Broken, Call
from penstock.distributed.worker_machine import (
    Action,
    Answer,
    Compile,
    Compiled,
    Deliver,
    End,
    EndJob,
    Event,
    Execute,
    Executed,
    Introduce,
    Lost,
    Message,
    Refuse,
    Tell,
    Tick,
    WorkerMachine,
    deliver,
    parted,
)

SILENCE_SECONDS = 20.0


class OwnLink:
    """How the master of a task reaches its own worker."""

    def __init__(self, task: SimulatedTask):
        self.task = task.name
        self._owner = task

    def call(self, fields: Fields, values: Sequence[Any], answer: TakeAnswer) -> None:
        self._owner.receive(self, {**fields, "answer": answer}, values)

    def note(self, fields: Fields, values: Sequence[Any] = ()) -> None:
        self._owner.receive(self, fields, values)

    def reply(self, to: Fields, fields: Fields, values: Sequence[Any] = ()) -> None:
        to["answer"](fields, values, None)

    def refuse(self, to: Fields, error: BaseException) -> None:
        to["answer"]({}, [], error)


class SimulatedTask:
    """One life of a task, from its start to its end or crash.

    Args:
      name: the task's.
      incarnation: tells its lives apart.
      host: where it runs.
      network: by which it reaches other tasks.
      directory: finds the life that a task has now.
      tasks: the names of all tasks of the cluster.
      handling: seconds of a core that a message takes.
      on_job_over: called when nobody needs it any more.

    Attributes:
      state: what the steps of all sessions share.
      between_actions: called after each action; a test crashes the task here.
    """

    def __init__(
        self,
        name: str,
        incarnation: str,
        host: Host,
        network: Network,
        directory: Mapping[str, SimulatedTask],
        tasks: Iterable[str],
        handling: float = 0.0,
        on_job_over: Callable[[], None] = lambda: None,
    ):
        self.name = name
        self.incarnation = incarnation
        self.host = host
        self.network = network
        self.scheduler = network.scheduler
        self.is_alive = True
        self.state: dict[str, Any] = {}
        self.master = MasterMachine(incarnation)
        self.between_actions: Callable[[], None] = lambda: None
        self._directory = directory
        self._handling = handling
        self._on_job_over = on_job_over
        names = list(tasks)
        departures = Departures([each for each in names if each != name], chief_of(names))
        self.machine = WorkerMachine(name, incarnation, departures, Meeting)
        self._own = OwnLink(self)
        self._links: dict[str, LinkEnd] = {}  # that this task has opened
        self._ends: dict[LinkEnd, None] = {}  # that are open, in their order
        self._vigil = Vigil(SILENCE_SECONDS)
        self._processes: dict[Process, None] = {}
        self.scheduler.after(SILENCE_SECONDS / LOOKS, self._look)

    # Its life ---------------------------------------------------------------------------------

    def start(self, program: Program, ended: Resume = lambda value, error: None) -> Process:
        """Runs a program that ends with the task, if not before."""

        def over(value: Any, error: BaseException | None) -> None:
            self._processes.pop(process, None)
            ended(value, error)

        process = Process(program, over)
        self._processes[process] = None
        return process.start()

    def stop(self, *, silently: bool = False) -> None:
        """Ends the process; `silently`: as when its machine loses power, no word gets out."""
        self.is_alive = False
        for process in list(self._processes):
            process.kill()
        for end in list(self._ends):
            if not silently:
                self.network.say_goodbye(end)
            end.is_lost = True

    def _look(self) -> None:
        if not self.is_alive:
            return
        heard = {end: end.heard for end in self._ends}
        for end, advice in self._vigil.look(self.scheduler.now, heard).items():
            if advice is Advice.GIVE_UP:
                end.close()
            elif advice is Advice.ASK and not end.is_lost:
                end.note({"do": "ping"})
        self._take(Tick())
        for call in self.master.tick():
            self.release(call)
        self.scheduler.after(SILENCE_SECONDS / LOOKS, self._look)

    @property
    def open_ends(self) -> list[LinkEnd]:
        """The ends of its connections, whoever has opened them."""
        return list(self._ends)

    # Connections ------------------------------------------------------------------------------

    def connect(self, task: str) -> Any:
        """The connection to a task, made if need be."""
        if task == self.name:
            return self._own
        found = self._links.get(task)
        if found is not None and not found.is_lost:
            return found
        other = self._directory.get(task)
        cut_off = self.host.is_cut_off or (other is not None and other.host.is_cut_off)
        if other is None or not other.is_alive or cut_off:
            raise errors.UnavailableError(None, None, f"{task} does not answer")
        made = self._links[task] = self.network.join(self, other)
        self._ends[made] = None
        other._ends[made.peer] = None
        return made

    def farewell(self) -> list[Call]:
        """What to say to others when the program of this task has come to its end."""
        fields = {"do": "leave", "used": sorted(self.master.used)}
        return [Call(name, fields) for name in self._links]

    def call(self, call: Call, answer: Callable[[Answered], None]) -> Any:
        """Asks for a master of this task; one that can't be reached answers with that.

        Returns the link that it went over.
        """

        def answered(
            fields: Fields, values: Sequence[Any], error: BaseException | None = None
        ) -> None:
            if "keys" in fields:
                values, sent = parted(fields["keys"], values)
                self._deliver(call.fields["step"], fields["keys"], sent)
            answer(Answered(call.task, fields, values, error))

        link: Any = None
        try:
            link = self.connect(call.task)
        except errors.UnavailableError as error:
            answered({}, [], error)
            return None
        link.call(call.fields, call.values, answered)
        self.between_actions()
        return link

    def release(self, call: Call) -> None:
        """Has a task forget a session."""
        prefix = call.fields["prefix"]
        self.call(call, lambda event: self.master.released(call.task, prefix, event.error))

    # Events and actions -----------------------------------------------------------------------

    def handle(self, read: Callable[[], None]) -> None:
        """Reads a message that has come, when a core is free for it."""
        if not self._handling:
            read()
            return

        def read_if_alive() -> None:
            if self.is_alive:
                read()

        self.scheduler.at(self.host.computed(self.scheduler.now, self._handling), read_if_alive)

    def receive(self, link: Any, fields: Fields, values: Sequence[Any]) -> None:
        if fields["do"] == "take":
            self._deliver(fields["step"], fields["keys"], values)
        elif fields["do"] == "lost":
            self._broken(Broken(link.task, fields["task"], fields["losses"]))
        else:
            self._take(Message(link, fields, values))

    def lost(self, end: LinkEnd) -> None:
        self._ends.pop(end, None)
        self._take(Lost(end))
        self._broken(Broken(end.task))

    def _broken(self, event: Broken) -> None:
        for post in self.master.concerned(event.task):
            post(event)

    def _deliver(self, step: int, keys: Sequence[Any], values: Sequence[Any]) -> None:
        meeting = self.machine.meeting(step, self.scheduler.now) if self.is_alive else None
        if meeting is not None:
            deliver(meeting, keys, values)
            self.between_actions()

    def _take(self, event: Event) -> None:
        if not self.is_alive:
            return
        for action in self.machine.handle(event, self.scheduler.now):
            if self.is_alive:
                self._do(action)
                self.between_actions()

    def _do(self, action: Action) -> None:
        if isinstance(action, Deliver):
            deliver(*action)
        elif isinstance(action, Execute):
            self._execute(action)
        elif isinstance(action, Compile):
            self.start(self._compile(action.message))
        elif isinstance(action, End):
            action.meeting.abort(action.error)
        elif isinstance(action, EndJob):
            self._on_job_over()
        else:
            self._say(action)

    def _say(self, action: Action) -> None:
        with suppress(errors.UnavailableError):  # who is to hear it is gone
            if isinstance(action, Tell):
                action.link.note(action.fields)  # type: ignore[attr-defined]
            elif isinstance(action, Refuse):
                action.message.link.refuse(action.message.fields, action.error)  # type: ignore[attr-defined]
            elif isinstance(action, (Answer, Introduce)):
                values = action.values if isinstance(action, Answer) else ()
                action.message.link.reply(action.message.fields, action.fields, values)  # type: ignore[attr-defined]

    def _compile(self, message: Message) -> Program:
        step: SimulatedStep = message.fields["spec"]
        yield self.scheduler.sleep(step.compile_seconds)
        self._take(Compiled(message, SimulatedPart(step, self.name)))

    def _execute(self, action: Execute) -> None:
        message, part, meeting = action

        def ended(values: Any, error: BaseException | None) -> None:
            keys, kept = context.kept
            self._take(Executed(message, [*(values or []), *kept], error, keys))

        orders = message.fields.get("orders", {})  # of this task's own master
        context = Context(self, meeting, message.fields["step"], message.link.task, orders)
        meeting.running = self.start(part.program(context), ended)

    # Waits of programs ------------------------------------------------------------------------

    def computing(self, seconds: float) -> Wait:
        """A wait for one of the host's cores to do some work."""

        def begin(resume: Resume) -> None:
            done = self.host.computed(self.scheduler.now, seconds)
            self.scheduler.at(done, lambda: resume(None, None))

        return begin
