"""Variables of checkpoints, by the arguments that `tf.contrib.framework` has for `tf.train`'s."""

from __future__ import annotations

from typing import Any

from penstock.train import checkpoint_variables

__all__ = ["init_from_checkpoint", "list_variables", "load_checkpoint", "load_variable"]


def load_checkpoint(filepattern: Any) -> Any:
    """A reader of a checkpoint, or of the latest one of a directory."""
    return checkpoint_variables.load_checkpoint(filepattern)


def load_variable(checkpoint_dir: Any, name: str) -> Any:
    """The value of a variable in a checkpoint."""
    return checkpoint_variables.load_variable(checkpoint_dir, name)


def list_variables(checkpoint_dir: Any) -> list[tuple[str, list[int]]]:
    """The names and shapes of the variables in a checkpoint."""
    return checkpoint_variables.list_variables(checkpoint_dir)


def init_from_checkpoint(checkpoint_dir: Any, assignment_map: Any) -> None:
    """Makes the initializers of variables restore them; see `tf.train.init_from_checkpoint`."""
    checkpoint_variables.init_from_checkpoint(checkpoint_dir, assignment_map)
