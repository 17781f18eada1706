"""Test cases with a cluster in this process: TensorFlow's `multi_worker_test_base`."""

from __future__ import annotations

import copy
import json
import os
import subprocess
import threading
import unittest.mock
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from typing import Any

from penstock import proto
from penstock.client.session import Session
from penstock.distribute.coordinator import _run_std_server as _started_server
from penstock.distributed.cluster_spec import ClusterSpec
from penstock.distributed.launch.processes import free_addresses
from penstock.distributed.server import Server
from penstock.internal_paths.graph_mode import eager_mode, graph_mode
from penstock.ir.defaults import executing_eagerly
from penstock.ir.graph import Graph
from penstock.testing.test_case import TensorFlowTestCase
from penstock.train.coordinator import Coordinator

Jobs = dict[str, list[str]]
_servers: list[Server] = []  # they serve as long as the process runs


def pick_unused_port() -> int:
    """A port of this machine that nobody uses now."""
    return int(free_addresses(1)[0].rpartition(":")[2])


def create_cluster_spec(
    has_chief: bool = False,
    num_workers: int = 1,
    num_ps: int = 0,
    has_eval: bool = False,
    test_obj: Any = None,
) -> Jobs:
    """The jobs of a cluster, with addresses of this machine that nobody uses now."""
    sizes = {"chief": int(has_chief), "worker": num_workers, "ps": num_ps, "evaluator": has_eval}
    addresses = iter(free_addresses(sum(sizes.values())))
    jobs = {job: [next(addresses) for _ in range(size)] for job, size in sizes.items()}
    return {job: tasks for job, tasks in jobs.items() if tasks}


def create_in_process_cluster(
    num_workers: int,
    num_ps: int,
    has_chief: bool = False,
    has_eval: bool = False,
    rpc_layer: str = "grpc",
) -> Jobs:
    """Starts the servers of a cluster in this process; its jobs."""
    jobs = create_cluster_spec(has_chief, num_workers, num_ps, has_eval)
    config = proto.ConfigProto()
    leader = "chief" if has_chief else "worker"
    config.experimental.collective_group_leader = f"/job:{leader}/replica:0/task:0"
    for job, tasks in jobs.items():
        own = config if job in ("chief", "worker") else proto.ConfigProto()
        for number in range(len(tasks)):
            _servers.append(Server(ClusterSpec(jobs), job, number, protocol=rpc_layer, config=own))
    return jobs


@contextmanager
def skip_if_grpc_server_cant_be_started(test_obj: Any) -> Iterator[None]:
    """Skips a test where no server can be started; here one can."""
    yield


class MultiWorkerTestBase(TensorFlowTestCase):
    """A test case whose sessions are those of a cluster of two workers and a parameter server."""

    _cluster_spec: Jobs
    _default_target: str

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls._cluster_spec = create_in_process_cluster(num_workers=2, num_ps=1)
        cls._default_target = "grpc://" + cls._cluster_spec["worker"][0]

    def setUp(self) -> None:
        super().setUp()
        self._coord = Coordinator()
        self._cluster_sessions = threading.local()

    @contextmanager
    def session(  # type: ignore[override]
        self, graph: Any = None, config: Any = None, target: str | None = None
    ) -> Iterator[Session]:
        """A session of the cluster."""
        target = self._default_target if target is None else target
        with Session(target, graph, self._create_config(config)) as session:
            yield session

    @contextmanager
    def cached_session(  # type: ignore[override]
        self, graph: Any = None, config: Any = None, target: str | None = None
    ) -> Iterator[Session]:
        """The one session of the cluster that this thread of a test has."""
        session = getattr(self._cluster_sessions, "session", None)
        if session is None:
            target = self._default_target if target is None else target
            session = Session(target, None, self._create_config(config))
            self._cluster_sessions.session = session
            self.addCleanup(session.close)
        with session.graph.as_default(), session.as_default():
            yield session

    def _create_config(self, config: Any) -> Any:
        if config is None:
            return proto.ConfigProto(allow_soft_placement=True)
        return copy.deepcopy(config)

    def _run_between_graph_clients(
        self,
        client_fn: Callable[..., Any],
        cluster_spec: Jobs,
        num_gpus: int,
        *args: Any,
        **kwargs: Any,
    ) -> None:
        """Calls `client_fn(task_type, task_id, num_gpus, ...)` for each worker, in threads."""
        eagerly = executing_eagerly()
        threads = []
        for job in ("chief", "worker"):
            for number in range(len(cluster_spec.get(job, []))):
                call = (client_fn, eagerly, job, number, num_gpus, *args)
                threads.append(threading.Thread(target=self._run_client, args=call, kwargs=kwargs))
                threads[-1].start()
        self._coord.join(threads)

    def _run_client(
        self, client_fn: Callable[..., Any], eagerly: bool, *args: Any, **kwargs: Any
    ) -> None:
        with self._coord.stop_on_exception(), eager_mode() if eagerly else graph_mode():
            client_fn(*args, **kwargs)


class MockOsEnv(Mapping[str, Any]):
    """An environment whose TF_CONFIG is that of the thread."""

    def __init__(self, *args: Any):
        self._shared = dict(*args)
        self._own = threading.local()

    def _of(self, key: str) -> dict[str, Any]:
        return vars(self._own) if key == "TF_CONFIG" else self._shared

    def __getitem__(self, key: str) -> Any:
        return self._of(key)[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self._of(key)[key] = value

    def __iter__(self) -> Iterator[str]:
        return iter({**vars(self._own), **self._shared})

    def __len__(self) -> int:
        return len(vars(self._own)) + len(self._shared)


class IndependentWorkerTestBase(TensorFlowTestCase):
    """A test case whose threads are tasks of a cluster, each with a TF_CONFIG of its own.

    Attributes:
      _barrier: where the threads meet once their servers run; the test sets it.
    """

    _barrier: Any

    def _make_mock_run_std_server(self) -> Callable[..., Any]:
        """What starts a task's server, and returns when those of all tasks run."""

        def run_std_server(*args: Any, **kwargs: Any) -> Any:
            server = _started_server(*args, **kwargs)
            if not getattr(self._thread_local, "server_started", False):
                self._barrier.wait()
            self._thread_local.server_started = True
            return server

        return run_std_server

    def setUp(self) -> None:
        super().setUp()
        self._coord = Coordinator()
        self._thread_local = threading.local()
        self._mock_os_env = MockOsEnv(os.environ)
        patch = unittest.mock.patch.object(os, "environ", self._mock_os_env)
        patch.start()
        self.addCleanup(patch.stop)

    def _run_task_in_thread(
        self,
        task_fn: Callable[..., Any],
        cluster_spec: Jobs,
        task_type: str | None,
        task_id: int | None,
        *args: Any,
        **kwargs: Any,
    ) -> threading.Thread:
        """Starts a thread for a task; `tf_config` is its TF_CONFIG, if given."""
        given: dict[str, Any] = {"cluster": cluster_spec}
        if task_type:
            given["task"] = {"type": task_type, "index": task_id}
        given = kwargs.pop("tf_config", None) or given
        call = (task_fn, given, executing_eagerly(), *args)
        thread = threading.Thread(target=self._task_thread, args=call, kwargs=kwargs)
        thread.start()
        return thread

    def _task_thread(
        self, task_fn: Callable[..., Any], tf_config: Any, eagerly: bool, *args: Any, **kwargs: Any
    ) -> None:
        with (
            self._coord.stop_on_exception(),
            nullcontext() if eagerly else Graph().as_default(),
            eager_mode() if eagerly else graph_mode(),
        ):
            self._mock_os_env["TF_CONFIG"] = json.dumps(tf_config)
            task_fn(*args, **kwargs)

    def run_multiple_tasks_in_threads(
        self, task_fn: Callable[..., Any], cluster_spec: Jobs, *args: Any, **kwargs: Any
    ) -> dict[str, list[threading.Thread]]:
        """A thread for each task of a cluster."""
        return {
            job: [
                self._run_task_in_thread(task_fn, cluster_spec, job, number, *args, **kwargs)
                for number in range(len(tasks))
            ]
            for job, tasks in cluster_spec.items()
        }

    def join_independent_workers(self, worker_threads: list[threading.Thread]) -> None:
        """Waits for threads; what one raises is raised here."""
        self._coord.join(worker_threads)


class MultiWorkerMultiProcessTest(TensorFlowTestCase):
    """A test case whose processes are tasks of a cluster."""

    def _run_task_in_process(
        self, cmd_args: list[str], cluster_spec: Jobs, task_type: str, task_id: int
    ) -> subprocess.Popen[bytes]:
        task = {"cluster": cluster_spec, "task": {"type": task_type, "index": task_id}}
        return subprocess.Popen(
            cmd_args,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, "TF_CONFIG": json.dumps(task)},
        )

    def run_multiple_tasks_in_processes(
        self, cmd_args: list[str], cluster_spec: Jobs
    ) -> dict[str, list[subprocess.Popen[bytes]]]:
        """A process of the command for each task of a cluster."""
        return {
            job: [
                self._run_task_in_process(cmd_args, cluster_spec, job, number)
                for number in range(len(tasks))
            ]
            for job, tasks in cluster_spec.items()
        }

    def join_independent_workers(self, processes: list[subprocess.Popen[bytes]]) -> None:
        """Waits for processes; the first one that fails is told of."""
        for process in processes:
            _, errors = process.communicate()
            self.assertEqual(process.returncode, 0, errors.decode(errors="replace"))


# What TF_CONFIG says ------------------------------------------------------------------------------


def get_tf_config_task() -> Any:
    return json.loads(os.environ["TF_CONFIG"])["task"]


def get_tf_config_cluster_spec() -> Any:
    return json.loads(os.environ["TF_CONFIG"])["cluster"]


def get_task_type() -> Any:
    return get_tf_config_task()["type"]


def get_task_index() -> Any:
    return get_tf_config_task()["index"]


def is_chief() -> bool:
    return (
        "chief" not in get_tf_config_cluster_spec()
        and get_task_type() == "worker"
        and (get_task_index() == 0)
    )
