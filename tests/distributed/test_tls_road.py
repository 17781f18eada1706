"""Tasks that know each other by certificates."""

import socket
import threading

import pytest
import torch

import penstock as tf
from penstock.cli import main
from penstock.distributed.credentials import read_credentials
from tests.distributed.in_process_cluster import InProcessCluster


@pytest.fixture(scope="module")
def credentials(tmp_path_factory):
    folder = tmp_path_factory.mktemp("credentials") / "cluster"
    assert main(["certs", str(folder), "localhost"]) == 0
    return read_credentials(str(folder))


def test_large_values_in_both_directions_at_once(credentials):
    with tf.Graph().as_default(), InProcessCluster(["ps:0", "worker:0"], credentials) as cluster:
        x = tf.placeholder(tf.float32, [None])
        with tf.device("/job:ps/task:0"):
            doubled = x * 2.0
        runtime = cluster.runtime()
        step = runtime.compile([x], [doubled], [])
        right = []

        def run(number):
            value = torch.full((1 << 19,), float(number))
            for _ in range(4):
                right.append(bool((step.run([value])[0] == 2.0 * number).all()))

        threads = [threading.Thread(target=run, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert right == [True] * 16
        runtime.close()


def test_who_speaks_no_tls_is_told_nothing(credentials):
    with InProcessCluster(["ps:0", "worker:0"], credentials) as cluster:
        road = cluster.roads[cluster.names[0]]
        with socket.create_connection(("127.0.0.1", road.address.port)) as sock:
            sock.sendall(b"GET / HTTP/1.1\r\n\r\n")
            try:
                answer = sock.recv(1000)
            except ConnectionResetError:
                answer = b""
            assert b"challenge" not in answer


def test_another_clusters_certificate_is_refused(credentials, tmp_path):
    assert main(["certs", str(tmp_path / "other"), "localhost"]) == 0
    with InProcessCluster(["ps:0", "worker:0"], credentials) as cluster:
        ps, worker = cluster.names
        cluster.peers[worker]._credentials = read_credentials(str(tmp_path / "other"))
        with pytest.raises(tf.errors.UnavailableError, match=ps):
            cluster.peers[worker].connect(ps)
