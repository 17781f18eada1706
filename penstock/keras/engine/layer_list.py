"""`layer._layers`, which programs append to and take from: its changes are the layer's."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any


def _kept(change: Callable[..., Any]) -> Callable[..., Any]:
    """A method of lists after which the owner's layers are those of the list."""

    @functools.wraps(change)
    def method(self: LayerList, *args: Any, **kwargs: Any) -> Any:
        result = change(self, *args, **kwargs)
        self._keep(list(self))
        return result

    return method


class LayerList(list[Any]):
    """The layers inside of one.

    Args:
      layers: those that there are.
      keep: is called with those that there are after a change.
    """

    def __init__(self, layers: Iterable[Any], keep: Callable[[list[Any]], None]):
        super().__init__(layers)
        self._keep = keep

    append = _kept(list.append)
    clear = _kept(list.clear)
    extend = _kept(list.extend)
    insert = _kept(list.insert)
    pop = _kept(list.pop)
    remove = _kept(list.remove)
    reverse = _kept(list.reverse)
    sort = _kept(list.sort)
    __delitem__ = _kept(list.__delitem__)
    __iadd__ = _kept(list.__iadd__)
    __setitem__ = _kept(list.__setitem__)
