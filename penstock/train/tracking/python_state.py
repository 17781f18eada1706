"""State of the Python program in checkpoints: strings, and NumPy arrays."""

from __future__ import annotations

import io
from functools import partial
from typing import Any

import numpy as np

from penstock.ir.trackable import Trackable
from penstock.train.tracking.saveables import PythonStringStateSaveable


class PythonState(Trackable):
    """State that is saved as a string: a subclass says how."""

    def serialize(self) -> Any:
        """The state as a string."""
        raise NotImplementedError

    def deserialize(self, string_value: Any) -> None:
        """Takes the state over from a string."""
        raise NotImplementedError

    def _gather_saveables_for_checkpoint(self) -> dict[str, Any]:
        return {
            "py_state": partial(
                PythonStringStateSaveable,
                state_callback=self.serialize,
                restore_callback=self.deserialize,
            )
        }


class _Array(PythonState):
    """One array of a `NumpyState`."""

    def __init__(self, array: Any):
        self.array = array

    def serialize(self) -> bytes:
        buffer = io.BytesIO()
        np.save(buffer, self.array, allow_pickle=False)
        return buffer.getvalue()

    def deserialize(self, string_value: bytes) -> None:
        self.array = np.load(io.BytesIO(string_value), allow_pickle=False)


class NumpyState(Trackable):
    """Saves and restores the arrays that are assigned to its attributes.

    A checkpoint brings back attributes that the object does not have yet.
    """

    def _lookup_dependency(self, name: str) -> Trackable | None:
        known = super()._lookup_dependency(name)
        if known is None:
            known = self._unconditional_dependency_names[name] = _Array(np.array([]))
            self.__dict__[name] = known
        return known

    def __getattribute__(self, name: str) -> Any:
        value = super().__getattribute__(name)
        return value.array if isinstance(value, _Array) else value

    def __setattr__(self, name: str, value: Any) -> None:
        if not isinstance(value, (np.ndarray, np.generic)):
            if isinstance(getattr(type(self), name, None), property):
                super().__setattr__(name, value)
                return
            raise NotImplementedError(
                f"Assigned {value} to the {name} property of {self}, which is not a NumPy array. "
                "Currently mixing NumPy arrays and other trackable objects is not supported."
            )
        holder = self.__dict__.get(name)
        if isinstance(holder, _Array):
            holder.array = value
            return
        self.__dict__[name] = self._track_trackable(_Array(value), name=name, overwrite=True)
