"""What turns a record into items."""

from __future__ import annotations

import abc
from typing import Any


class DataDecoder(abc.ABC):
    """Decodes one record of a data set."""

    @abc.abstractmethod
    def decode(self, data: Any, items: Any) -> Any:
        """The tensors of the items that are asked for."""

    @abc.abstractmethod
    def list_items(self) -> Any:
        """The names of the items that there are."""
