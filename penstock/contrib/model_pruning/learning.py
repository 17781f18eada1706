"""slim's training loop, with a pruning operation after each step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.contrib.slim import learning

train_step = learning.train_step


def train(
    train_op: Any,
    logdir: Any,
    mask_update_op: Any,
    train_step_fn: Callable[..., tuple[Any, Any]] = train_step,
    *args: Any,
    **kwargs: Any,
) -> Any:
    """Trains as `slim.learning.train` does, whose further arguments it takes.

    Args:
      mask_update_op: run after each step, for example `Pruning.conditional_mask_update_op()`.
    """

    def pruned(session: Any, train_op: Any, global_step: Any, kwargs: Any) -> tuple[Any, Any]:
        loss, should_stop = train_step_fn(session, train_op, global_step, kwargs)
        session.run(mask_update_op)
        return loss, should_stop

    return learning.train(train_op, logdir, pruned, *args, **kwargs)
