"""What object-based checkpoints save beside variables: tensors as they are, and Python state."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

from penstock import dtypes
from penstock.ir.defaults import get_default_graph
from penstock.ops.constants import constant
from penstock.ops.control import no_op
from penstock.train.saveables import SaveableObject, SaveSpec


class NoRestoreSaveable(SaveableObject):
    """A tensor that is saved, and not restored."""

    def __init__(self, tensor: Any, name: str, dtype: Any = None, device: str | None = None):
        super().__init__(tensor, [SaveSpec(tensor, "", name, dtype=dtype, device=device)], name)

    def restore(self, restored_tensors: Sequence[Any], restored_shapes: Any) -> Any:
        return no_op()


class PythonStateSaveable(SaveableObject):
    """State of the Python program: fed when it is saved, handed over when it is restored."""

    def feed_dict_additions(self) -> dict[Any, Any]:
        """The present state, for the tensors that stand for it."""
        raise NotImplementedError

    def freeze(self) -> SaveableObject:
        """The present state as a constant of the graph."""
        raise NotImplementedError

    def python_restore(self, restored_strings: Sequence[Any]) -> None:
        """Takes over the state of a checkpoint."""
        raise NotImplementedError


class PythonStringStateSaveable(PythonStateSaveable):
    """State that a function gives as a string.

    Args:
      name: its key in the checkpoint.
      state_callback: called for each checkpoint that is written; returns a string.
      restore_callback: gets the string back; without it, a checkpoint need not have the state.
    """

    def __init__(
        self,
        name: str,
        state_callback: Callable[[], Any],
        restore_callback: Callable[[Any], None] | None = None,
    ):
        self._state_callback = state_callback
        self._restore_callback = restore_callback
        spec = SaveSpec(lambda: self._save_string, "", name, dtype=dtypes.string, device="/cpu:0")
        super().__init__(None, [spec], name)

    @cached_property
    def _save_string(self) -> Any:
        """The tensor that a state is fed as; restoring, which asks nothing of it, needs no node."""
        with get_default_graph().device("/cpu:0"):
            return constant("", dtype=dtypes.string)

    @property
    def optional_restore(self) -> bool:
        return self._restore_callback is None

    def feed_dict_additions(self) -> dict[Any, Any]:
        return {self._save_string: self._state_callback()}

    def freeze(self) -> SaveableObject:
        def present_state() -> Any:
            return constant(self._state_callback(), dtype=dtypes.string)

        return NoRestoreSaveable(present_state, self.name, dtype=dtypes.string, device="cpu:0")

    def python_restore(self, restored_strings: Sequence[Any]) -> None:
        if self._restore_callback is not None:
            (restored,) = restored_strings
            self._restore_callback(restored)

    def restore(self, restored_tensors: Sequence[Any], restored_shapes: Any) -> Any:
        return no_op()
