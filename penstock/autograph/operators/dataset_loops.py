"""`for` over a dataset: the dataset itself goes through its elements, by `reduce`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import penstock as tf
from penstock.autograph.operators.agreement import check_loop_keeps
from penstock.autograph.operators.state import State


def over_dataset(
    dataset: Any, body: Callable[[Any], Any], goes_on: Callable[[], Any] | None, state: State
) -> None:
    """Runs a loop's body for each element, as long as it goes on."""
    initial = state.get() or (tf.constant(0),)  # `reduce` needs something to reduce to
    has_state = bool(state.get())

    def after(values: tuple[Any, ...], element: Any) -> tuple[Any, ...]:
        if has_state:
            state.set(values)
        body(element)
        if not has_state:
            return values
        found = state.get()
        check_loop_keeps(state.names, values, found, include_shapes=False)
        return found

    if goes_on is None:
        final = dataset.reduce(initial, after)
    else:
        final = _as_long_as(dataset, after, goes_on, state, initial).reduce(initial, _last)
    if has_state:
        state.set(final)


def _as_long_as(
    dataset: Any, after: Any, goes_on: Callable[[], Any], state: State, initial: tuple[Any, ...]
) -> Any:
    """The variables after each element, up to the iteration that does not take place."""

    def step(values: tuple[Any, ...], element: Any) -> Any:
        state.set(values)
        more = goes_on()
        new = tf.cond(more, lambda: after(values, element), lambda: values, strict=True)
        return new, (new, more)

    steps = dataset.apply(tf.data.experimental.scan(initial, step))
    return steps.apply(tf.data.experimental.take_while(lambda _, more: more))


def _last(_: tuple[Any, ...], step: Any) -> tuple[Any, ...]:
    values, _more = step
    return tuple(values)
