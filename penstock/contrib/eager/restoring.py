"""Variables that begin with the values of a checkpoint."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import penstock as tf


@contextmanager
def restore_variables_on_create(
    save_path: str | None, map_func: Callable[[str], str] | None = None
) -> Iterator[None]:
    """A `with` block in which new variables get their values from a checkpoint, each once.

    Args:
      save_path: the checkpoint; if empty, nothing is restored.
      map_func: makes the name in the checkpoint of a variable's name.
    """
    if not tf.executing_eagerly():
        raise ValueError(
            "Currently, restore_variables_on_create can only be used with eager execution enabled."
        )
    if not save_path:
        yield
        return
    if map_func is not None and not callable(map_func):
        raise ValueError("map_func must be callable.")
    reader = tf.train.load_checkpoint(save_path)
    unused = {name for name, _ in tf.train.list_variables(save_path)}
    known = frozenset(unused)

    def restored(next_creator: Callable[..., Any], **kwargs: Any) -> Any:
        variable = next_creator(**kwargs)
        name = variable.name.split(":")[0]
        name = name if map_func is None else map_func(name)
        if name not in known:
            raise tf.errors.NotFoundError(None, None, f"{name} not found in checkpoint")
        if name in unused:
            variable.assign(reader.get_tensor(name))
            unused.discard(name)
        return variable

    with tf.variable_creator_scope(restored):
        yield
