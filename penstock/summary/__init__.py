"""`tf.summary`: values of a step for TensorBoard."""

from penstock.ops.summaries import merge, merge_all, scalar
from penstock.proto import Event, SessionLog, Summary

__all__ = ["Event", "SessionLog", "Summary", "merge", "merge_all", "scalar"]
