"""Where the workers of a Cloud TPU are: programs name one, or pass an address on."""

from __future__ import annotations

import os
import urllib.request
from typing import Any

from penstock.distributed.cluster_spec import ClusterSpec
from penstock.distributed.server import Server
from penstock.train.cluster_resolver import ClusterResolver, format_master_url

__all__ = ["TPUClusterResolver"]

_GKE_ENDPOINTS = "KUBE_GOOGLE_CLOUD_TPU_ENDPOINTS"
_METADATA = "http://metadata.google.internal/computeMetadata/v1"
_NO_CLOUD = ("localhost:", "/bns", "uptc://")


class TPUClusterResolver(ClusterResolver):
    """The workers of a TPU that is given by its name in the cloud, or by its address.

    There is no TPU among Penstock's devices; a program that asks for one by name gets its workers'
    addresses; an address (`grpc://…`, `local`, an empty string) is the session's target as it is.

    Args:
      tpu: name or address; without, what the environment says (TPU_NAME, or GKE's variable).
      zone: where the TPU is; without, this machine's zone.
      project: whose it is; without, this machine's project.
      job_name: the job that the workers are.
      coordinator_name: the job of the program itself, if it is to be in the cluster.
      coordinator_address: where the program listens; without, a server is started for it.
      credentials: for the service; 'default' takes those of the application.
      service: the service's client; without, one of the package `googleapiclient`.
      discovery_url: where the service is described; TPU_API_DISCOVERY_URL takes its place.
    """

    def __init__(
        self,
        tpu: Any = None,
        zone: str | None = None,
        project: str | None = None,
        job_name: str = "worker",
        coordinator_name: str | None = None,
        coordinator_address: str | None = None,
        credentials: Any = "default",
        service: Any = None,
        discovery_url: str | None = None,
    ):
        name = _named(tpu)
        is_local = name in ("", "local") or name.startswith(_NO_CLOUD)
        self.task_type = job_name
        self.task_id = 0
        self.rpc_layer = None if is_local else "grpc"
        self._is_in_cloud = not is_local and not name.startswith("grpc://")
        self._tpu = name if is_local else name.removeprefix("grpc://")
        is_far = self._is_in_cloud or _GKE_ENDPOINTS in os.environ
        if coordinator_name and not coordinator_address and is_far:
            self._server = Server.create_local_server()
            coordinator_address = self._server.target.removeprefix("grpc://")
        self._coordinator = {coordinator_name: [coordinator_address]} if coordinator_address else {}
        self._service = service
        if not self._is_in_cloud:
            return
        if service is None:
            url = os.environ.get("TPU_API_DISCOVERY_URL") or discovery_url
            self._service = _tpu_service(credentials, url)
        project = project or _metadata("project/project-id")
        zone = zone or _metadata("instance/zone").rpartition("/")[2]
        self._path = f"projects/{project}/locations/{zone}/nodes/{name}"

    def master(
        self,
        task_type: str | None = None,
        task_id: int | None = None,
        rpc_layer: str | None = None,
    ) -> str:
        if self._is_in_cloud:
            job = self.task_type if task_type is None else task_type
            index = self.task_id if task_id is None else task_id
            address = self.cluster_spec().task_address(job, index)
        else:
            address = self._tpu.split(",")[0].removeprefix("grpc://")
        return format_master_url(address, rpc_layer or self.rpc_layer)

    def get_master(self) -> str:
        return self.master()

    def get_job_name(self) -> str | None:
        """The workers' job, where they are known by the name of their TPU."""
        return self.task_type if self._is_in_cloud else None

    def cluster_spec(self) -> Any:
        """The workers as they are now; None for an address that is no gRPC one."""
        if self._is_in_cloud:
            workers = self._workers()
        elif self.rpc_layer is None:
            return None
        else:
            workers = [each.removeprefix("grpc://") for each in self._tpu.split(",")]
        return ClusterSpec({self.task_type: workers, **self._coordinator})

    def _workers(self) -> list[str]:
        try:
            nodes = self._service.projects().locations().nodes()
            found = nodes.get(name=self._path).execute()
        except Exception as error:
            raise ValueError(
                f"Could not lookup TPU metadata from name '{self._tpu}'. Please doublecheck the "
                f"tpu argument in the TPUClusterResolver constructor. Exception: {error}"
            ) from error
        if found.get("state", "READY") != "READY":
            raise RuntimeError(f'TPU "{self._tpu}" is not yet ready; state: "{found["state"]}"')
        endpoints = found.get("networkEndpoints", [found])
        return [f"{each['ipAddress']}:{each['port']}" for each in endpoints]


def _named(tpu: Any) -> str:
    """The one name or address that is given, by the environment where by nobody else."""
    if isinstance(tpu, list):
        if not tpu:
            raise ValueError("At least one TPU must be specified.")
        if len(tpu) != 1:
            raise NotImplementedError(
                "Using multiple TPUs in a single session is not yet implemented"
            )
        tpu = tpu[0]
    if tpu is None:
        tpu = os.environ.get(_GKE_ENDPOINTS, os.environ.get("TPU_NAME"))
    if tpu is None:
        raise ValueError("Please provide a TPU Name to connect to.")
    return tpu.decode() if isinstance(tpu, bytes) else str(tpu)


def _tpu_service(credentials: Any, discovery_url: str | None) -> Any:
    try:
        from googleapiclient import discovery
    except ImportError as error:
        raise ImportError(
            "googleapiclient must be installed before using the TPU cluster resolver: "
            "pip install google-api-python-client"
        ) from error
    options = {"discoveryServiceUrl": discovery_url} if discovery_url else {}
    given = None if credentials == "default" else credentials
    return discovery.build("tpu", "v1", credentials=given, **options)


def _metadata(path: str) -> str:
    """A fact about this machine, where it is one of the cloud."""
    request = urllib.request.Request(f"{_METADATA}/{path}", headers={"Metadata-Flavor": "Google"})
    with urllib.request.urlopen(request, timeout=10) as answer:
        return str(answer.read().decode())
