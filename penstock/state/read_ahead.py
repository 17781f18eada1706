"""Records that a reader has read ahead: what uses one of them can get the next ones ready, too.

A `Block` holds records that come one after the other. Whoever meets one of its records, by whatever
way it came, finds the block with `block_of` while the reader is still near it. `results` keeps what
was computed of the whole block, by who computed it.
"""

from __future__ import annotations

import weakref
from collections import deque
from collections.abc import Iterable, Sequence
from itertools import repeat
from typing import Any


class Block:
    """Records that were read together; `places` tells by identity where each of them is."""

    __slots__ = ("__weakref__", "places", "records", "results")

    def __init__(self, records: Sequence[bytes]):
        self.records = records
        self.places = dict(zip(map(id, records), range(len(records)), strict=True))
        self.results: dict[Any, Any] = {}
        _blocks.update(dict.fromkeys(self.places, weakref.ref(self)))
        # The ids stand for the records as long as these live, and so for as long as the block.
        weakref.finalize(self, _forget, self.places).atexit = False


_blocks: dict[int, weakref.ref[Block]] = {}


def _forget(ids: Iterable[int]) -> None:
    # Called before the records go. An id that a later block has, too, is forgotten with this one:
    # so it is with the empty string. That block is not found by it, then.
    deque(map(_blocks.pop, ids, repeat(None)), maxlen=0)


def block_of(record: bytes) -> Block | None:
    """The block that a record was read with, if it is still there."""
    found = _blocks.get(id(record))
    block = None if found is None else found()
    if block is None or block.records[block.places[id(record)]] is not record:
        return None
    return block
