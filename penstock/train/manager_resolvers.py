"""Where the tasks of a cluster are, as its manager knows: Slurm, Kubernetes, Compute Engine, Ray.

The packages of the managers are imported by the resolver that asks them, and by nobody else.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from typing import Any

from penstock.distributed.cluster_spec import ClusterSpec
from penstock.distributed.launch.slurm import hosts_of
from penstock.train.cluster_resolver import ClusterResolver, format_master_url

__all__ = [
    "GCEClusterResolver",
    "KubernetesClusterResolver",
    "RayClusterResolver",
    "SlurmClusterResolver",
]


class _ManagedClusterResolver(ClusterResolver):
    """A resolver whose master is the task it was told of, with the address of this moment."""

    def master(
        self,
        task_type: str | None = None,
        task_id: int | None = None,
        rpc_layer: str | None = None,
    ) -> str:
        job = self.task_type if task_type is None else task_type
        index = self.task_id if task_id is None else task_id
        if job is None or index is None:
            return ""
        address = self.cluster_spec().task_address(job, index)
        return format_master_url(address, rpc_layer or self.rpc_layer)


class SlurmClusterResolver(_ManagedClusterResolver):
    """The tasks of a Slurm job step: nodes are filled one by one, jobs in alphabetical order.

    Args:
      jobs: how many tasks each job has.
      port_base: the port of a node's first task; the next has the next one.
      gpus_per_node: how many GPUs a node has.
      gpus_per_task: how many of them a task takes.
      tasks_per_node: how many tasks a node takes; without, as Slurm says.
      auto_set_gpu: whether `cluster_spec` sets CUDA_VISIBLE_DEVICES to this task's share.
      rpc_layer: the protocol of the tasks.
    """

    def __init__(
        self,
        jobs: Mapping[str, int],
        port_base: int = 8888,
        gpus_per_node: int = 1,
        gpus_per_task: int = 1,
        tasks_per_node: int | None = None,
        auto_set_gpu: bool = True,
        rpc_layer: str | None = "grpc",
    ):
        self._rank, assigned = _rank_and_size(os.environ)
        self._jobs = dict(sorted(jobs.items()))
        self._port_base = port_base
        self._gpus_per_node = gpus_per_node
        self._gpus_per_task = gpus_per_task
        self._auto_set_gpu = auto_set_gpu
        self.rpc_layer = rpc_layer
        if tasks_per_node is None:
            if "SLURM_NTASKS_PER_NODE" not in os.environ:
                raise RuntimeError("Neither `tasks_per_node` or SLURM_NTASKS_PER_NODE is set.")
            tasks_per_node = int(os.environ["SLURM_NTASKS_PER_NODE"])
        self._tasks_per_node = tasks_per_node
        if tasks_per_node * gpus_per_task > gpus_per_node:
            raise RuntimeError(
                "Requested more GPUs per node then available: "
                f"{tasks_per_node} tasks of {gpus_per_task} on {gpus_per_node}."
            )
        if sum(self._jobs.values()) != assigned:
            raise RuntimeError(
                "Requested more tasks then assigned tasks: "
                f"the jobs have {sum(self._jobs.values())}, Slurm started {assigned}."
            )

    def _resolve_hostnames(self) -> list[str]:
        for variable in ("SLURM_STEP_NODELIST", "SLURM_JOB_NODELIST"):
            if variable in os.environ:
                return hosts_of(os.environ[variable])
        return subprocess.check_output(["scontrol", "show", "hostname"], text=True).split()

    def cluster_spec(self) -> ClusterSpec:
        """The cluster; also finds this task's place in it, and its GPUs."""
        slots = [(host, n) for host in self._resolve_hostnames() for n in self._slots_of_a_node()]
        addresses = [f"{host}:{self._port_base + slot}" for host, slot in slots]
        cluster: dict[str, list[str]] = {}
        first = 0
        for job, count in self._jobs.items():
            cluster[job] = addresses[first : first + count]
            if first <= self._rank < first + count:
                self.task_type, self.task_id = job, self._rank - first
            first += count
        if self._auto_set_gpu:
            begin = slots[self._rank][1] * self._gpus_per_task
            own = range(begin, begin + self._gpus_per_task)
            os.environ["CUDA_VISIBLE_DEVICES"] = ",".join(map(str, own))
        return ClusterSpec(cluster)

    def _slots_of_a_node(self) -> range:
        with_gpus = len(range(0, self._gpus_per_node, self._gpus_per_task or 1))
        limit = with_gpus if self._gpus_per_task else self._tasks_per_node
        return range(min(self._tasks_per_node, limit))

    def get_task_info(self) -> tuple[str | None, int | None]:
        """Job and index of this task, once `cluster_spec` has been asked for."""
        return self.task_type, self.task_id

    def num_accelerators(
        self,
        task_type: str | None = None,
        task_id: int | None = None,
        config_proto: Any = None,
    ) -> dict[str, int]:
        return {"GPU": self._gpus_per_node}


def _rank_and_size(environment: Mapping[str, str]) -> tuple[int, int]:
    """This process's number and how many there are, from mpirun if that started it, or Slurm."""
    if "OMPI_COMM_WORLD_RANK" in environment:
        return int(environment["OMPI_COMM_WORLD_RANK"]), int(environment["OMPI_COMM_WORLD_SIZE"])
    size = environment.get("SLURM_STEP_NUM_TASKS") or environment["SLURM_NTASKS"]
    return int(environment["SLURM_PROCID"]), int(size)


class KubernetesClusterResolver(_ManagedClusterResolver):
    """The running pods that label selectors name.

    Args:
      job_to_label_mapping: label selectors for each job.
      tf_server_port: where the tasks listen.
      rpc_layer: the protocol of the tasks.
      override_client: a client of Kubernetes that is ready to be asked; without, one of the
        package `kubernetes` with the user's configuration.
    """

    def __init__(
        self,
        job_to_label_mapping: Mapping[str, Sequence[str]] | None = None,
        tf_server_port: int = 8470,
        rpc_layer: str | None = "grpc",
        override_client: Any = None,
    ):
        self._selectors = job_to_label_mapping or {"worker": ["job-name=tensorflow"]}
        self._port = tf_server_port
        self.rpc_layer = rpc_layer
        self._override_client = override_client
        if override_client is None:
            self._client()

    def _client(self) -> Any:
        if self._override_client is not None:
            return self._override_client
        try:
            from kubernetes import client, config
        except ImportError as error:
            raise ImportError(
                "The Kubernetes Python client must be installed before using the Kubernetes "
                "Cluster Resolver: pip install kubernetes"
            ) from error
        config.load_kube_config()
        return client.CoreV1Api()

    def cluster_spec(self) -> ClusterSpec:
        client = self._client()
        cluster: dict[str, list[str]] = {}
        for job, selectors in self._selectors.items():
            cluster[job] = []
            for selector in selectors:
                pods = client.list_pod_for_all_namespaces(label_selector=selector).items
                # By name, so that a task keeps its index from one call to the next.
                for pod in sorted(pods, key=lambda pod: pod.metadata.name):
                    cluster[job].append(self._address(pod))
        return ClusterSpec(cluster)

    def _address(self, pod: Any) -> str:
        phase = pod.status.phase
        if phase != "Running":
            raise RuntimeError(f'Pod "{pod.metadata.name}" is not running; phase: "{phase}"')
        return f"{pod.status.host_ip}:{self._port}"


class GCEClusterResolver(_ManagedClusterResolver):
    """The running machines of an instance group of Google's Compute Engine.

    Args:
      project: the project's name.
      zone: where the group is.
      instance_group: the group's name.
      port: where the tasks listen.
      task_type: the job that the machines are.
      task_id: this machine's index in it.
      rpc_layer: the protocol of the tasks.
      credentials: for the service; 'default' takes those of the application.
      service: the service's client; without, one of the package `googleapiclient`.
    """

    def __init__(
        self,
        project: str,
        zone: str,
        instance_group: str,
        port: int,
        task_type: str = "worker",
        task_id: int = 0,
        rpc_layer: str | None = "grpc",
        credentials: Any = "default",
        service: Any = None,
    ):
        self._place = {"project": project, "zone": zone}
        self._instance_group = instance_group
        self._port = port
        self._task_type = task_type
        self.task_id = task_id
        self.rpc_layer = rpc_layer
        self._service = _compute_service(credentials) if service is None else service

    @property
    def task_type(self) -> str:
        return self._task_type

    @task_type.setter
    def task_type(self, task_type: str) -> None:
        raise RuntimeError(
            "You cannot reset the task_type of the GCEClusterResolver after it has been created."
        )

    def cluster_spec(self) -> ClusterSpec:
        groups = self._service.instanceGroups()
        request = groups.listInstances(
            **self._place,
            instanceGroups=self._instance_group,
            body={"instanceState": "RUNNING"},
            orderBy="name",
        )
        addresses: list[str] = []
        while request is not None:
            page = request.execute()
            addresses += [self._address(each["instance"]) for each in page["items"]]
            request = groups.listInstances_next(previous_request=request, previous_response=page)
        return ClusterSpec({self._task_type: sorted(addresses)})

    def _address(self, url: str) -> str:
        name = url.rpartition("/")[2]
        machine = self._service.instances().get(**self._place, instance=name).execute()
        return f"{machine['networkInterfaces'][0]['networkIP']}:{self._port}"


def _compute_service(credentials: Any) -> Any:
    try:
        from googleapiclient import discovery
    except ImportError as error:
        raise ImportError(
            "googleapiclient must be installed before using the GCE cluster resolver: "
            "pip install google-api-python-client"
        ) from error
    if credentials == "default":
        credentials = None  # what the client itself takes for the application's own
    return discovery.build("compute", "v1", credentials=credentials)


class RayClusterResolver(_ManagedClusterResolver):
    """The tasks of a job that `penstock launch --on ray` started.

    Args:
      job: the job's name (`--name`).
      task_type: the job of this task, if it is one.
      task_id: its index.
      rpc_layer: the protocol of the tasks.
      address: of Ray's head; without, that of the running Ray.
    """

    def __init__(
        self,
        job: str = "penstock",
        task_type: str | None = None,
        task_id: int | None = None,
        rpc_layer: str | None = "grpc",
        address: str | None = "auto",
    ):
        self._job = job
        self._address = address
        self.task_type = task_type
        self.task_id = task_id
        self.rpc_layer = rpc_layer

    @property
    def environment(self) -> str:
        return "ray"

    def cluster_spec(self) -> ClusterSpec:
        from penstock.distributed.launch.ray_jobs import addresses_of

        return ClusterSpec(addresses_of(self._job, self._address))
