"""Parses, with the first Example of a block that a reader has read ahead, all others of the block.

A parser costs less for many Examples than for as many times one. Each result is given once, since
who gets it may write into it. Where the Examples of a block can't be parsed together, or the
defaults change from call to call, nothing is parsed ahead.
"""

from __future__ import annotations

import weakref
from operator import is_not
from typing import Any

from penstock import errors
from penstock.state.read_ahead import Block, block_of


class _Rows:
    """The outputs for each Example alone."""

    def __init__(self, parser: Any, records: Any, defaults: Any):
        self._rows = parser.rows(records, defaults)

    def take(self, start: int, end: int) -> Any:
        row, self._rows[start] = self._rows[start], None
        return row


class _Columns:
    """The outputs for Examples that follow each other."""

    def __init__(self, parser: Any, records: Any, defaults: Any):
        self._parser = parser
        self._columns = parser.columns(records, defaults)
        self._unused = [True] * len(records)

    def take(self, start: int, end: int) -> Any:
        if not all(self._unused[start:end]):
            return None
        self._unused[start:end] = [False] * (end - start)
        return self._parser.batch_of(self._columns, start, end)


class ParsedAhead:
    """What a parser knows of the blocks whose records it is given."""

    def __init__(self, parser: Any):
        self._parser = weakref.proxy(parser)
        self._defaults: Any = ()

    def row(self, record: bytes, defaults: Any) -> Any:
        """The outputs for one Example; None if there are none ahead of time."""
        block = block_of(record)
        if block is None:
            return None
        parsed = self._parsed(_Rows, block, defaults)
        place = block.places[id(record)]
        return None if parsed is None else parsed.take(place, place + 1)

    def batch(self, records: Any, defaults: Any) -> Any:
        """The outputs for Examples of one block, in its order; None if there are none ahead."""
        block = block_of(records[0]) if len(records) else None
        if block is None:
            return None
        start = block.places[id(records[0])]
        end = start + len(records)
        following = block.records[start:end]
        if len(following) != len(records) or any(map(is_not, following, records)):
            return None
        parsed = self._parsed(_Columns, block, defaults)
        return None if parsed is None else parsed.take(start, end)

    def _parsed(self, kind: Any, block: Block, defaults: Any) -> Any:
        """What was parsed of a block, with these defaults; None if that can't be."""
        if block.results.get(self) is None:
            before, self._defaults = self._defaults, defaults
            if len(before) != len(defaults) or any(map(is_not, before, defaults)):
                return None
            block.results[self] = defaults, self._outputs(kind, block, defaults)
        given, outputs = block.results[self]
        return None if any(map(is_not, given, defaults)) else outputs

    def _outputs(self, kind: Any, block: Block, defaults: Any) -> Any:
        try:
            return kind(self._parser, block.records, defaults)
        except errors.OpError:
            return None
