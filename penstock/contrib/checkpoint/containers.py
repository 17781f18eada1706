"""Objects that are owned under names which are made for them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from penstock.ir.trackable import Trackable
from penstock.ops.variable_creation import variable_creator_scope
from penstock.train.tracking import TrackableDataStructure


class UniqueNameTracker(TrackableDataStructure):
    """Owns objects under names that it makes unique: "x", "x_1", …"""

    def __init__(self) -> None:
        self._name_counts: dict[str, int] = {}

    @property
    def _values(self) -> Iterable[Any]:
        return [reference.ref for reference in self._checkpoint_dependencies]

    def track(self, trackable: Any, base_name: str) -> Any:
        """Owns an object, and returns it."""
        if not isinstance(trackable, Trackable):
            raise ValueError(
                f"Expected a trackable value, got {trackable} which does not inherit from "
                "tf.track.Trackable."
            )
        count = self._name_counts.get(base_name, 0)
        while self._lookup_dependency(name := f"{base_name}_{count}" if count else base_name):
            count += 1
        self._name_counts[base_name] = count + 1
        return self._track_value(trackable, name=name)


@contextmanager
def capture_dependencies(template: Any) -> Iterator[None]:
    """Lets an object own the variables that are made here, under their names in its scope."""
    prefix = f"{template.variable_scope.name}/"

    def owned(next_creator: Callable[..., Any], **kwargs: Any) -> Any:
        variable = next_creator(**kwargs)
        name = kwargs.get("name")
        if name is not None and name.startswith(prefix):
            template._track_trackable(variable, name=name[len(prefix) :], overwrite=True)
        return variable

    with variable_creator_scope(owned):
        yield
