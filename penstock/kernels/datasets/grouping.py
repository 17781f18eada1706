"""Datasets that collect elements by a key: windows of each key, or one result for each."""

from __future__ import annotations

import torch

from penstock.kernels.datasets.batching import ListDataset
from penstock.kernels.datasets.mapping import function_of
from penstock.kernels.datasets.recipes import dataset_kernel
from penstock.kernels.sparse_rows import invalid
from penstock.state.datasets import DerivedDataset, UnaryElements


def _split(node, inputs, keys):
    """The captured inputs of each function."""
    parts, start = [], 0
    for key in keys:
        count = len(node.attrs[f"T{key}_other_arguments"])
        parts.append(inputs[start : start + count])
        start += count
    return parts


def _key(results):
    if len(results) != 1 or results[0].dtype != torch.int64 or results[0].ndim:
        raise invalid("`key_func` must return a scalar int64.")
    return int(results[0])


class _Windows(UnaryElements):
    """Hands the elements of a key over to a function when there are enough of them."""

    def __init__(self, source, functions, captured, context):
        super().__init__(source)
        self._key_of, self._reduce, self._size_of = functions
        self._key_args, self._reduce_args, self._size_args = captured
        self._context = context
        self._groups = {}
        self._sizes = {}
        self._ended = False
        self._flushed = None  # key and elements of the group that is read now
        self._inner = None

    def next(self):
        while True:
            if self._inner is not None:
                element = self._inner.next()
                if element is not None:
                    return element
                self._inner.close()
                self._inner = self._flushed = None
            key = self._full_group()
            if key is None:
                if not self._groups:
                    return None
                key = min(self._groups)
            self._flush(key, self._groups.pop(key))

    def _full_group(self):
        """Reads until a group is full: its key, None at the end of the source."""
        while not self._ended:
            element = self._source.next()
            if element is None:
                self._ended = True
                break
            key = _key(self._context.call(self._key_of, element + self._key_args))
            group = self._groups.setdefault(key, [])
            group.append(element)
            if len(group) == self._size(key):
                return key
        return None

    def _size(self, key):
        if key not in self._sizes:
            results = self._context.call(self._size_of, (torch.tensor(key), *self._size_args))
            if len(results) != 1 or results[0].dtype != torch.int64 or results[0].ndim:
                raise invalid("`window_size_func` must return a scalar int64.")
            size = int(results[0])
            if size <= 0:
                raise invalid(f"Window size must be greater than zero, but got {size}.")
            self._sizes[key] = size
        return self._sizes[key]

    def _flush(self, key, elements):
        arguments = (torch.tensor(key), ListDataset(elements), *self._reduce_args)
        (dataset,) = self._context.call(self._reduce, arguments)
        self._flushed = key, elements
        self._inner = dataset.iterate(self._context)

    def save(self):
        flushed = None
        if self._inner is not None:
            key, elements = self._flushed
            flushed = [key, [list(element) for element in elements], self._inner.save()]
        groups = [
            [key, [list(element) for element in group]] for key, group in self._groups.items()
        ]
        sizes = [list(item) for item in self._sizes.items()]
        return [groups, sizes, self._ended, flushed, self._source.save()]

    def restore(self, state):
        groups, sizes, self._ended, flushed, source = state
        self._groups = {key: [tuple(element) for element in group] for key, group in groups}
        self._sizes = dict(sizes)
        self._source.restore(source)
        self._inner = None
        if flushed is not None:
            self._flush(flushed[0], [tuple(element) for element in flushed[1]])
            self._inner.restore(flushed[2])

    def close(self):
        if self._inner is not None:
            self._inner.close()
        super().close()


@dataset_kernel("GroupByWindowDataset", "ExperimentalGroupByWindowDataset")
def _(node, env):
    keys = ("key_func", "reduce_func", "window_size_func")
    functions = [function_of(node, env, key) for key in keys]

    def run(source, *inputs):
        captured = _split(node, inputs, keys)
        return DerivedDataset(
            source,
            lambda elements, context: _Windows(elements, functions, captured, context),
            functions=functions,
        )

    return run


class _Reduced(UnaryElements):
    """One result for each key, in the order of the keys, after the source has ended."""

    def __init__(self, source, functions, captured, context):
        super().__init__(source)
        self._key_of, self._init, self._reduce, self._finalize = functions
        self._key_args, self._init_args, self._reduce_args, self._finalize_args = captured
        self._call = context.call
        self._states = {}
        self._order = None

    def next(self):
        if self._order is None:
            self._read_all()
            self._order = sorted(self._states, reverse=True)
        if not self._order:
            return None
        state = self._states[self._order.pop()]
        return tuple(self._call(self._finalize, state + self._finalize_args))

    def _read_all(self):
        while (element := self._source.next()) is not None:
            key = _key(self._call(self._key_of, element + self._key_args))
            if key not in self._states:
                first = self._call(self._init, (torch.tensor(key), *self._init_args))
                self._states[key] = tuple(first)
            arguments = self._states[key] + element + self._reduce_args
            self._states[key] = tuple(self._call(self._reduce, arguments))

    def save(self):
        states = [[key, list(state)] for key, state in self._states.items()]
        return [states, self._order, self._source.save()]

    def restore(self, state):
        states, self._order, source = state
        self._states = {key: tuple(values) for key, values in states}
        self._source.restore(source)


@dataset_kernel("GroupByReducerDataset", "ExperimentalGroupByReducerDataset")
def _(node, env):
    keys = ("key_func", "init_func", "reduce_func", "finalize_func")
    functions = [function_of(node, env, key) for key in keys]

    def run(source, *inputs):
        captured = _split(node, inputs, keys)
        return DerivedDataset(
            source,
            lambda elements, context: _Reduced(elements, functions, captured, context),
            functions=functions,
        )

    return run
