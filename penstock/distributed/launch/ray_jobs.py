"""A job on Ray: an actor for each task, in a placement group that has room for all of them.

Ray restarts actors whose process or node has died; what the task inside is to do then, and how
often, `JobRun` decides as for processes.
"""

from __future__ import annotations

import math
import os
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from queue import SimpleQueue
from typing import Any

from penstock.distributed.launch.job import SERVES, Job, JobRun, Task
from penstock.distributed.launch.loop import JobLoop, Printer
from penstock.distributed.launch.ray_task import JobBoard, Place, TaskActor

_NAMESPACE = "penstock"
_RETRY_SECONDS = 0.2  # between questions to an actor that is being restarted
_LOST = 1  # the status of a task whose actor is gone
_PASSED_ON = ("PENSTOCK_", "TF_", "OMP_", "PYTHONPATH")  # of the launcher's environment


class RayUnavailable(Exception):
    """The job can't be on Ray; the message says why."""


@dataclass(frozen=True)
class RayOptions:
    """How a job is put on Ray.

    Attributes:
      name: of the job, by which a `RayClusterResolver` finds it.
      address: of Ray's head; without, a Ray that runs here, or one that is started for the job.
      cpus: that each task takes.
      gpus: that each task takes which is no parameter server.
      strategy: of the placement group: PACK, SPREAD, STRICT_PACK or STRICT_SPREAD.
      upload: a folder that Ray copies to the nodes, where the tasks run in it.
      patience: seconds to wait for the room that the tasks need.
    """

    name: str = "penstock"
    address: str | None = None
    cpus: float = 1.0
    gpus: float = 0.0
    strategy: str = "PACK"
    upload: str | None = None
    patience: float = 60.0

    def resources(self, task: Task) -> dict[str, float]:
        """What a task takes."""
        wanted = {"CPU": self.cpus, "GPU": 0.0 if task.kind in SERVES else self.gpus}
        return {kind: amount for kind, amount in wanted.items() if amount}


def counted_job(counts: Mapping[str, int], *, evaluator: bool = False) -> Job:
    """A job whose tasks have no addresses yet."""
    return Job({kind: [""] * count for kind, count in counts.items()}, evaluator=evaluator)


def hosts_of(places: Mapping[Task, Place]) -> dict[Task, str]:
    """By which name each task is called: on one node, none listens to the network."""
    alone = len({place.node for place in places.values()}) == 1
    return {task: "localhost" if alone else place.host for task, place in places.items()}


def passed_on(environment: Mapping[str, str]) -> dict[str, str]:
    """The variables of the launcher's environment that tasks on other machines get, too."""
    return {name: value for name, value in environment.items() if name.startswith(_PASSED_ON)}


class RayTasks:
    """The tasks of a job as actors. `ray` is the package, connected to a cluster."""

    def __init__(
        self,
        ray: Any,
        job: Job,
        arguments: Sequence[str],
        printer: Printer,
        options: RayOptions,
        *,
        with_flags: bool = False,
    ):
        self._ray = ray
        self._job = job
        self._arguments = list(arguments)
        self._printer = printer
        self._options = options
        self._with_flags = with_flags
        self._group: Any = None
        self._board: Any = None
        self._actors: dict[Task, Any] = {}
        self._places: dict[Task, Place] = {}
        self._moving = threading.Lock()
        self._over = False
        self.ended: SimpleQueue[tuple[Task, int]] = SimpleQueue()

    def prepare(self) -> None:
        """Takes the room and gives each task an actor and an address."""
        self._board = self._make_board()
        self._group = self._make_group()
        for number, task in enumerate(self._job.tasks):
            self._actors[task] = self._make_actor(task, number)
        places = [actor.place.remote() for actor in self._actors.values()]
        self._places = dict(zip(self._actors, map(Place._make, self._ray.get(places)), strict=True))
        self._give_addresses()

    def _make_board(self) -> Any:
        board = self._ray.remote(num_cpus=0, max_restarts=-1)(JobBoard)
        try:
            return board.options(name=self._options.name).remote()
        except ValueError as error:
            raise RayUnavailable(
                f"a job named {self._options.name!r} runs on this Ray already; "
                "choose another name by --name"
            ) from error

    def _make_group(self) -> Any:
        from ray.util.placement_group import placement_group

        bundles = [self._options.resources(task) for task in self._job.tasks]
        group = placement_group(bundles, strategy=self._options.strategy)
        if not group.wait(self._options.patience):
            self._ray.util.remove_placement_group(group)
            needed = {kind: sum(each.get(kind, 0) for each in bundles) for kind in ("CPU", "GPU")}
            room = self._ray.available_resources()
            there = {kind: room.get(kind, 0) for kind in needed}
            raise RayUnavailable(
                f"Ray had no room for the job in {self._options.patience:g} seconds: "
                f"it needs {needed}, {self._options.strategy}; free are {there}"
            )
        return group

    def _make_actor(self, task: Task, number: int) -> Any:
        from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

        wanted = self._options.resources(task)
        actor = self._ray.remote(TaskActor).options(
            name=f"{self._options.name}: {task}",
            num_cpus=wanted.get("CPU", 0),
            num_gpus=wanted.get("GPU", 0),
            max_restarts=-1,  # an actor is always there again: how often a task may be,
            max_task_retries=0,  # and when, is JobRun's to say
            scheduling_strategy=PlacementGroupSchedulingStrategy(
                self._group, placement_group_bundle_index=number
            ),
        )
        return actor.remote()

    def _give_addresses(self) -> None:
        """New addresses for all tasks of the cluster, where they are now."""
        hosts = hosts_of({t: p for t, p in self._places.items() if t.kind in self._job.addresses})
        if set(hosts.values()) != {"localhost"}:
            self._check_credentials()
        found = {
            task: self._answer(self._actors[task].free_address, host)
            for task, host in hosts.items()
        }
        addresses = {
            kind: [found[Task(kind, i)] for i in range(len(tasks))]
            for kind, tasks in self._job.addresses.items()
        }
        self._job = replace(self._job, addresses=addresses)
        self._answer(self._board.set, addresses)

    def _check_credentials(self) -> None:
        if not {"PENSTOCK_CREDENTIALS", "PENSTOCK_INSECURE"} & os.environ.keys():
            raise RayUnavailable(
                "the tasks are on several nodes, so they need credentials: make them with "
                "penstock certs, in a folder that all nodes see, and set PENSTOCK_CREDENTIALS"
            )

    def start(self, task: Task) -> None:
        threading.Thread(target=self._follow, args=(task,), daemon=True).start()

    def _follow(self, task: Task) -> None:
        """Runs a task in its actor, which Ray may be restarting."""
        try:
            status = self._run(task)
        except (self._ray.exceptions.RayError, RayUnavailable) as error:
            if not self._over:
                self._printer.say(f"{task}: {str(error).splitlines()[0]}")
            status = _LOST
        self.ended.put((task, status))

    def _run(self, task: Task) -> int:
        actor = self._actors[task]
        self._note_place(task, self._place_of(actor))
        flags = self._job.flags(task) if self._with_flags else []
        environment = {**passed_on(os.environ), "TF_CONFIG": self._job.tf_config(task)}
        folder = None if self._options.upload else os.getcwd()
        printed = actor.run.options(num_returns="streaming").remote(
            [*self._arguments, *flags], environment, folder
        )
        status = _LOST
        for reference in printed:
            item = self._ray.get(reference)
            if isinstance(item, int):
                status = item
                continue
            for line in item:
                self._printer.line(task, line)
        return status

    def _place_of(self, actor: Any) -> Place:
        return Place._make(self._answer(actor.place))

    def _answer(self, method: Any, *arguments: Any) -> Any:
        """What an actor answers, once Ray has restarted it."""
        limit = time.monotonic() + self._options.patience
        while True:
            try:
                return self._ray.get(method.remote(*arguments))
            except self._ray.exceptions.RayActorError:
                if time.monotonic() > limit or self._over:
                    raise
                time.sleep(_RETRY_SECONDS)

    def _note_place(self, task: Task, place: Place) -> None:
        """Where a task is now. On another node, all others have to learn its new address."""
        with self._moving:
            if place == self._places[task]:
                return
            self._printer.say(f"{task} is on another node now; all tasks are started again")
            self._places[task] = place
            # First of all, since an actor answers nothing while its task runs.
            for other, actor in self._actors.items():
                if other != task:
                    self._ray.kill(actor, no_restart=False)
            self._give_addresses()

    def end_all(self) -> None:
        self._over = True
        for actor in [*self._actors.values(), self._board]:
            if actor is not None:
                self._ray.kill(actor)
        if self._group is not None:
            self._ray.util.remove_placement_group(self._group)


def _import_ray() -> Any:
    try:
        import ray
    except ImportError as error:
        raise RayUnavailable("Ray is not installed: pip install 'penstock[ray]'") from error
    return ray


def _connect(
    ray: Any, address: str | None, *, upload: str | None = None, cpus_of_a_new_one: float = 0.0
) -> None:
    """Connects to a Ray: the one at an address, or the one that runs here, or a new one."""
    settings: dict[str, Any] = {"namespace": _NAMESPACE, "log_to_driver": False}
    if upload is not None:
        settings["runtime_env"] = {"working_dir": upload}
    try:
        ray.init(address=address or "auto", **settings)
    except ConnectionError:
        if address is not None or not cpus_of_a_new_one:
            raise
        # It is there for the job alone, so it has room for all of its tasks.
        cpus = max(os.cpu_count() or 1, math.ceil(cpus_of_a_new_one))
        ray.init(num_cpus=cpus, include_dashboard=False, **settings)


def run_on_ray(
    job: Job,
    arguments: Sequence[str],
    options: RayOptions,
    *,
    with_flags: bool = False,
    restarts: int = 3,
    logs: str | None = None,
) -> int:
    """Runs a job's tasks as actors of Ray; the job's exit status.

    Args:
      job: which tasks.
      arguments: what each task runs: a command line of Penstock's.
      options: how to put it on Ray.
      with_flags: whether to tell a task its place by flags, besides TF_CONFIG.
      restarts: how often a task may fail.
      logs: a folder for a file of each task's lines.
    """
    ray = _import_ray()
    needed = sum(options.resources(task).get("CPU", 0.0) for task in job.tasks)
    _connect(ray, options.address, upload=options.upload, cpus_of_a_new_one=needed)
    printer = Printer(logs)
    tasks = RayTasks(ray, job, arguments, printer, options, with_flags=with_flags)
    try:
        try:
            tasks.prepare()
        except BaseException:
            tasks.end_all()
            raise
        return JobLoop(JobRun(job, restarts), tasks, printer).run()
    finally:
        ray.shutdown()


def addresses_of(job: str, address: str | None = None) -> dict[str, list[str]]:
    """The addresses of the tasks of a job that runs on Ray."""
    ray = _import_ray()
    if not ray.is_initialized():
        _connect(ray, address)
    try:
        board = ray.get_actor(job, namespace=_NAMESPACE)
    except ValueError as error:
        raise RayUnavailable(f"no job named {job!r} runs on this Ray") from error
    return dict(ray.get(board.get.remote()))
