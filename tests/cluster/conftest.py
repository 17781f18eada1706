"""One zygote for all tests of clusters; a cluster for each that asks for one."""

import threading
import time

import pytest

import penstock as tf
from tests.cluster.nursery import Nursery, TestCluster


@pytest.fixture(scope="session")
def nursery():
    made = Nursery()
    yield made
    made.close()


@pytest.fixture
def make_cluster(nursery, tmp_path):
    """Makes clusters of {"ps": 1, "worker": 2}; their tasks are killed at the end."""
    made = []

    def make(**tasks):
        folder = tmp_path / str(len(made))
        folder.mkdir()
        cluster = TestCluster(nursery, folder, tasks)
        made.append(cluster)
        return cluster

    yield make
    for cluster in made:
        cluster.stop()


@pytest.fixture
def server_here():
    """Makes servers of this process, and checks that they leave no threads behind."""
    before = set(threading.enumerate())
    made = []

    def make(spec, job, index, **settings):
        server = tf.train.Server(spec, job_name=job, task_index=index, **settings)
        made.append(server)
        return server

    yield make
    for server in made:
        server.stop()
    limit = time.monotonic() + 10
    while (left := set(threading.enumerate()) - before) and time.monotonic() < limit:
        time.sleep(0.01)
    assert not left


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as made:
        yield made


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """Lets fixtures know that their test has failed, so that they can show what tasks said."""
    report = yield
    item.failed = getattr(item, "failed", False) or report.failed
    return report
