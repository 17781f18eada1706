"""What replicas' values are outside of strategies: device maps, delegates, and their specs."""

from __future__ import annotations

from typing import Any

import pytest

import penstock as tf
from penstock import nest
from penstock.distribute.device_maps import ReplicaDeviceMap, SingleDeviceMap, WorkerDeviceMap
from penstock.distribute.values import (
    DistributedDelegate,
    DistributedValues,
    Mirrored,
    PerReplica,
    regroup,
    select_device,
    select_replica,
)
from penstock.distribute.variables import MirroredVariable
from penstock.internal_paths import device_reductions

BOTH = ReplicaDeviceMap(["/cpu:0", "/gpu:0"])


def test_values_are_found_by_their_devices() -> None:
    values = DistributedValues(BOTH, (1, 2))
    assert values.get("/device:GPU:0") == 2 and values.get() == 1
    with pytest.raises(ValueError, match="gpu:2 not found"):
        values.get("/gpu:2")
    assert SingleDeviceMap("").all_devices == ("/replica:0/task:0/device:CPU:0",)
    with pytest.raises(ValueError, match="Duplicate devices"):
        ReplicaDeviceMap(["/cpu:0", "/device:CPU:0"])


def test_workers_share_values() -> None:
    class Replica:
        replica_id_in_sync_group = 3

    shared = WorkerDeviceMap(["/job:worker/task:0", "/job:worker/task:1"], 2)
    assert shared.select_for_current_replica(["a", "b"], Replica()) == "b"
    for ask in (lambda: shared.devices_by_replica, lambda: shared.replica_for_device("/cpu:0")):
        with pytest.raises(ValueError, match="indexed by replicas"):
            ask()


def test_a_delegate_acts_as_its_value() -> None:
    seven: Any = DistributedDelegate(BOTH, (7, 8))
    assert (seven + 1, 3 + seven, seven + seven, 13 - seven, pow(seven, 3, 10)) == (8, 10, 14, 6, 3)
    assert seven < 12 and not seven >= 12 and -seven == -7 and abs(seven) == 7
    with pytest.raises(TypeError):
        seven[2]


@pytest.mark.parametrize("kind", [PerReplica, Mirrored])
def test_structures_of_replicas_become_one_and_come_apart(kind: Any) -> None:
    whole = regroup(BOTH, [("a1", {"b": "c1"}), ("a2", {"b": "c2"})], kind)
    assert isinstance(whole[1]["b"], kind) and whole[1]["b"].values == ("c1", "c2")
    assert select_replica(1, whole) == ("a2", {"b": "c2"})
    if kind is Mirrored:
        assert select_device("/gpu:0", whole) == ("a2", {"b": "c2"})
    else:
        with pytest.raises(TypeError, match="mirrored across replicas"):
            select_device("/gpu:0", whole)
    with pytest.raises(AssertionError):
        regroup(BOTH, [[1], [1, 2]])


def test_copies_of_a_variable_are_that_variable() -> None:
    copies = [tf.get_variable(name, initializer=1.0, use_resource=True) for name in "ab"]
    mirrored = MirroredVariable(None, BOTH, copies, tf.VariableAggregation.SUM)
    assert regroup(BOTH, copies) is mirrored


def test_values_of_replicas_are_taken_apart_as_tensors_are() -> None:
    values = PerReplica(BOTH, (tf.constant(1.0), tf.constant([5.0, 6.0])))
    added = nest.map_structure(lambda t: t + 10, values, expand_composites=True)
    assert added.device_map == BOTH
    chosen = tf.cond(tf.placeholder_with_default(True, []), lambda: values, lambda: added)
    with tf.Session() as session:
        assert session.run(added.values[0]) == 11
        assert session.run(chosen.values[1]).tolist() == [5, 6]
    with pytest.raises(TypeError, match="Could not build a TypeSpec"):
        _ = PerReplica(BOTH, ({1}, {2}))._type_spec


def test_slices_among_values() -> None:
    slices = tf.IndexedSlices(tf.constant([[1.0]]), tf.constant([0]), tf.constant([3, 1]))
    dense = tf.constant(1.0)
    split = device_reductions.split_by_sparsity([dense, slices, dense])
    assert split == ([dense, dense], [0, 2], [slices], [1])
    pairs: Any = [(split[0], split[1]), (split[2], split[3])]
    assert device_reductions.stitch_values(pairs) == [dense, slices, dense]
    assert device_reductions.contains_indexed_slices(PerReplica(BOTH, (dense, slices)))
    assert not device_reductions.is_indexed_slices(PerReplica(BOTH, (dense, slices)))
