"""The task that leads collective groups, told what others say, without a network."""

from __future__ import annotations

import itertools
import random
from typing import Any

import pytest

from penstock import errors
from penstock.distributed.collective_groups import GroupLeader

W0, W1, W2 = (f"/job:worker/replica:0/task:{i}" for i in range(3))


@pytest.fixture
def leader() -> GroupLeader:
    names = (f"g{i}" for i in itertools.count(1))
    return GroupLeader(lambda: next(names), lambda generation: ("127.0.0.1", 1234))


def join(leader: GroupLeader, task: str, size: int = 2, device: int = 0, gpu: str = "") -> Any:
    name = f"{task}/device:CPU:{device}"
    return leader.tell(task, {"say": "join", "group": 1, "size": size, "device": name, "gpu": gpu})


def ready(leader: GroupLeader, task: str, instance: int = 5, **changed: Any) -> Any:
    message = {"say": "ready", "group": 1, "generation": "g1", "instance": instance}
    message |= {"kind": "Add, Id", "dtype": "float32", "shape": [2], "source": False}
    return leader.tell(task, {**message, **changed})


def formed(leader: GroupLeader, *tasks: str) -> list[Any]:
    told = [each for task in tasks for each in join(leader, task, len(tasks))]
    assert [message["hear"] for _, message in told] == ["formed"] * len(tasks)
    return told


def test_a_group_is_formed_when_all_have_joined(leader: GroupLeader) -> None:
    assert join(leader, W1) == []
    told = join(leader, W0)
    assert [task for task, _ in told] == [W0, W1]  # in the order of tasks, not of joining
    message = told[0][1]
    assert message["members"] == [f"{W0}/device:CPU:0", f"{W1}/device:CPU:0"]
    assert message["store"] == ["127.0.0.1", 1234] and message["backend"] == "gloo"


def test_devices_are_ordered_by_their_numbers(leader: GroupLeader) -> None:
    told = [each for i in (10, 9, 0) for each in join(leader, W0, 3, i)]
    members = told[0][1]["members"]
    assert [name.rpartition(":")[2] for name in members] == ["0", "9", "10"]
    assert told[0][1]["store"] == []  # one task needs no network


@pytest.mark.parametrize(("gpus", "backend"), [("ab", "nccl"), ("aa", "gloo"), (["a", ""], "gloo")])
def test_nccl_is_for_gpus_of_their_own(leader: GroupLeader, gpus: Any, backend: str) -> None:
    join(leader, W0, gpu=gpus[0])
    assert join(leader, W1, gpu=gpus[1])[0][1]["backend"] == backend


def test_an_instance_begins_when_all_are_ready_and_is_numbered(leader: GroupLeader) -> None:
    formed(leader, W0, W1)
    assert ready(leader, W1, 5) == ready(leader, W1, 6) == ready(leader, W0, 7) == []
    first = ready(leader, W0, 6)
    second = ready(leader, W0, 5)
    assert [(task, m["instance"], m["number"]) for task, m in first] == [(W0, 6, 1), (W1, 6, 1)]
    assert [m["number"] for _, m in second] == [2, 2]


def test_the_same_instance_of_two_steps_does_not_mix(leader: GroupLeader) -> None:
    formed(leader, W0, W1)
    assert ready(leader, W0) == ready(leader, W0) == []
    assert len(ready(leader, W1)) == len(ready(leader, W1)) == 2


@pytest.mark.parametrize(
    ("change", "code", "text"),
    [
        ({"shape": [3]}, errors.INVALID_ARGUMENT, "Shape mismatch"),
        ({"dtype": "int32"}, errors.INTERNAL, "type mismatch"),
        ({"kind": "gather"}, errors.INTERNAL, "different things"),
    ],
)
def test_tasks_that_disagree_fail_the_instance_alone(
    leader: GroupLeader, change: Any, code: int, text: str
) -> None:
    formed(leader, W0, W1)
    ready(leader, W0)
    told = ready(leader, W1, **change)
    assert [(task, m["hear"], m["code"]) for task, m in told] == [
        (W0, "failed", code),
        (W1, "failed", code),
    ]
    assert text in told[0][1]["reason"]
    ready(leader, W0)
    assert [m["hear"] for _, m in ready(leader, W1)] == ["go", "go"]


def test_a_broadcast_has_one_source(leader: GroupLeader) -> None:
    formed(leader, W0, W1)
    for sources, heard in (((True, True), "failed"), ((False, False), "failed")):
        ready(leader, W0, kind="broadcast", source=sources[0])
        told = ready(leader, W1, kind="broadcast", source=sources[1])
        assert [m["hear"] for _, m in told] == [heard] * 2
    ready(leader, W0, kind="broadcast")
    told = ready(leader, W1, kind="broadcast", source=True)
    assert [(m["hear"], m["source"]) for _, m in told] == [("go", 1)] * 2


def test_who_withdraws_fails_those_that_wait(leader: GroupLeader) -> None:
    formed(leader, W0, W1, W2)
    ready(leader, W0)
    ready(leader, W1)
    gone = {"say": "withdraw", "group": 1, "generation": "g1", "instance": 5, "reason": "Ctrl-C"}
    told = leader.tell(W1, gone)
    assert [(task, m["hear"], m["code"]) for task, m in told] == [(W0, "failed", errors.ABORTED)]
    assert "Ctrl-C" in told[0][1]["reason"] and W1 in told[0][1]["reason"]
    assert leader.tell(W1, gone) == []


def test_a_lost_task_breaks_its_groups(leader: GroupLeader) -> None:
    formed(leader, W0, W1)
    told = leader.lost(W1, f"lost {W1}")
    assert [(task, m["hear"], m["code"]) for task, m in told] == [
        (W0, "broken", errors.UNAVAILABLE),
        (W1, "broken", errors.UNAVAILABLE),
    ]
    assert ready(leader, W0) == []  # of the earlier life of the group
    assert join(leader, W0) == []
    assert leader.lost(W0, "lost") == []  # it had only joined
    assert join(leader, W1) == []
    assert [m["generation"] for _, m in join(leader, W0)] == ["g2", "g2"]


def test_a_task_that_comes_back_breaks_the_group_for_the_others(leader: GroupLeader) -> None:
    formed(leader, W0, W1)
    told = join(leader, W1)
    assert [(task, m["hear"], m["code"]) for task, m in told] == [(W0, "broken", errors.ABORTED)]
    assert len(join(leader, W0)) == 2


def test_a_group_has_one_size(leader: GroupLeader) -> None:
    join(leader, W0, 3)
    ((task, message),) = join(leader, W1, 2)
    assert (task, message["hear"], message["code"]) == (W1, "broken", errors.INTERNAL)
    assert "but that group has size 3" in message["reason"]


def test_a_group_that_lacks_a_task_is_looked_into_and_broken(leader: GroupLeader) -> None:
    cluster = [W0, W1, W2, "/job:ps/replica:0/task:0"]
    join(leader, W0, 3)
    assert [leader.overdue(now, 20.0) for now in (5.0, 24.0, 25.0, 44.0, 45.0)] == [
        *([], [], [1]),
        *([], [1]),
    ]
    assert leader.lacking(1, cluster) == [W1, W2]  # no parameter server
    join(leader, W2, 3)
    assert leader.missing(1, [W2]) == []  # which came when it was just being looked for
    ((task, message), (other, _)) = leader.missing(1, [W1])
    assert (task, other) == (W0, W2)
    assert (message["hear"], message["code"]) == ("broken", errors.UNAVAILABLE)
    assert "lacks 1 of its 3 members" in message["reason"] and W1 in message["reason"]
    assert leader.overdue(99.0, 20.0) == leader.lacking(1, cluster) == leader.missing(1, [W1]) == []


def test_a_group_that_is_formed_is_not_looked_into(leader: GroupLeader) -> None:
    formed(leader, W0, W1)
    assert leader.overdue(0.0, 20.0) == leader.overdue(99.0, 20.0) == []
    assert leader.missing(1, [W2]) == []


@pytest.mark.parametrize("seed", range(20))
def test_all_tasks_hear_the_same_order(leader: GroupLeader, seed: int) -> None:
    """Whatever order tasks come to instances in, each instance begins once, alike for all."""
    rng = random.Random(seed)
    formed(leader, W0, W1, W2)
    left = {task: rng.sample(range(20), 20) for task in (W0, W1, W2)}
    heard: dict[str, list[tuple[int, int]]] = {task: [] for task in left}
    while any(left.values()):
        task = rng.choice([task for task, instances in left.items() if instances])
        for told, message in ready(leader, task, left[task].pop()):
            heard[told].append((message["number"], message["instance"]))
    assert heard[W0] == heard[W1] == heard[W2]
    assert [number for number, _ in heard[W0]] == list(range(1, 21))
    assert sorted(instance for _, instance in heard[W0]) == list(range(20))
