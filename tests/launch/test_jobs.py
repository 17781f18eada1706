"""What a job does when its tasks end, and what tasks are told."""

import json
import os
import re
import signal
import subprocess
import sys

import pytest

from penstock.cli import main
from penstock.distributed.launch.job import Finish, Job, JobRun, Start, Task
from penstock.distributed.launch.manifests import (
    kubernetes_job,
    kubernetes_manifests,
    slurm_script,
)
from penstock.distributed.launch.slurm import _Slot, hosts_of, place_of, tasks_of_nodes

JOB = Job({"ps": ["h:1"], "worker": ["h:2", "h:3"]})
PS, FIRST, SECOND = Task("ps", 0), Task("worker", 0), Task("worker", 1)


def test_servers_start_first_and_end_with_the_job():
    run = JobRun(JOB)
    assert [action.task for action in run.begin()] == [PS, FIRST, SECOND]
    assert run.ended(FIRST, 0) == []
    assert run.ended(SECOND, 0) == [Finish(0)]


def test_a_task_that_fails_is_started_again_later_each_time_and_not_for_ever():
    run = JobRun(JOB, restarts=2)
    assert run.ended(PS, -9) == [Start(PS, 0.5)]
    assert run.ended(PS, 1) == [Start(PS, 1.0)]
    assert run.ended(PS, 3) == [Finish(3)]
    assert JobRun(JOB, restarts=0).ended(PS, -9) == [Finish(137)]  # as shells have it


def test_the_evaluator_is_waited_for_too():
    run = JobRun(Job({"chief": ["h:1"]}, evaluator=True))
    assert run.ended(Task("chief", 0), 0) == []
    assert run.ended(Task("evaluator", 0), 0) == [Finish(0)]


def test_what_a_task_is_told():
    config = json.loads(JOB.tf_config(SECOND))
    assert config["task"] == {"type": "worker", "index": 1}
    assert config["cluster"]["ps"] == ["h:1"]
    assert JOB.flags(SECOND) == [
        "--ps_hosts=h:1",
        "--worker_hosts=h:2,h:3",
        "--job_name=worker",
        "--task_index=1",
    ]


def test_names_of_slurms_nodes():
    assert hosts_of("a[01-03,7],login") == ["a01", "a02", "a03", "a7", "login"]
    assert hosts_of("r[0-1]n[1-2]-ib") == ["r0n1-ib", "r0n2-ib", "r1n1-ib", "r1n2-ib"]
    assert tasks_of_nodes("2(x3),1") == [2, 2, 2, 1]


def test_slurm_fills_nodes_one_by_one():
    environment = {
        "PENSTOCK_SLURM_COUNTS": '{"ps": 1, "worker": 3, "evaluator": 1}',
        "PENSTOCK_SLURM_PORT": "2000",
        "SLURM_JOB_NODELIST": "n[1-5]",
        "SLURM_TASKS_PER_NODE": "1(x5)",
        "SLURM_STEP_NODELIST": "n[1-3]",
        "SLURM_STEP_TASKS_PER_NODE": "2(x2),1",
        "SLURM_PROCID": "2",
    }
    job, task = place_of(environment)
    assert job.addresses == {"ps": ["n1:2000"], "worker": ["n1:2001", "n2:2000", "n2:2001"]}
    assert task == Task("worker", 1)
    job, task = place_of({**environment, "SLURM_PROCID": "4"})
    assert task == Task("evaluator", 0)
    assert json.loads(job.tf_config(task))["cluster"] == job.addresses


def lines_run_by(script, **environment):
    """What a shell prints that runs a script."""
    done = subprocess.run(
        ["bash", "-c", script],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.splitlines()


# Arguments that a shell or Kubernetes could take for something else.
ODD = ["a b.py", "it's", "$HOME", '"', "$(PENSTOCK_CREDENTIALS)", "a$$b$", "`id`", "two\tparts", ""]


def test_slurms_script_runs_each_task_with_its_arguments(tmp_path):
    """srun is a program here that starts the last of two tasks on one node."""
    (tmp_path / "srun").write_text(
        f"""#!/bin/bash
while [[ "$1" == --* ]]; do shift; done
[ "$1" = python ] && shift && set -- {sys.executable} "$@"
SLURM_STEP_NODELIST=n1 SLURM_STEP_TASKS_PER_NODE=2 SLURM_PROCID=1 exec "$@"
"""
    )
    (tmp_path / "srun").chmod(0o700)
    printing = "import os, sys; print(os.environ['TF_CONFIG'], *sys.argv[1:], sep=chr(10))"
    command = [sys.executable, "-c", printing, *ODD]
    script = slurm_script({"ps": 1, "worker": 1}, command, with_flags=True)
    config, *arguments = lines_run_by(
        script,
        PATH=f"{tmp_path}:{os.environ['PATH']}",
        PENSTOCK_CREDENTIALS="folder",
        SLURM_JOB_ID="12005",
    )
    assert json.loads(config) == {
        "cluster": {"ps": ["n1:20005"], "worker": ["n1:20006"]},
        "task": {"type": "worker", "index": 0},
    }
    flags = ["--ps_hosts=n1:20005", "--worker_hosts=n1:20006", "--job_name=worker"]
    assert arguments == [*ODD, *flags, "--task_index=0"]


@pytest.mark.parametrize(("restarts", "expected"), [(1, 3), (2, 0)])
def test_a_task_that_fails_is_started_again_in_its_slot(tmp_path, monkeypatch, restarts, expected):
    """It fails twice."""
    count = tmp_path / "count"
    program = (
        f"import os, sys; p = {str(count)!r}; open(p, 'a').write('x');"
        "sys.exit(3 if os.path.getsize(p) < 3 else 0)"
    )
    monkeypatch.setattr("penstock.distributed.launch.slurm.time.sleep", lambda seconds: None)
    slot = _Slot([sys.executable, "-S", "-c", program], os.environ, restarts)
    before = {each: signal.getsignal(each) for each in (signal.SIGTERM, signal.SIGINT)}
    try:
        assert slot.run() == expected
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
    assert len(count.read_text()) == min(restarts + 1, 3)


def test_kubernetes_jobs_have_a_pod_for_each_task():
    job = kubernetes_job({"ps": 1, "worker": 3}, "name", evaluator=True)
    text = kubernetes_manifests(job, ["penstock", "run", "t.py"], "image", "name", restarts=2)
    service, *jobs = json.loads(text)["items"]
    assert service["kind"] == "Service"
    assert [each["metadata"]["name"] for each in jobs] == [
        "name-ps",
        "name-worker",
        "name-evaluator",
    ]
    assert [each["spec"]["completions"] for each in jobs] == [1, 3, 1]
    assert [each["spec"]["backoffLimit"] for each in jobs] == [2, 6, 2]
    for each in jobs:
        pod = each["spec"]["template"]["spec"]
        assert pod["restartPolicy"] == "OnFailure"  # what has come to its end is not run again
        assert pod["subdomain"] == service["metadata"]["name"]


def expanded_by_kubernetes(text):
    """What a container's command becomes: $(NAME) is a variable's value, $$ is $."""
    known = {"PENSTOCK_CREDENTIALS": "/credentials"}

    def expanded(match):
        return "$" if match[0] == "$$" else known.get(match[1], match[0])

    return re.sub(r"\$\$|\$\((\w+)\)", expanded, text)


@pytest.mark.parametrize("name", ["", "My", "1st", "a.b", "a-", "a b", "x" * 52])
def test_names_that_kubernetes_does_not_take(name, capsys):
    with pytest.raises(ValueError, match="Kubernetes has no name"):
        kubernetes_job({"worker": 9}, name)
    assert main(["launch", "--write", "kubernetes", "--name", name, "train.py"]) == 2
    assert "lower-case letters" in capsys.readouterr().err


@pytest.mark.parametrize("with_flags", [False, True])
def test_a_pods_script_runs_its_task_with_its_arguments(with_flags):
    job = kubernetes_job({"ps": 1, "worker": 2}, "name")
    printing = "import os, sys; print(os.environ['TF_CONFIG'], *sys.argv[1:], sep=chr(10))"
    command = [sys.executable, "-c", printing, *ODD]
    text = kubernetes_manifests(job, command, "image", "name", with_flags=with_flags)
    pod = json.loads(text)["items"][-1]["spec"]["template"]["spec"]
    script = expanded_by_kubernetes(pod["containers"][0]["command"][2])
    config, *arguments = lines_run_by(f"HOSTNAME=name-worker-1; {script}")
    task = Task("worker", 1)
    assert json.loads(config) == json.loads(job.tf_config(task))
    assert arguments == [*ODD, *(job.flags(task) if with_flags else [])]
