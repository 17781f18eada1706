"""`TPUClusterResolver`: addresses pass through, names are looked up in the cloud's service."""

from __future__ import annotations

from typing import Any

import pytest

import penstock as tf

Resolver = tf.contrib.cluster_resolver.TPUClusterResolver


class FakeService:
    """What the cloud's client answers with, and what it was asked."""

    def __init__(self, answer: dict[str, Any]):
        self._answer = answer
        self.asked = ""

    def projects(self) -> FakeService:
        return self

    locations = nodes = projects

    def get(self, name: str) -> FakeService:
        self.asked = name
        return self

    def execute(self) -> dict[str, Any]:
        return self._answer


READY = {
    "state": "READY",
    "networkEndpoints": [
        {"ipAddress": "10.1.2.3", "port": 8470},
        {"ipAddress": "10.1.2.4", "port": 8470},
    ],
}


@pytest.fixture(autouse=True)
def no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("TPU_NAME", "KUBE_GOOGLE_CLOUD_TPU_ENDPOINTS", "TPU_API_DISCOVERY_URL"):
        monkeypatch.delenv(name, raising=False)


def test_an_address() -> None:
    resolver = Resolver("grpc://10.2.3.4:8470")
    assert resolver.master() == resolver.get_master() == "grpc://10.2.3.4:8470"
    assert resolver.cluster_spec().as_dict() == {"worker": ["10.2.3.4:8470"]}
    assert resolver.get_job_name() is None
    assert tf.distribute.cluster_resolver.TPUClusterResolver is Resolver


@pytest.mark.parametrize("address", ["", "local", "localhost:12345"])
def test_no_cluster(address: str) -> None:
    resolver = Resolver(tpu=address)
    assert resolver.master() == address and resolver.cluster_spec() is None


def test_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="Please provide a TPU Name"):
        Resolver()
    monkeypatch.setenv("TPU_NAME", "grpc://1.1.1.1:2")
    assert Resolver().master() == "grpc://1.1.1.1:2"
    monkeypatch.setenv("KUBE_GOOGLE_CLOUD_TPU_ENDPOINTS", "grpc://2.2.2.2:3,grpc://2.2.2.3:3")
    resolver = Resolver()
    assert resolver.master() == "grpc://2.2.2.2:3"
    assert resolver.cluster_spec().as_dict() == {"worker": ["2.2.2.2:3", "2.2.2.3:3"]}


def test_a_name() -> None:
    service = FakeService(READY)
    resolver = Resolver(
        ["mine"],
        zone="us-a",
        project="p",
        job_name="tpu_worker",
        coordinator_name="coordinator",
        coordinator_address="10.128.1.5:10203",
        service=service,
    )
    assert resolver.master() == "grpc://10.1.2.3:8470" and resolver.get_job_name() == "tpu_worker"
    assert service.asked == "projects/p/locations/us-a/nodes/mine"
    assert resolver.cluster_spec().as_dict() == {
        "tpu_worker": ["10.1.2.3:8470", "10.1.2.4:8470"],
        "coordinator": ["10.128.1.5:10203"],
    }


def test_a_coordinator_of_its_own() -> None:
    place: dict[str, Any] = {"zone": "z", "project": "p", "service": FakeService(READY)}
    resolver = Resolver("mine", coordinator_name="coordinator", **place)
    (address,) = resolver.cluster_spec().job_tasks("coordinator")
    with tf.Session(f"grpc://{address}") as session:
        assert session.run(tf.constant(1) + 1) == 2
    resolver._server.stop()
    at_hand = Resolver("grpc://10.2.3.4:8470", coordinator_name="coordinator")
    assert at_hand.cluster_spec().jobs == ["worker"]


def test_refused() -> None:
    with pytest.raises(ValueError, match="At least one TPU"):
        Resolver([])
    with pytest.raises(NotImplementedError, match="multiple TPUs"):
        Resolver(["a", "b"])
    creating = FakeService({"state": "CREATING"})
    with pytest.raises(RuntimeError, match='"mine" is not yet ready; state: "CREATING"'):
        Resolver("mine", zone="z", project="p", service=creating).cluster_spec()
    with pytest.raises(ValueError, match="Could not lookup TPU metadata"):
        Resolver("mine", zone="z", project="p", service=object()).cluster_spec()
