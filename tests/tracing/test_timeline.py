"""Timelines: what a traced step looks like in Chrome's viewer."""

from __future__ import annotations

import json
from typing import Any

from penstock.python.client import device_lib, timeline

import penstock as tf

CPU, GPU = "/job:a/task:0/device:CPU:0", "/device:GPU:0/stream:all"


def _step_stats() -> Any:
    """Two overlapping nodes on a CPU, a third that reads the first, and a kernel of a GPU."""
    stats = tf.RunMetadata().step_stats
    cpu = stats.dev_stats.add(device=CPU)
    for name, label, start, duration in (
        ("a", "a = Const()", 10, 10),
        ("b", "b = Neg(x/_3)", 15, 10),
        ("c", "c = Add(a, b)", 16, 20),
    ):
        node = cpu.node_stats.add(
            node_name=name,
            timeline_label=label,
            all_start_micros=start,
            all_end_rel_micros=duration,
        )
        allocation = node.output.add().tensor_description.allocation_description
        allocation.allocator_name, allocation.requested_bytes = "cpu", 8
    gpu = stats.dev_stats.add(device=GPU)
    gpu.node_stats.add(node_name="d:MatMul", all_start_micros=5, all_end_rel_micros=1)
    return stats


def _events(text: str, phase: str) -> list[dict[str, Any]]:
    return [event for event in json.loads(text)["traceEvents"] if event["ph"] == phase]


def test_bars() -> None:
    text = timeline.Timeline(_step_stats()).generate_chrome_trace_format(show_dataflow=False)
    bars = {event["args"]["name"]: event for event in _events(text, "X")}
    assert {name: (bar["ts"], bar["dur"]) for name, bar in bars.items()} == {
        "a": (10, 10),
        "b": (15, 10),
        "c": (16, 20),
        "d": (5, 1),
    }
    assert bars["c"]["args"] == {"name": "c", "op": "Add", "input0": "a", "input1": "b"}
    assert bars["d"]["name"] == "MatMul"
    # Nodes that run at the same time are in different rows.
    assert len({bars[name]["tid"] for name in "abc"}) == 3
    names = [event["args"]["name"] for event in _events(text, "M")]
    assert names[:3] == ["Allocators", f"{CPU} Compute", f"{CPU} Tensors"]


def test_arrows_and_memory() -> None:
    made = timeline.Timeline(_step_stats())
    text = made.generate_chrome_trace_format(show_dataflow=True, show_memory=True)
    assert [event["name"] for event in _events(text, "s")] == ["a", "b"]
    assert [event["ts"] for event in _events(text, "t")] == [16, 16]
    assert {event["name"] for event in _events(text, "D")} == {"a", "b", "c"}
    maximum = made.analyze_step_stats().allocator_maximums["cpu"]
    assert maximum == timeline.AllocationMaximum(16, 24, {"a", "b", "c"})


def test_a_step_without_statistics() -> None:
    text = timeline.Timeline(tf.RunMetadata().step_stats).generate_chrome_trace_format()
    assert _events(text, "X") == []


def test_local_devices() -> None:
    (cpu,) = device_lib.list_local_devices()
    assert (cpu.name, cpu.device_type, cpu.memory_limit) == ("/device:CPU:0", "CPU", 256 << 20)
    assert cpu.incarnation and cpu == device_lib.list_local_devices()[0]
    config = tf.ConfigProto(device_count={"CPU": 2})
    assert [each.name for each in device_lib.list_local_devices(config)][1] == "/device:CPU:1"
