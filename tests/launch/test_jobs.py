"""What a job does when its tasks end, and what tasks are told."""

import json

from penstock.distributed.launch.job import Finish, Job, JobRun, Start, Task
from penstock.distributed.launch.manifests import kubernetes_manifests, slurm_script
from penstock.distributed.launch.slurm import hosts_of, tf_config

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


def test_slurm_names_and_places():
    assert hosts_of("a[01-03,7],login") == ["a01", "a02", "a03", "a7", "login"]
    environment = {
        "PENSTOCK_SLURM_COUNTS": '{"ps": 1, "worker": 2}',
        "PENSTOCK_SLURM_PORT": "2000",
        "SLURM_JOB_NODELIST": "n[1-2]",
        "SLURM_PROCID": "2",
    }
    found = json.loads(tf_config(environment))
    assert found["cluster"] == {"ps": ["n1:2000"], "worker": ["n2:2000", "n1:2001"]}
    assert found["task"] == {"type": "worker", "index": 1}
    assert "srun" in slurm_script({"ps": 1}, ["penstock", "run", "a b.py"])


def test_kubernetes_sets_have_a_replica_for_each_task():
    text = kubernetes_manifests({"ps": 1, "worker": 3}, ["penstock", "run", "t.py"], "image")
    service, *sets = json.loads(text)["items"]
    assert service["kind"] == "Service"
    assert [each["spec"]["replicas"] for each in sets] == [1, 3]
