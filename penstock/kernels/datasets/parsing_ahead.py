"""Functions that parse an Example: many elements are parsed at once, before they are called.

A function of a map that begins with `tf.parse_single_example` of its argument is called with what
the op would give. The values are those that the op gives for each element alone; where a batch
can't be parsed, its elements are, so that just those fail that must.
"""

from __future__ import annotations

import functools
from collections import deque
from typing import Any, NamedTuple

from penstock import errors
from penstock.ir.constants import constant_value
from penstock.kernels.datasets.failures import Failure, restored_element, saved_element
from penstock.kernels.datasets.parsed_rows import ParsedBatches, ParsedRows, passed_on
from penstock.kernels.example_parsing import example_parser, single_example_parser
from penstock.kernels.values import from_array
from penstock.state.datasets import DerivedDataset, UnaryElements, same_number

_MOST = 64  # elements at once


class _Parsing(NamedTuple):
    """How a function parses: the node, its parser, the argument that it reads, the defaults."""

    op: Any
    parser: Any
    argument: int
    defaults: list[Any]
    arguments: int  # how many of the function's inputs are not captured


def _parsing_of(source, function, captured, parsers):
    """How a function of a map parses; None if its elements can't be parsed ahead.

    `parsers` are functions that give the parser of a node, or None, by the node's type.
    """
    if not source.is_plain:
        return None
    body = function.body
    count = len(body.inputs) - len(captured)
    op = next((op for op in body.get_operations() if op.type in parsers), None)
    parser = None if op is None or op.control_inputs else parsers[op.type](op)
    if parser is None:
        return None
    places = {tensor: place for place, tensor in enumerate(body.inputs)}
    argument = places.get(op.inputs[0], count)
    tensors = op.inputs[len(op.inputs) - len(op.attrs["Tdense"]) :]
    defaults = [_default(tensor, places, count, captured) for tensor in tensors]
    if argument >= count or any(default is None for default in defaults):
        return None
    return _Parsing(op, parser, argument, defaults, count)


def parsed_rows(source, function, captured):
    """What makes the elements of a map whose function does nothing but parse; None for others."""
    for kind, parsers in ((ParsedRows, _PARSERS), (ParsedBatches, _BATCH_PARSERS)):
        found = _parsing_of(source, function, captured, parsers)
        columns = None if found is None else passed_on(function.body, found.op)
        if columns is not None and not function.has_effects:
            return functools.partial(_parsed_by, kind, found, columns, function, captured)
    return None


def _parsed_by(kind, found, columns, function, captured, elements, context):
    def alone(element):
        return context.call(function, element + captured)

    return kind(elements, found.argument, found.parser, found.defaults, columns, alone)


def parsed_ahead(source, function, captured):
    """The source and the function of a map, changed if its elements can be parsed ahead."""
    found = _parsing_of(source, function, captured, _PARSERS)
    if found is None:
        return source, function
    given = function.given(found.op.name, found.arguments)
    rest = _Rest(function, given, found.arguments, len(found.op.outputs))
    parsed = DerivedDataset(
        source,
        lambda elements, _: _Parsed(elements, found.argument, found.parser, found.defaults),
        same_number,
    )
    return parsed, rest


def _parser_by_keys(op, rank):
    """The parser of a ParseExampleV2 node whose input is of a rank; None for any other."""
    names, *keys = [constant_value(tensor) for tensor in op.inputs[1:5]]
    fits = op.inputs[0].shape.ndims == rank
    if not fits or names is None or names.size or any(key is None for key in keys):
        return None
    return None if keys[2].size else example_parser(op.attrs, *(key.tolist() for key in keys))


def _parser_of_batches(op):
    """The parser of a ParseExample node; None if it does not always have the same keys."""
    sparse, dense = op.attrs["Nsparse"], op.attrs["Ndense"]
    names, *keys = [constant_value(tensor) for tensor in op.inputs[1 : 2 + sparse + dense]]
    if names is None or names.size or any(key is None for key in keys):
        return None
    keys = [key.item() for key in keys]
    return example_parser({**op.attrs, **_NO_RAGGED}, keys[:sparse], keys[sparse:], [])


_NO_RAGGED: dict[str, list[Any]] = {"ragged_value_types": [], "ragged_split_types": []}


def _if_rows_are_equal(parser):
    return parser if parser is not None and parser.has_equal_rows else None


# Of single Examples, and of batches of them.
_PARSERS = {
    "ParseSingleExample": lambda op: single_example_parser(op.attrs),
    "ParseExampleV2": lambda op: _parser_by_keys(op, rank=0),
}
_BATCH_PARSERS = {
    "ParseExample": lambda op: _if_rows_are_equal(_parser_of_batches(op)),
    "ParseExampleV2": lambda op: _if_rows_are_equal(_parser_by_keys(op, rank=1)),
}


def _default(tensor, places, count, captured):
    """The value of an input that is the same for all elements; None if it is not."""
    place = places.get(tensor)
    if place is not None:
        return captured[place - count] if place >= count else None
    value = constant_value(tensor)
    return None if value is None else from_array(value)


class _Parsed(UnaryElements):
    """Elements, each of them followed by what parsing gives, or by None for each part of that.

    `_waiting` holds what was read ahead, `_rows` what was parsed of it.
    """

    def __init__(self, source, argument, parser, defaults):
        super().__init__(source)
        self._argument, self._parser, self._defaults = argument, parser, defaults
        self._waiting = deque()
        self._rows = deque()
        self._failure = None
        self._size = 1

    def next(self):
        if not self._waiting:
            self._read()
            if not self._waiting:
                failure, self._failure = self._failure, None
                if failure is not None:
                    raise failure
                return None
        if not self._rows:
            self._parse()
        return self._waiting.popleft() + self._rows.popleft()

    def _read(self):
        if self._failure is not None:
            return
        # The first elements come as fast as they can; a long pipeline gets to large batches.
        size, self._size = self._size, min(2 * self._size, _MOST)
        read = self._source.next
        try:
            while len(self._waiting) < size and (element := read()) is not None:
                self._waiting.append(element)
        except errors.OpError as error:
            self._failure = error

    def _parse(self):
        strings = [element[self._argument] for element in self._waiting]
        try:
            if any(string.ndim for string in strings):
                raise ValueError("not a scalar")
            rows = self._parser.rows([string.item() for string in strings], self._defaults)
        except (errors.OpError, ValueError):
            rows = [self._parser.no_row] * len(strings)
        self._rows.extend(rows)

    def save(self):
        failed = None if self._failure is None else saved_element(Failure(self._failure))
        return [[list(element) for element in self._waiting], failed, self._source.save()]

    def restore(self, state):
        waiting, failed, source = state
        self._source.restore(source)
        self._waiting = deque(tuple(element) for element in waiting)
        self._rows = deque()
        self._failure = None if failed is None else restored_element(failed).error


class _Rest:
    """A function of elements that were parsed already; `whole` is called for those that weren't."""

    def __init__(self, whole, rest, count, parsed):
        self._whole, self._rest, self._count = whole, rest, count
        self._behind = count + parsed

    @property
    def has_effects(self):
        return self._whole.has_effects

    @property
    def draws_numbers(self):
        return self._whole.draws_numbers

    def random_state(self):
        return [self._whole.random_state(), self._rest.random_state()]

    def restore_random_state(self, state):
        whole, rest = state
        self._whole.restore_random_state(whole)
        self._rest.restore_random_state(rest)

    def __call__(self, step, values):
        if values[self._count] is None:
            return self._whole(step, values[: self._count] + values[self._behind :])
        return self._rest(step, values)
