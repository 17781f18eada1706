"""Reading back what a program has written to its event files."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from penstock.proto import Summary
from penstock.summary import summary_iterator


def assert_summary(
    expected_tags: Iterable[str], expected_simple_values: Mapping[str, float], summary_proto: Any
) -> None:
    """Checks the tags of a summary and, where they are given, its values to two digits."""
    for value in summary_proto.value:
        if value.tag in expected_simple_values:
            np.testing.assert_almost_equal(
                value.simple_value,
                expected_simple_values[value.tag],
                decimal=2,
                err_msg=value.tag,
            )
    expected, actual = set(expected_tags), {value.tag for value in summary_proto.value}
    if expected != actual:
        raise ValueError(f"Expected tags {expected}, got {actual}.")


def to_summary_proto(summary_str: bytes) -> Any:
    """The message of a serialized summary."""
    return Summary.FromString(summary_str)


def latest_event_file(base_dir: str) -> str | None:
    """The last event file of a directory."""
    paths = sorted(glob.glob(os.path.join(base_dir, "events.*")))
    return paths[-1] if paths else None


def latest_events(base_dir: str) -> Iterable[Any]:
    """The events of the last event file."""
    path = latest_event_file(base_dir)
    return summary_iterator(path) if path else []


def latest_summaries(base_dir: str) -> list[Any]:
    """The events with summaries of the last event file."""
    return [event for event in latest_events(base_dir) if event.HasField("summary")]


def simple_values_from_events(events: Iterable[Any], tags: Iterable[str]) -> dict[str, float]:
    """The value of the latest step for each of the tags."""
    latest: dict[str, tuple[int, float]] = {}
    for event in events:
        for value in event.summary.value if event.HasField("summary") else ():
            if value.tag not in tags:
                continue
            if not value.HasField("simple_value"):
                raise ValueError(f"Summary for {value.tag} is not a simple_value.")
            if value.tag not in latest or event.step > latest[value.tag][0]:
                latest[value.tag] = event.step, value.simple_value
    return {tag: value for tag, (_, value) in latest.items()}
