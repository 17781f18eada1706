"""`tf.keras.utils.Sequence`: data of which each batch can be asked for by its number."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

__all__ = ["Sequence"]


class Sequence:
    """Data in batches; a subclass defines `__getitem__` and `__len__`."""

    def __getitem__(self, index: int) -> Any:
        raise NotImplementedError

    def __len__(self) -> int:
        raise NotImplementedError

    def on_epoch_end(self) -> None:
        """Called after each epoch."""

    def __iter__(self) -> Iterator[Any]:
        for index in range(len(self)):
            yield self[index]
