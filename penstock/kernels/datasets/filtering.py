"""Datasets with the elements for which a function is true."""

from __future__ import annotations

from penstock.kernels.datasets.mapping import function_of
from penstock.kernels.datasets.recipes import dataset_kernel
from penstock.kernels.datasets.statistics import statistics_name
from penstock.kernels.sparse_rows import invalid
from penstock.state.datasets import DerivedDataset, UnaryElements


class _Filtered(UnaryElements):
    def __init__(self, source, function, captured, context):
        super().__init__(source)
        self._function, self._captured, self._call = function, captured, context.call

    def next(self):
        while (element := self._source.next()) is not None:
            if _truth(self._call(self._function, element + self._captured)):
                return element
        return None


def _truth(results):
    if len(results) != 1 or results[0].ndim:
        raise invalid("Filter predicate `f` must return a scalar bool.")
    return bool(results[0])


class _RecordedFilter(_Filtered):
    """Records how many elements were left out and how many not."""

    def __init__(self, source, function, captured, context, name):
        super().__init__(source, function, captured, context)
        self._name, self._recorder = name, context.statistics
        self._dropped = self._passed = 0

    def next(self):
        while (element := self._source.next()) is not None:
            if _truth(self._call(self._function, element + self._captured)):
                self._passed += 1
                self._recorder.set_number(f"{self._name}::filtered_elements", self._passed)
                return element
            self._dropped += 1
            self._recorder.set_number(f"{self._name}::dropped_elements", self._dropped)
        return None


@dataset_kernel("FilterDataset")
def _(node, env):
    function = function_of(node, env, "predicate")

    def run(source, *captured):
        own = function.renewed()

        def make(elements, context):
            if context.statistics is None:
                return _Filtered(elements, own, captured, context)
            return _RecordedFilter(elements, own, captured, context, statistics_name(node))

        return DerivedDataset(source, make, functions=[own])

    return run


class _TakenWhile(UnaryElements):
    def __init__(self, source, function, captured, context):
        super().__init__(source)
        self._function, self._captured, self._call = function, captured, context.call
        self._ended = False

    def next(self):
        element = None if self._ended else self._source.next()
        if element is not None and _truth(self._call(self._function, element + self._captured)):
            return element
        self._ended = True
        return None

    def save(self):
        return [self._ended, self._source.save()]

    def restore(self, state):
        self._ended, source = state
        self._source.restore(source)


@dataset_kernel("TakeWhileDataset", "ExperimentalTakeWhileDataset")
def _(node, env):
    function = function_of(node, env, "predicate")
    return lambda source, *captured: DerivedDataset(
        source,
        lambda elements, context: _TakenWhile(elements, function, captured, context),
        functions=[function],
    )
