"""Values that are saved and restored together, as if they were variables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from penstock.ir.trackable import VARIABLE_VALUE_KEY, Trackable
from penstock.ops.control import no_op
from penstock.train.saveables import SaveableObject, SaveSpec


class _CallbackSaveable(SaveableObject):
    """One tensor that functions make and take."""

    def __init__(
        self,
        name: str,
        dtype: Any,
        device: str,
        save_callback: Callable[[], Any],
        restore_callback: Callable[[Any], Any],
    ):
        self._restore_callback = restore_callback
        spec = SaveSpec(save_callback, "", name, dtype=dtype, device=device)
        super().__init__(save_callback, [spec], name)

    def restore(self, restored_tensors: Sequence[Any], restored_shapes: Any) -> Any:
        (tensor,) = restored_tensors
        return self._restore_callback(tensor)


class _SplitDependency(Trackable):
    """One of several values that are made, and taken, at once."""

    def __init__(
        self,
        name: str,
        dtype: Any,
        device: str,
        buffers: tuple[dict[str, Any], dict[str, Any]],
        names: Sequence[str],
        functions: tuple[Callable[[Any], Any], Callable[[Any], Any]],
    ):
        self._name = name
        self._save_buffer, self._restore_buffer = buffers
        self._names = names
        self._fill, self._consume = functions
        self._factory = partial(
            _CallbackSaveable,
            dtype=dtype,
            device=device,
            save_callback=self._saved,
            restore_callback=self._restored,
        )

    def _saved(self) -> Any:
        if self._name not in self._save_buffer:
            if self._save_buffer:
                raise AssertionError(
                    f"Split dependency {self._name} ({self}) unsynchronized. Split dependencies "
                    "must be saved together."
                )
            self._fill(self._save_buffer)
        return self._save_buffer.pop(self._name)

    def _restored(self, tensor: Any) -> Any:
        if self._name in self._restore_buffer:
            raise AssertionError(
                f"Split dependency {self._name} ({self}) unsynchronized. Split dependencies must "
                "be restored together."
            )
        self._restore_buffer[self._name] = tensor
        if len(self._restore_buffer) < len(self._names):
            return no_op()
        operation = self._consume(self._restore_buffer)
        self._restore_buffer.clear()
        return operation

    def _gather_saveables_for_checkpoint(self) -> dict[str, Any]:
        return {VARIABLE_VALUE_KEY: self._factory}


def split_dependency(
    component_names: Sequence[str],
    component_dtypes: Sequence[Any],
    fill_save_buffer_fn: Callable[[dict[str, Any]], Any],
    consume_restore_buffer_fn: Callable[[dict[str, Any]], Any],
    device: str,
) -> dict[str, Any]:
    """Objects whose values one function makes, and one function takes.

    Args:
      component_names: their names.
      component_dtypes: the types of their values.
      fill_save_buffer_fn: adds a tensor for each name to a dictionary.
      consume_restore_buffer_fn: from a dictionary of tensors to the operation that restores.
      device: where to save and restore.
    """
    buffers: tuple[dict[str, Any], dict[str, Any]] = ({}, {})
    functions = (fill_save_buffer_fn, consume_restore_buffer_fn)
    return {
        name: _SplitDependency(name, dtype, device, buffers, component_names, functions)
        for name, dtype in zip(component_names, component_dtypes, strict=True)
    }
