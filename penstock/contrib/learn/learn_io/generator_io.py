"""Dictionaries that a generator yields, as inputs of estimators."""

from __future__ import annotations

from collections.abc import Callable, Container
from types import FunctionType, GeneratorType
from typing import Any

from penstock.estimator.inputs.feeding import enqueue_data


def generator_input_fn(
    x: Any,
    target_key: Any = None,
    batch_size: int = 128,
    num_epochs: int | None = 1,
    shuffle: bool = True,
    queue_capacity: int = 1000,
    num_threads: int = 1,
    pad_value: Any = None,
) -> Callable[[], Any]:
    """A function that gives batches of the dictionaries that a generator yields.

    Args:
      x: a function that makes the generator.
      target_key: the name of the labels, or names of several; they are no features then.
      pad_value: fills up sequences that are shorter than others of their batch.
    """
    names = _yielded_names(x)
    targets = _target_names(target_key, names)

    def input_fn() -> Any:
        queue = enqueue_data(
            x,
            queue_capacity,
            shuffle=shuffle,
            num_threads=num_threads,
            enqueue_size=batch_size,
            num_epochs=num_epochs,
            pad_value=pad_value,
        )
        take = queue.dequeue_many if num_epochs is None else queue.dequeue_up_to
        rows = take(batch_size)
        rows = rows if isinstance(rows, list) else [rows]
        features = dict(zip(names, rows, strict=True))
        if not targets:
            return features
        labels = {name: features.pop(name) for name in targets}
        return features, labels if len(labels) > 1 else labels[targets[0]]

    return input_fn


def _yielded_names(x: Any) -> list[str]:
    if not isinstance(x, FunctionType):
        raise TypeError(f"x must be generator function; got {type(x).__name__}")
    generator = x()
    if not isinstance(generator, GeneratorType):
        raise TypeError(f"x() must be generator; got {type(generator).__name__}")
    row = next(generator)
    if not isinstance(row, dict):
        raise TypeError(f"x() must yield dict; got {type(row).__name__}")
    return sorted(row)


def _target_names(target_key: Any, names: list[str]) -> list[str]:
    if target_key is None:
        return []
    if isinstance(target_key, str):
        return [target_key]
    expected = "target_key must be str or Container of str; got"
    if not isinstance(target_key, Container):
        raise TypeError(f"{expected} {type(target_key).__name__}")
    targets: list[str] = list(target_key)  # type: ignore[call-overload]
    for name in targets:
        if not isinstance(name, str):
            raise TypeError(f"{expected} {type(name).__name__}")
        if name not in names:
            raise KeyError(f"target_key not in yielded dict. Expected {names} keys; got {name}")
    return targets
