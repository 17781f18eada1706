"""`AutoTrackable`: an object that owns what is assigned to its attributes."""

from __future__ import annotations

from typing import Any

from penstock.ir.trackable import NoDependency, Trackable
from penstock.train.tracking.data_structures import sticky_attribute_assignment
from penstock.train.tracking.owned_functions import functions_of, functions_of_properties


class NotTrackable:
    """Marks a class whose objects checkpoints can't keep: a checkpoint that meets one is refused.

    It counts before and after `Trackable` among the bases of a class.
    """


class AutoTrackable(Trackable):
    """Owns trackable objects, and lists and dictionaries, that are assigned to its attributes.

    >>> model = AutoTrackable()
    >>> model.weights = [tf.Variable(1.0), tf.Variable(2.0)]  # "weights/0", "weights/1"
    """

    def __setattr__(self, name: str, value: Any) -> None:
        try:
            if getattr(self, name) is value:
                return  # may be a property: what it gives can be assigned, to no effect
        except AttributeError:
            pass
        if self._setattr_tracking:
            value = sticky_attribute_assignment(self, name, value)
        super().__setattr__(name, value)

    def __delattr__(self, name: str) -> None:
        delete_tracking(self, name)
        super().__delattr__(name)

    def _no_dependency(self, value: Any) -> Any:
        return NoDependency(value)

    def _list_functions_for_serialization(self, serialization_cache: Any) -> dict[str, Any]:
        return {**functions_of(self), **functions_of_properties(self)}


def delete_tracking(obj: Trackable, name: str) -> None:
    """Lets an object no longer own what it has under a name."""
    obj._unconditional_dependency_names.pop(name, None)
