"""`tf.config.threading`: how many threads new sessions use."""

from __future__ import annotations

from penstock.client.session_defaults import check_change, session_defaults

__all__ = [
    "get_inter_op_parallelism_threads",
    "get_intra_op_parallelism_threads",
    "set_inter_op_parallelism_threads",
    "set_intra_op_parallelism_threads",
]


def get_intra_op_parallelism_threads() -> int:
    """The threads within an operation; 0 leaves the choice to the runtime."""
    return int(session_defaults().intra_op_parallelism_threads)


def set_intra_op_parallelism_threads(num_threads: int) -> None:
    """Sets the threads within an operation; 0 leaves the choice to the runtime."""
    message = "Intra op parallelism cannot be modified after initialization."
    check_change(get_intra_op_parallelism_threads(), num_threads, message)
    session_defaults().intra_op_parallelism_threads = num_threads


def get_inter_op_parallelism_threads() -> int:
    """The threads between independent operations; 0 leaves the choice to the runtime."""
    return int(session_defaults().inter_op_parallelism_threads)


def set_inter_op_parallelism_threads(num_threads: int) -> None:
    """Sets the threads between independent operations; 0 leaves the choice to the runtime."""
    message = "Inter op parallelism cannot be modified after initialization."
    check_change(get_inter_op_parallelism_threads(), num_threads, message)
    session_defaults().inter_op_parallelism_threads = num_threads
