"""`tf.contrib.testing`: helpers for tests of summaries."""

from penstock.contrib.testing.fake_summary_writer import FakeSummaryWriter
from penstock.contrib.testing.written_summaries import (
    assert_summary,
    latest_event_file,
    latest_events,
    latest_summaries,
    simple_values_from_events,
    to_summary_proto,
)

__all__ = [
    "FakeSummaryWriter",
    "assert_summary",
    "latest_event_file",
    "latest_events",
    "latest_summaries",
    "simple_values_from_events",
    "to_summary_proto",
]
