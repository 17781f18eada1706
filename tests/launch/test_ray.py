"""Jobs on Ray: with one of ours that does as it is told, and with a real one where there is one."""

import importlib.util
import json
import os
import re
import signal
import subprocess
import sys
import threading
from types import ModuleType, SimpleNamespace

import pytest

import penstock as tf
from penstock.cli import main
from penstock.distributed.launch.job import JobRun, Task
from penstock.distributed.launch.loop import JobLoop, Printer
from penstock.distributed.launch.ray_jobs import (
    RayOptions,
    RayTasks,
    RayUnavailable,
    counted_job,
    hosts_of,
    passed_on,
)
from penstock.distributed.launch.ray_task import JobBoard, Place, TaskActor

PS, FIRST, SECOND = Task("ps", 0), Task("worker", 0), Task("worker", 1)


# What needs no Ray at all -------------------------------------------------------------------------


def test_without_ray_the_command_says_what_to_install(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "ray", None)
    assert main(["launch", "--on", "ray", "program.py"]) == 1
    assert "pip install 'penstock[ray]'" in capsys.readouterr().err
    with pytest.raises(RayUnavailable, match="not installed"):
        tf.contrib.cluster_resolver.RayClusterResolver().cluster_spec()


def test_what_tasks_take():
    options = RayOptions(cpus=2, gpus=1)
    assert options.resources(PS) == {"CPU": 2}
    assert options.resources(FIRST) == {"CPU": 2, "GPU": 1}


def test_tasks_of_one_node_stay_on_loopback():
    one = {PS: Place("n", "10.0.0.1"), FIRST: Place("n", "10.0.0.1")}
    assert set(hosts_of(one).values()) == {"localhost"}
    two = {**one, FIRST: Place("m", "10.0.0.2")}
    assert hosts_of(two) == {PS: "10.0.0.1", FIRST: "10.0.0.2"}


def test_tasks_elsewhere_get_the_variables_that_are_meant_for_them():
    kept = {"PENSTOCK_CREDENTIALS": "c", "TF_CPP_MIN_LOG_LEVEL": "1", "OMP_NUM_THREADS": "1"}
    assert passed_on({**kept, "HOME": "h", "PATH": "p"}) == kept


def test_an_actor_yields_lines_and_then_the_status(tmp_path):
    program = tmp_path / "program.py"
    program.write_text("import os; print('a'); print(os.environ['X']); raise SystemExit(5)")
    *lines, status = TaskActor().run(["run", str(program)], {"X": "b"}, str(tmp_path))
    assert [line for batch in lines for line in batch] == ["a", "b"]
    assert status == 5


# A Ray of ours ------------------------------------------------------------------------------------


class Lost(Exception):
    """The exception of an actor that is gone."""


class Restarting(Lost):
    """The exception of an actor that is not there again yet."""


class FakeActor:
    """An actor that is called in this process; `script` says what becomes of each of its tasks."""

    def __init__(self, ray, made, name):
        self._ray, self._made, self._name = ray, made, name

    def __getattr__(self, method):
        def remote(*arguments):
            if isinstance(self._made, JobBoard):
                return getattr(self._made, method)(*arguments)
            return self._ray.call(self._name, method, *arguments)

        return SimpleNamespace(remote=remote, options=lambda **_: SimpleNamespace(remote=remote))


class FakeRay(ModuleType):
    """As much of the package as the launcher uses.

    Args:
      script: for each task's name what its runs give: a status, or an exception to raise.
      nodes: where each task's actor is; a list is used up from one question to the next.
    """

    exceptions = SimpleNamespace(RayError=Lost, RayActorError=Restarting)

    def __init__(self, script, nodes=None, room=True):
        super().__init__("ray")
        self.script, self.nodes, self.room = script, nodes or {}, room
        self.told, self.killed, self.groups, self.bundles = [], [], [], []
        self._lock = threading.Lock()
        self._serves = threading.Event()  # the parameter server has been told to
        self.is_busy = False  # with that, so that its actor answers nothing
        self.util = SimpleNamespace(remove_placement_group=self.groups.remove)

    def remote(self, *classes, **_):
        def made(cls):
            def options(name, **_):
                return SimpleNamespace(remote=lambda: FakeActor(self, cls(), name))

            return SimpleNamespace(options=options)

        return made(*classes) if classes else made

    def call(self, name, method, *arguments):
        task = name.partition(": ")[2]
        with self._lock:
            if method == "place":
                found = self.nodes.get(task, ["n"])
                node = found.pop(0) if len(found) > 1 else found[0]
                if isinstance(node, Exception):
                    raise node
                return (node, f"host-{node}")
            if method == "free_address":
                assert not (task == "ps 0" and self.is_busy), "it would never answer"
                return f"{arguments[0]}:{len(self.told)}"
            self.told.append((task, json.loads(arguments[1]["TF_CONFIG"])))
            outcome = self.script[task].pop(0)
        if task == "ps 0":
            self.is_busy = True
            self._serves.set()
        return self._said(outcome)

    def _said(self, outcome):
        """What a task says, and how it ends: not before the job's server has begun."""
        yield ["said"]
        self._serves.wait(10)
        yield outcome

    def get(self, reference):
        if isinstance(reference, Exception):
            raise reference
        return reference

    def kill(self, actor, no_restart=True):
        self.killed.append((actor._name, no_restart))
        if actor._name.endswith("ps 0"):
            self.is_busy = False

    def available_resources(self):
        return {"CPU": 1.0}

    def placement_group(self, bundles, strategy):
        self.bundles = bundles
        group = SimpleNamespace(wait=lambda _: self.room, strategy=strategy)
        self.groups.append(group)
        return group


@pytest.fixture
def make_tasks(monkeypatch):
    def make(ray, *, options=None, evaluator=False):
        group = ModuleType("ray.util.placement_group")
        group.placement_group = ray.placement_group
        strategies = ModuleType("ray.util.scheduling_strategies")
        strategies.PlacementGroupSchedulingStrategy = lambda *_, **__: None
        for module in (ray, group, strategies):
            monkeypatch.setitem(sys.modules, module.__name__, module)
        job = counted_job({"ps": 1, "worker": 2}, evaluator=evaluator)
        tasks = RayTasks(ray, job, ["run", "p.py"], Printer(), options or RayOptions())
        return tasks, JobLoop(JobRun(job), tasks, Printer())

    return make


def served(*outcomes):
    """The script of a parameter server: after the outcomes it serves until the job is over."""
    return [*outcomes, 0]


def test_a_job_on_one_node(make_tasks, capsys):
    ray = FakeRay({"ps 0": served(), "worker 0": [0], "worker 1": [0], "evaluator 0": [0]})
    tasks, loop = make_tasks(ray, evaluator=True)
    tasks.prepare()
    assert ray.bundles == [{"CPU": 1.0}] * 4
    assert loop.run() == 0
    configs = dict(ray.told)
    assert configs["worker 1"]["task"] == {"type": "worker", "index": 1}
    assert [each.partition(":")[0] for each in configs["ps 0"]["cluster"]["worker"]] == [
        "localhost"
    ] * 2
    assert "evaluator" not in configs["evaluator 0"]["cluster"]
    assert "[worker 0] said" in capsys.readouterr().out
    assert not ray.groups and all(for_good for _, for_good in ray.killed)
    assert len(ray.killed) == 5


def test_an_actor_that_is_killed_is_waited_for_and_its_task_run_again(make_tasks, capsys):
    ray = FakeRay(
        {"ps 0": served(), "worker 0": [Lost("killed"), 0], "worker 1": [0]},
        nodes={"worker 0": ["n", "n", Restarting(), "n"]},
    )
    tasks, loop = make_tasks(ray)
    tasks.prepare()
    assert loop.run() == 0
    assert [task for task, _ in ray.told].count("worker 0") == 2
    said = capsys.readouterr().err
    assert "worker 0: killed" in said and "started again (failure 1)" in said
    assert "failure 2" not in said


def test_a_task_on_another_node_has_all_start_again(make_tasks, monkeypatch, capsys):
    monkeypatch.setenv("PENSTOCK_CREDENTIALS", "folder")
    ray = FakeRay(
        {"ps 0": served(), "worker 0": [Lost("node died"), 0], "worker 1": [0]},
        nodes={"worker 0": ["n", "n", "m"]},
    )
    tasks, loop = make_tasks(ray)
    tasks.prepare()
    assert loop.run() == 0
    task, last = ray.told[-1]
    assert task == "worker 0" and last["cluster"]["worker"][0].startswith("host-m:")
    assert last["cluster"]["ps"][0].startswith("host-n:")
    assert ("penstock: ps 0", False) in ray.killed and ("penstock: worker 1", False) in ray.killed
    assert "worker 0 is on another node now" in capsys.readouterr().err


def test_several_nodes_want_credentials(make_tasks, monkeypatch):
    monkeypatch.delenv("PENSTOCK_CREDENTIALS", raising=False)
    tasks, _ = make_tasks(FakeRay({}, nodes={"worker 0": ["m"]}))
    with pytest.raises(RayUnavailable, match="penstock certs"):
        tasks.prepare()


def test_a_job_that_has_no_room(make_tasks):
    ray = FakeRay({}, room=False)
    tasks, _ = make_tasks(ray, options=RayOptions(gpus=1, strategy="SPREAD", patience=7))
    with pytest.raises(RayUnavailable, match=r"in 7 seconds.*'CPU': 3.*'GPU': 2.*SPREAD.*'CPU': 1"):
        tasks.prepare()
    assert not ray.groups


# A real one ---------------------------------------------------------------------------------------

PROGRAM = """
import json, os, sys, time
import penstock as tf
place = json.loads(os.environ["TF_CONFIG"])
task = place["task"]
server = tf.train.Server(place["cluster"], job_name=task["type"], task_index=task["index"])
print("actor", os.getppid())
if task["type"] == "ps":
    server.join()
with tf.device("/job:ps/task:0"):
    step = tf.train.get_or_create_global_step()
    up = step.assign_add(1)
hooks = [tf.train.StopAtStepHook(last_step=300)]
with tf.train.MonitoredTrainingSession(
    server.target, task["index"] == 0, sys.argv[1], hooks=hooks, save_checkpoint_steps=20
) as sess:
    while not sess.should_stop():
        value = sess.run(up)
        time.sleep(0.02)
print("ended at", value)
"""


@pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="Ray is not installed")
def test_an_actor_that_is_killed_on_a_real_ray(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    command = "launch --on ray --ps 1 --workers 1 --cpus 0.1".split()
    launcher = subprocess.Popen(
        [sys.executable, "-m", "penstock", *command, str(program), str(tmp_path / "model")],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        cwd=tmp_path,
    )
    assert launcher.stdout is not None
    said, killed = [], set()
    with launcher.stdout as lines:
        for line in lines:
            said.append(line)
            actor = re.match(r"\[(\w+ 0)\] actor (\d+)", line)
            if actor and actor[1] not in killed:
                killed.add(actor[1])
                os.kill(int(actor[2]), signal.SIGKILL)
    assert launcher.wait() == 0, "".join(said)
    assert killed == {"ps 0", "worker 0"}
    assert re.search(r"\[worker 0\] ended at 300", "".join(said))
