"""`tensorflow.python.distribute.summary_op_util`: which replicas of a model write summaries."""

from penstock.ops.summaries import replica


def skip_summary() -> bool:
    """Whether this replica leaves its summaries to the first one."""
    return replica.number > 0
