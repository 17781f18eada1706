"""Clusters as their managers know them; the managers are played by objects of ours."""

import os
import sys
from types import SimpleNamespace

import pytest

import penstock as tf

resolvers = tf.contrib.cluster_resolver


@pytest.fixture
def slurm(monkeypatch):
    """Sets what Slurm tells a task; four variables, of which tests change some."""

    def tell(**variables):
        told = {"SLURM_PROCID": "1", "SLURM_NTASKS": "3", "SLURM_JOB_NODELIST": "n[1-3]"}
        for name, value in {**told, **variables}.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")

    return tell


def test_slurm_fills_nodes_one_by_one(slurm, monkeypatch):
    slurm(SLURM_NTASKS="5", SLURM_NTASKS_PER_NODE="2")
    found = resolvers.SlurmClusterResolver(
        {"worker": 4, "ps": 1}, port_base=70, gpus_per_node=4, gpus_per_task=2
    )
    assert found.get_task_info() == (None, None) and found.master() == ""
    assert found.cluster_spec().as_dict() == {
        "ps": ["n1:70"],
        "worker": ["n1:71", "n2:70", "n2:71", "n3:70"],
    }
    assert found.get_task_info() == ("worker", 0)
    assert os.environ["CUDA_VISIBLE_DEVICES"] == "2,3"
    assert found.master() == "grpc://n1:71"
    assert found.master("worker", 3, rpc_layer="other") == "other://n3:70"
    assert found.num_accelerators() == {"GPU": 4}


def test_slurm_without_gpus_and_under_mpirun(slurm, monkeypatch):
    slurm()
    monkeypatch.setenv("OMPI_COMM_WORLD_RANK", "2")
    monkeypatch.setenv("OMPI_COMM_WORLD_SIZE", "3")
    found = resolvers.SlurmClusterResolver(
        {"ps": 1, "worker": 2}, tasks_per_node=3, gpus_per_node=0, gpus_per_task=0
    )
    assert found.cluster_spec().as_dict()["worker"] == ["n1:8889", "n1:8890"]
    assert found.get_task_info() == ("worker", 1)


def test_jobs_that_slurm_has_not_started(slurm):
    slurm()
    with pytest.raises(RuntimeError, match="SLURM_NTASKS_PER_NODE is set"):
        resolvers.SlurmClusterResolver({"worker": 3})
    with pytest.raises(RuntimeError, match="more GPUs per node then available: 2 tasks of 1 on 1"):
        resolvers.SlurmClusterResolver({"worker": 3}, tasks_per_node=2)
    with pytest.raises(RuntimeError, match="the jobs have 4, Slurm started 3"):
        resolvers.SlurmClusterResolver({"worker": 4}, tasks_per_node=1)


class Pods:
    """A client of Kubernetes that knows pods (name, phase, address) by their label."""

    def __init__(self, **pods):
        self._pods = pods

    def list_pod_for_all_namespaces(self, label_selector):
        entries = [
            SimpleNamespace(
                metadata=SimpleNamespace(name=name),
                status=SimpleNamespace(phase=phase, host_ip=address),
            )
            for name, phase, address in self._pods[label_selector.removeprefix("job-name=")]
        ]
        return SimpleNamespace(items=entries)


def test_kubernetes_sorts_its_pods_by_name():
    running = [("b", "Running", "10.0.0.2"), ("a", "Running", "10.0.0.1")]
    found = resolvers.KubernetesClusterResolver(override_client=Pods(tensorflow=running))
    assert found.cluster_spec().as_dict() == {"worker": ["10.0.0.1:8470", "10.0.0.2:8470"]}
    assert found.master() == ""
    found.task_type, found.task_id = "worker", 1
    assert found.master() == "grpc://10.0.0.2:8470"
    several = resolvers.KubernetesClusterResolver(
        {"worker": ["job-name=one", "job-name=two"]},
        tf_server_port=1,
        override_client=Pods(one=running[:1], two=running[1:]),
    )
    assert several.cluster_spec().as_dict() == {"worker": ["10.0.0.2:1", "10.0.0.1:1"]}


def test_kubernetes_says_which_pod_is_not_running():
    found = resolvers.KubernetesClusterResolver(
        override_client=Pods(tensorflow=[("a", "Pending", "")])
    )
    with pytest.raises(RuntimeError, match='Pod "a" is not running; phase: "Pending"'):
        found.cluster_spec()


class Machines:
    """The service of Compute Engine, as far as it is asked, with two pages of a group."""

    def __init__(self, *pages):
        self._pages = [{"items": [{"instance": f"http://x/{n}"} for n in page]} for page in pages]

    def instanceGroups(self):
        return self

    def instances(self):
        return self

    def listInstances(self, *, project, zone, instanceGroups, body, orderBy):
        assert (project, zone, instanceGroups) == ("p", "z", "g")
        assert body == {"instanceState": "RUNNING"} and orderBy == "name"
        return SimpleNamespace(execute=lambda: self._pages[0], page=0)

    def listInstances_next(self, previous_request, previous_response):
        page = previous_request.page + 1
        if page == len(self._pages):
            return None
        return SimpleNamespace(execute=lambda: self._pages[page], page=page)

    def get(self, project, zone, instance):
        address = {"networkInterfaces": [{"networkIP": f"10.0.0.{instance}"}]}
        return SimpleNamespace(execute=lambda: address)


def test_the_machines_of_compute_engine():
    found = tf.distribute.cluster_resolver.GCEClusterResolver(
        "p", "z", "g", 8470, service=Machines("32", "1")
    )
    assert found.cluster_spec().as_dict() == {
        "worker": ["10.0.0.1:8470", "10.0.0.2:8470", "10.0.0.3:8470"]
    }
    assert found.master() == "grpc://10.0.0.1:8470"
    found.task_id, found.rpc_layer = 2, None
    assert found.master() == "10.0.0.3:8470"
    with pytest.raises(RuntimeError, match="You cannot reset the task_type"):
        found.task_type = "ps"


@pytest.mark.parametrize(
    ("package", "ask"),
    [
        ("kubernetes", lambda: resolvers.KubernetesClusterResolver()),
        ("googleapiclient", lambda: resolvers.GCEClusterResolver("p", "z", "g", 1)),
    ],
)
def test_managers_that_are_not_installed(package, ask, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ImportError, match="must be installed before using the .*pip install"):
        ask()


def test_tf_config_and_a_task_that_is_given(monkeypatch):
    monkeypatch.setenv("TF_CONFIG", '{"cluster": {"w": ["a:1", "b:1"]}, "task": {"type": "w"}}')
    assert resolvers.TFConfigClusterResolver(task_id=1).master() == "b:1"
