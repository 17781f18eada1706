"""Functions of rows; datasets that take the fastest of several ways; batches in parts."""

from __future__ import annotations

import functools
import time

import numpy as np
import torch

from penstock import dtypes, shapes
from penstock.kernels.datasets.mapping import function_of
from penstock.kernels.datasets.recipes import dataset_kernel
from penstock.kernels.datasets.stacking import row, stacked
from penstock.kernels.registry import kernel
from penstock.kernels.sparse_rows import brackets, invalid
from penstock.kernels.values import is_host_type, torch_type
from penstock.state.datasets import UNKNOWN, Dataset, DerivedDataset, Elements, UnaryElements

# A function of each row ---------------------------------------------------------------------------


def _row_count(arguments):
    """How many rows all arguments have."""
    count = None
    for number, value in enumerate(arguments):
        if not len(value.shape):
            raise invalid(f"All inputs must have rank at least 1. Input {number} has a rank of 0.")
        if count is not None and value.shape[0] != count:
            raise invalid(
                f"All inputs must have the same dimension 0. Input {number} has leading dimension "
                f"{value.shape[0]}, while all previous inputs have leading dimension {count}"
            )
        count = value.shape[0]
    return count


def _check_types(function, promised):
    """Refuses a function that gives other types than its node promises."""
    if len(function.body.outputs) != len(promised):
        raise invalid(
            f"The function gives {len(function.body.outputs)} values, and {len(promised)} were "
            "expected."
        )
    for number, (output, dtype) in enumerate(zip(function.body.outputs, promised, strict=True)):
        if output.dtype != dtype:
            raise invalid(
                f"Type mismatch in output {number}: the function gives {output.dtype.name}, and "
                f"{dtype.name} was expected."
            )


def _wrong_shape(found, expected):
    return invalid(
        f"Mismatch in function retval shape, {brackets(found)}, and expected output shape, "
        f"{shapes.text(expected)}."
    )


def _joined(parts, shape):
    """The results for all rows as one, each of which must fit a shape."""
    first = tuple(parts[0].shape)
    if not shapes.compatible(first, shape):
        raise _wrong_shape(first, shape)
    for part in parts:
        if tuple(part.shape) != first:
            raise _wrong_shape(part.shape, first)
    return stacked(0, parts)


def _without_rows(dtype, shape, device):
    sizes = (0, *(size or 0 for size in shape or ()))
    if is_host_type(dtype):
        return np.empty(sizes, dtype=object)
    return torch.empty(sizes, dtype=torch_type(dtype), device=device)


@kernel("MapDefun", step=True)
def _(node, env):
    function, count = function_of(node, env), len(node.attrs["Targuments"])
    promised = list(zip(node.dtypes, node.attrs["output_shapes"], strict=True))

    @functools.cache
    def check_types():
        _check_types(function, node.dtypes)

    def run(step, *values):
        check_types()
        arguments, captured = values[:count], values[count:]
        results = []
        for place in range(_row_count(arguments)):
            step.check()
            results.append(function(step, (*(row(each, place) for each in arguments), *captured)))
        if not results:
            return [_without_rows(dtype, shape, env.torch_device) for dtype, shape in promised]
        columns = zip(zip(*results, strict=True), promised, strict=True)
        return [_joined(parts, shape) for parts, (_, shape) in columns]

    return run if len(promised) > 1 else lambda step, *values: run(step, *values)[0]


# The fastest of several datasets ------------------------------------------------------------------


class _Race(Elements):
    """Reads datasets with equal elements side by side, and later the fastest of them alone."""

    def __init__(self, runners, rounds):
        self._runners, self._rounds = runners, rounds
        self._times = [0] * len(runners)
        self._winner = None if rounds else 0

    def next(self):
        if self._winner is not None:
            return self._runners[self._winner].next()
        element = None
        for number, runner in enumerate(self._runners):
            begin = time.perf_counter_ns()
            element = runner.next()
            self._times[number] += time.perf_counter_ns() - begin
        self._rounds -= 1
        if not self._rounds:
            self._decide(min(range(len(self._runners)), key=self._times.__getitem__))
        return element

    def _decide(self, winner):
        self._winner = winner
        for number, runner in enumerate(self._runners):
            if number != winner:
                runner.close()

    def save(self):
        if self._winner is not None:
            return [0, self._winner, [self._runners[self._winner].save()]]
        return [self._rounds, None, [runner.save() for runner in self._runners]]

    def restore(self, state):
        self._rounds, winner, places = state
        if winner is not None:
            self._decide(winner)
            self._runners[winner].restore(places[0])
            return
        for runner, place in zip(self._runners, places, strict=True):
            runner.restore(place)

    def close(self):
        for runner in self._runners:
            runner.close()


class _Rivals(Dataset):
    """Datasets with equal elements."""

    def __init__(self, datasets, rounds):
        self._datasets, self._rounds = datasets, rounds

    def iterate(self, context):
        return _Race([dataset.iterate(context) for dataset in self._datasets], self._rounds)

    def cardinality(self):
        known = [each for each in (d.cardinality() for d in self._datasets) if each != UNKNOWN]
        return known[0] if known else UNKNOWN


def _element_kind(dataset):
    """The types and shapes of a dataset's elements, as far as its node tells them."""
    attrs = dataset.recipe.node.attrs if dataset.recipe is not None else {}
    types = attrs.get("output_types", attrs.get("Toutput_types"))
    if types is None or "output_shapes" not in attrs:
        return None
    return list(types), [shapes.raw(shape) for shape in attrs["output_shapes"]]


def _check_rivals(datasets):
    """Refuses datasets whose elements have other types, shapes or numbers than the first's."""
    kinds = [_element_kind(each) for each in datasets]
    first = next((kind for kind in kinds if kind is not None), None)
    size = UNKNOWN
    for place, (dataset, kind) in enumerate(zip(datasets, kinds, strict=True)):
        if kind is not None:
            _check_kind(place, kind, first)
        found = dataset.cardinality()
        if UNKNOWN not in (size, found) and size != found:
            raise invalid(
                "All inputs to ChooseFastestDataset must have compatible cardinalities. "
                f"Input {place} has cardinality: {found}, while all prior inputs have "
                f"cardinality: {size}."
            )
        size = found if size == UNKNOWN else size


def _check_kind(place, kind, expected):
    if kind[0] != expected[0]:
        names = [", ".join(map(dtypes.runtime_name, each)) for each in (kind[0], expected[0])]
        raise invalid(
            "All inputs to ChooseFastestDataset must have the same output types. "
            f"Input {place} has output types: {names[0]}. Expected: {names[1]}."
        )
    for component, (shape, wanted) in enumerate(zip(kind[1], expected[1], strict=True)):
        if not shapes.compatible(shape, wanted):
            raise invalid(
                "All inputs to ChooseFastestDataset must have compatible output shapes. Component "
                f"{component} of input {place} has shape: {shapes.text(shape)}. Expected to be "
                f"compatible with shape: {shapes.text(wanted)}."
            )


@dataset_kernel("ChooseFastestDataset", "ExperimentalChooseFastestDataset")
def _(node):
    def run(*datasets):
        _check_rivals(datasets)
        return _Rivals(datasets, node.attrs["num_experiments"])

    return run


# The fastest of several functions of a dataset ----------------------------------------------------


class _Portion(Dataset):
    """The next elements of a source that others read, too: up to `most`, all if that is None."""

    def __init__(self, source, most):
        self._source, self._most = source, most
        self._is_used = False

    def iterate(self, context):
        if self._is_used:
            raise invalid(
                "Cannot create more than one WrapperIterator per WrapperDataset. Make sure the "
                "branches to ChooseFastestDataset do not expect the input to repeat."
            )
        self._is_used = True
        return _PortionElements(self._source, self._most)


class _PortionElements(UnaryElements):
    def __init__(self, source, most):
        super().__init__(source)
        self._left = most

    def next(self):
        if self._left == 0:
            return None
        element = self._source.next()
        if element is not None and self._left is not None:
            self._left -= 1
        return element

    def save(self):
        return [self._left, self._source.save()]

    def restore(self, state):
        self._left, source = state
        self._source.restore(source)

    def close(self):
        """The source goes on: others read it after this."""


class _Branches(UnaryElements):
    """Lets each branch give some elements, one after the other, and the fastest the rest."""

    def __init__(self, source, branches, outputs, inputs, context):
        super().__init__(source)
        self._branches, self._context = branches, context
        self._outputs, self._inputs = outputs, inputs
        self._times = [0] * len(branches)
        self._number = -1
        self._left = 0
        self._elements = None

    def next(self):
        if self._elements is None or (self._in_trial and self._left == 0):
            self._number += 1
            self._left = self._outputs
            self._begin_branch()
        begin = time.perf_counter_ns()
        element = self._elements.next()
        if self._in_trial:
            self._times[self._number] += time.perf_counter_ns() - begin
            self._left -= 1
        return element

    @property
    def _in_trial(self):
        return self._number < len(self._branches)

    def _begin_branch(self):
        """Begins the branch whose turn it is, at the place where the source is."""
        if self._elements is not None:
            self._elements.close()
        chosen = self._number if self._in_trial else self._times.index(min(self._times))
        function, captured = self._branches[chosen]
        portion = _Portion(self._source, self._inputs if self._in_trial else None)
        (dataset,) = self._context.call(function, (portion, *captured))
        self._elements = dataset.iterate(self._context)

    def save(self):
        place = self._source if self._elements is None else self._elements
        return [self._number, self._left, self._times, place.save()]

    def restore(self, state):
        self._number, self._left, self._times, place = state
        if self._number < 0:
            self._source.restore(place)
        else:
            self._begin_branch()
            self._elements.restore(place)

    def close(self):
        if self._elements is not None:
            self._elements.close()
        super().close()


@dataset_kernel("ChooseFastestBranchDataset")
def _(node, env):
    functions = [env.function(node, each.name, each.attrs) for each in node.attrs["branches"]]
    lengths, outputs = node.attrs["other_arguments_lengths"], node.attrs["num_elements_per_branch"]

    def run(source, numerator, denominator, *captured):
        numerator, denominator = int(numerator), int(denominator)
        if numerator <= 0 or denominator <= 0:
            raise invalid("`ratio_numerator` and `ratio_denominator` must be greater than zero.")
        if outputs % denominator:
            raise invalid("`num_elements_per_branch` must be divisible by `ratio_denominator`.")
        ends = np.cumsum([0, *lengths])
        branches = [
            (function, captured[ends[number] : ends[number + 1]])
            for number, function in enumerate(functions)
        ]
        inputs = outputs * numerator // denominator

        def make(elements, context):
            return _Branches(elements, branches, outputs, inputs, context)

        def cardinality(of_source):
            return of_source if of_source < 0 else of_source * denominator // numerator

        return DerivedDataset(source, make, cardinality, functions)

    return run


# Batches in parts ---------------------------------------------------------------------------------


class _BatchParts(UnaryElements):
    """Each batch as `count` smaller ones; the last of them may be empty."""

    def __init__(self, source, count):
        super().__init__(source)
        self._count = count
        self._batch, self._part = None, 0

    def next(self):
        if self._batch is None or self._part == self._count:
            self._batch, self._part = self._source.next(), 0
            if self._batch is None:
                return None
        self._part += 1
        return tuple(self._rows_of_part(value) for value in self._batch)

    def _rows_of_part(self, value):
        size = -(-value.shape[0] // self._count)
        end = size * self._part
        return value[end - size : end]

    def save(self):
        return [None if self._batch is None else list(self._batch), self._part, self._source.save()]

    def restore(self, state):
        batch, self._part, source = state
        self._batch = None if batch is None else tuple(batch)
        self._source.restore(source)


@dataset_kernel("RebatchDataset", "ExperimentalRebatchDataset")
def _(node):
    def run(source, replicas):
        count = int(replicas)
        if count <= 0:
            raise invalid("num_replicas must be greater than zero.")

        def cardinality(of_source):
            return of_source if of_source < 0 else of_source * count

        return DerivedDataset(source, lambda elements, _: _BatchParts(elements, count), cardinality)

    return run
