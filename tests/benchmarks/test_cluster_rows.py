"""The steps of the cluster benchmark run, and its table says what was met."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import penstock as tf
from benchmarks.cluster.__main__ import report
from benchmarks.cluster.contest import Measured, _free_addresses
from benchmarks.cluster.rows import ROWS

_SMALL = ("null", "null_both", "scalar_read", "scalar_update", "sparse_16M")


@pytest.fixture(scope="module")
def target() -> Iterator[str]:
    """The first worker of a cluster in this process."""
    addresses = _free_addresses(3)
    cluster = {"ps": addresses[:1], "worker": addresses[1:]}
    tasks = [("ps", 0), ("worker", 0), ("worker", 1)]
    servers = [tf.train.Server(cluster, job_name=job, task_index=i) for job, i in tasks]
    yield servers[1].target
    for server in servers:
        server.stop()


@pytest.mark.parametrize("name", _SMALL)
def test_a_step_can_be_run(name: str, target: str) -> None:
    row = next(row for row in ROWS if row.name == name)
    with tf.Graph().as_default() as graph, tf.Session(target, graph=graph) as session:
        step = row.build(tf, lambda: session)
        step()
        step()
    tf.Session.reset(target)


def test_the_table_judges_by_rates() -> None:
    dense = next(row for row in ROWS if row.name == "dense")
    seconds = {"penstock": [0.1, 0.1, 9.0], "penstock-tcp": [0.3], "tensorflow": [0.5]}
    text = report([Measured(dense, seconds)], list(seconds), "")
    assert "| 100 | 300 | 500 | 5.0 | 1.7 | ≥ 3: met, ≥ 2 by TCP: missed |" in text
