"""Device names, with values looked up in TensorFlow's `tf.DeviceSpec`."""

from __future__ import annotations

import pickle
from types import SimpleNamespace

import pytest

from penstock.devices import DeviceSpec, canonical_name, check_valid, merge_device

CANONICAL = {
    "": "",
    "/": "",
    "/cpu:0": "/device:CPU:0",
    "/CPU:0": "/device:CPU:0",
    "/Cpu:0": "/device:CPU:0",
    "cpu:0": "/device:CPU:0",
    "/gpu:1": "/device:GPU:1",
    "/gpu": "/device:GPU:*",
    "/GPU:*": "/device:GPU:*",
    "/tpu:0": "/device:TPU:0",
    "/device:gpu:0": "/device:GPU:0",
    "/device:Cpu:0": "/device:Cpu:0",
    "/device:custom:2": "/device:custom:2",
    "/device:XLA_CPU:0": "/device:XLA_CPU:0",
    "/device:*:*": "/device:*:*",
    "/job:*": "/job:*",
    "job:ps": "/job:ps",
    "//job:a/": "/job:a",
    "/job:": "/job:",
    "/job:ps/job:w": "/job:w",
    "/task:1/task:2": "/task:2",
    "/task:-1": "/task:-1",
    "/device:CPU:0/job:x": "/job:x/device:CPU:0",
    "/job:w/replica:2/task:1/cpu:3": "/job:w/replica:2/task:1/device:CPU:3",
}


@pytest.mark.parametrize(("given", "canonical"), CANONICAL.items())
def test_canonical_name(given: str, canonical: str) -> None:
    check_valid(given)
    assert canonical_name(given) == canonical
    assert DeviceSpec.from_string(given).to_string() == canonical
    assert canonical_name(canonical) == canonical


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ("/foo", "Unknown attribute: 'foo'"),
        ("/foo:1", "Unknown attribute: 'foo'"),
        ("/xla_cpu:0", "Unknown attribute: 'xla_cpu'"),
        ("/device", "Unknown attribute: 'device'"),
        ("/device:GPU", "Unknown attribute: 'device'"),
        ("/device:a:b:c", "Unknown attribute: 'device'"),
        ("/DEVICE:cpu:0", "Unknown attribute: 'DEVICE'"),
        ("/Job:a", "Unknown attribute: 'Job'"),
        ("/job", "Unknown attribute: 'job'"),
        ("/job:a:b", "Unknown attribute: 'job'"),
        ("/gpu:0:1", "Unknown attribute: 'gpu'"),
        ("/cpu:0/gpu:0", "Cannot specify multiple device types"),
        ("/cpu:0/device:GPU:1", "Cannot specify multiple device types"),
        ("/device:CPU:0/device:GPU:1", "Cannot specify multiple device types"),
        ("/task:x", "needs an integer, got 'x'"),
        ("/task:*", "needs an integer"),
        ("/replica:*", "needs an integer"),
        ("/GPU:", "needs an integer"),
    ],
)
def test_invalid(given: str, reason: str) -> None:
    for parse in (check_valid, canonical_name, DeviceSpec.from_string, merge_device):
        with pytest.raises(ValueError, match=reason):
            parse(given)


def test_fields() -> None:
    spec = DeviceSpec.from_string("/job:w/replica:2/task:1/gpu:*")
    assert (spec.job, spec.replica, spec.task) == ("w", 2, 1)
    assert (spec.device_type, spec.device_index) == ("GPU", None)
    spec.device_index = 3
    spec.job = None
    assert spec.to_string() == "/replica:2/task:1/device:GPU:3"


def test_constructor_converts() -> None:
    spec = DeviceSpec(job=1, task="1", device_type="gpu", device_index="0")
    assert (spec.job, spec.task, spec.device_index) == ("1", 1, 0)
    assert spec.to_string() == "/job:1/task:1/device:GPU:0"
    assert DeviceSpec(device_type="Gpu").to_string() == "/device:Gpu:*"
    assert DeviceSpec(device_index=0).to_string() == ""
    with pytest.raises(ValueError, match="x"):
        DeviceSpec(task="x")


def test_parse_from_string_replaces_every_field() -> None:
    spec = DeviceSpec(job="a", task=3)
    assert spec.parse_from_string("/cpu:0") is spec
    assert spec.to_string() == "/device:CPU:0"


def test_merging_specs() -> None:
    spec = DeviceSpec(job="a", device_type="CPU", device_index=1)
    over = DeviceSpec(job="b", task=2, device_type="GPU")
    assert spec.make_merged_spec(over).to_string() == "/job:b/task:2/device:GPU:1"
    assert spec.to_string() == "/job:a/device:CPU:1"
    spec.merge_from(over)
    assert spec.to_string() == "/job:b/task:2/device:GPU:1"
    assert spec.replace(job=None, task=0).to_string() == "/task:0/device:GPU:1"
    with pytest.raises(TypeError):
        spec.replace(colour="red")


def test_equality_and_text() -> None:
    spec = DeviceSpec(job="a", task=1)
    assert spec == DeviceSpec.from_string("/job:a/task:1")
    assert hash(spec) == hash(DeviceSpec.from_string("/job:a/task:1"))
    assert spec != DeviceSpec(job="b")
    assert spec != "/job:a/task:1"
    assert pickle.loads(pickle.dumps(spec)) == spec  # noqa: S301 - our own bytes
    assert repr(spec) == (
        "<DeviceSpec(job=a, replica=None, task=1, device_type=None, device_index=None)>"
    )
    assert canonical_name(spec) == "/job:a/task:1"
    assert canonical_name(None) == ""


# scope, device of the node so far (from scopes further in), result
MERGES = [
    ("/job:a", "", "/job:a"),
    ("/job:a", "/job:ps", "/job:ps"),
    ("/job:a", "/gpu:1", "/job:a/device:GPU:1"),
    ("/gpu:0", "/job:ps", "/job:ps/device:GPU:0"),
    ("/gpu:0", "/cpu:*", "/device:CPU:0"),
    ("/cpu:*", "/gpu:1", "/device:GPU:1"),
    ("/job:a/task:1/cpu:0", "/job:w/task:2/gpu:2", "/job:w/task:2/device:GPU:2"),
    ("", "/cpu:0", "/device:CPU:0"),
]


@pytest.mark.parametrize(("scope", "device", "merged"), MERGES)
def test_inner_scopes_win(scope: str, device: str, merged: str) -> None:
    function = merge_device(scope)
    node = SimpleNamespace(device=device)
    assert function(node).to_string() == merged
    assert function.merge_string(device) == merged
    assert merge_device(DeviceSpec.from_string(scope)).merge_string(device) == merged


def test_null_merge() -> None:
    assert merge_device("").is_null_merge
    assert merge_device(None).is_null_merge
    assert merge_device(DeviceSpec(device_index=1)).is_null_merge
    assert not merge_device("/cpu:0").is_null_merge


def test_mergers_are_shared() -> None:
    assert merge_device("/cpu:0") is merge_device("/device:CPU:0")
