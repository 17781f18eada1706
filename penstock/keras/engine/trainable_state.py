"""Which layers of a model are trained: what was so when it was compiled counts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any


class TrainableState:
    """A model's account of the `trainable` of itself and all layers inside."""

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """What the model has that this is mixed into."""

    _compiled_trainable_state: dict[Any, bool] | None = None

    def _get_trainable_state(self) -> dict[Any, bool]:
        return {layer: layer.trainable for layer in (self, *self.submodules)}

    def _set_trainable_state(self, state: dict[Any, bool]) -> None:
        # From the outside in: a layer's setter changes what is inside it, too.
        for layer in (self, *self.submodules):
            if layer in state and layer.trainable != state[layer]:
                layer.trainable = state[layer]

    @contextmanager
    def _as_compiled(self) -> Iterator[None]:
        """Makes layers trainable as they were when the model was compiled."""
        if self._compiled_trainable_state is None:
            yield
            return
        now = self._get_trainable_state()
        self._set_trainable_state(self._compiled_trainable_state)
        try:
            yield
        finally:
            self._set_trainable_state(now)
