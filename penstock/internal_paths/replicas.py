"""What TensorFlow's modules ask about the replicas of a model, of which there is one."""


def skip_summary() -> bool:
    """Whether this replica leaves its summaries to another."""
    return False
