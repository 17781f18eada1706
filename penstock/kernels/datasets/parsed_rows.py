"""Examples that a map only parses: many at once, each of them passed on as a row.

If all that a function of a map gives comes right out of `tf.parse_single_example` of its argument,
nothing is left to compute for an element alone. The same holds for `tf.parse_example` of batches.
"""

from __future__ import annotations

import itertools

import numpy as np
import torch

from penstock import dtypes, errors
from penstock.kernels.datasets.failures import Failure, restored_element, saved_element
from penstock.kernels.datasets.rows import (
    Arrays,
    Kind,
    Kinds,
    Numbers,
    RowElements,
    SparseVectors,
    Strings,
    as_element,
)
from penstock.kernels.example_parsing import LARGE_ROW
from penstock.kernels.packed_features import positions
from penstock.kernels.values import to_array, torch_type

_MOST_BYTES = 1 << 20  # at once


# What a function passes on ---------------------------------------------------------------------


def passed_on(body, op):
    """A column for each result of a function, `op` being what parses; None if it does more."""
    columns = [_column(_origin(tensor), op) for tensor in body.outputs]
    return None if not columns or None in columns else columns


def _origin(tensor):
    while tensor.op.type == "Identity" and not tensor.op.control_inputs:
        tensor = tensor.op.inputs[0]
    return tensor


def _column(tensor, op):
    sparse, dense = len(op.attrs["sparse_types"]), len(op.attrs["Tdense"])
    if tensor.op is op:
        place = tensor.value_index - 3 * sparse
        if not 0 <= place < dense:
            return None
        dtype, shape = op.attrs["Tdense"][place], op.attrs["dense_shapes"][place]
        return DenseColumn(place, tensor.value_index, dtype, shape)
    maker = tensor.op
    if maker.type != "SerializeSparse" or maker.attrs["out_type"] is not dtypes.variant:
        return None
    parts = [_origin(part) for part in maker.inputs]
    if maker.control_inputs or any(part.op is not op for part in parts):
        return None
    place = parts[0].value_index
    wanted = [place, place + sparse, place + 2 * sparse]
    is_one = place < sparse and [part.value_index for part in parts] == wanted
    return SparseColumn(place, wanted) if is_one else None


class DenseColumn:
    """The tensors of a dense feature."""

    def __init__(self, place, output, dtype, shape):
        self._place, self._output = place, output
        shape = tuple(shape)
        self._is_scalar = shape == ()
        self.kind = _dense_kind(dtype, shape)

    def parts(self, sparse, dense):
        """The parts of rows, out of what a parser gives."""
        values = dense[self._place]
        if isinstance(values, list):
            return values
        if self._is_scalar:
            return values.tolist()
        array = values if isinstance(values, np.ndarray) else values.numpy()
        rows = list(array.reshape(len(array), -1)) if array.size else [array[0]] * len(array)
        # A large row does not keep the memory of all the others.
        return [row.copy() for row in rows] if rows and rows[0].nbytes > LARGE_ROW else rows

    def of_batch(self, outputs):
        """The value for a batch, out of the outputs of a parsing op."""
        return outputs[self._output]


def _dense_kind(dtype, shape):
    if shape and shape[0] is None:
        return Kind()
    if shape:
        return Arrays(shape, strings=dtype is dtypes.string)
    return Strings() if dtype is dtypes.string else Numbers(torch_type(dtype))


class SparseColumn:
    """The sparse vectors of a feature, packed."""

    kind = SparseVectors()

    def __init__(self, place, outputs):
        self._place, self._outputs = place, outputs

    def of_batch(self, outputs):
        return np.fromiter([to_array(outputs[i]) for i in self._outputs], object, 3)

    def parts(self, sparse, dense):
        values, counts = sparse[self._place]
        array = values.numpy() if isinstance(values, torch.Tensor) else values
        ends = np.cumsum(counts).tolist()
        bounds = list(zip([0, *ends[:-1]], ends, strict=True))
        indices = positions(counts)[:, None]
        return list(
            zip(
                [indices[start:end] for start, end in bounds],
                [array[start:end] for start, end in bounds],
                list(counts[:, None]),
                strict=True,
            )
        )


# Elements ----------------------------------------------------------------------------------------


class _ReadAhead(RowElements):
    """What is computed of elements that are read ahead.

    `_given` is what was read, `_made` what was made of it, from `_place` on. For elements of which
    nothing can be made together `_made` is None: `alone(element)` computes each of them, or fails.
    """

    most = 256  # elements at once

    def __init__(self, source, argument, parser, defaults, columns, alone):
        self._source, self._argument = source, argument
        self._parser, self._defaults, self._columns = parser, defaults, columns
        self._alone = alone
        self._given, self._made, self._place = [], None, 0
        self._failure = None
        self._size = 1

    def several(self, most):
        if self._place == len(self._given):
            self._read()
            if not self._given:
                failure, self._failure = self._failure, None
                if failure is not None:
                    raise failure
                return []
            self._make()
        place = self._place
        if self._made is None:
            self._place += 1
            return [tuple(self._alone(as_element(self._given[place])))]
        made = self._made[place : place + most]
        self._place += len(made)
        return made

    def _read(self):
        self._given, self._place = [], 0
        if self._failure is not None:
            return
        # The first elements come as fast as they can; a long pipeline gets to large batches.
        size, self._size = self._size, min(2 * self._size, self.most)
        try:
            while len(self._given) < size:
                some = self._source.several(size - len(self._given))
                if not some:
                    break
                self._given += some
        except errors.OpError as error:
            self._failure = error

    def _make(self):
        try:
            strings, self._made = self._parsed()
        except (errors.OpError, ValueError):
            self._made = None
            return
        if sum(map(len, strings)) > _MOST_BYTES:
            self._size = max(1, len(self._given) // 2)

    def _parsed(self):
        """All strings of `_given`, and what is made of it."""
        raise NotImplementedError

    def save(self):
        failed = None if self._failure is None else saved_element(Failure(self._failure))
        given = itertools.islice(self._given, self._place, None)
        return [[list(as_element(entry)) for entry in given], failed, self._source.save()]

    def restore(self, state):
        given, failed, source = state
        self._source.restore(source)
        self._given, self._place = [tuple(element) for element in given], 0
        self._failure = None if failed is None else restored_element(failed).error
        if self._given:
            self._make()

    def close(self):
        self._source.close()


class ParsedRows(_ReadAhead):
    """Rows of the features of single Examples."""

    def __init__(self, *args):
        super().__init__(*args)
        self._kinds = Kinds([column.kind for column in self._columns])

    def _parsed(self):
        strings = [self._string(entry) for entry in self._given]
        sparse, dense = self._parser.columns(strings, self._defaults)
        return strings, self._kinds.rows(*[part.parts(sparse, dense) for part in self._columns])

    def _string(self, entry):
        """The bytes that are to be parsed, which a row of strings just holds."""
        if type(entry[0]) is Kinds and type(entry[1 + self._argument]) is bytes:
            return entry[1 + self._argument]
        value = as_element(entry)[self._argument]
        if value.ndim:
            raise ValueError("not a scalar")
        return value.item()


class ParsedBatches(_ReadAhead):
    """The features of batches of Examples; the batches may differ in size."""

    gives_rows = False
    most = 8

    def _parsed(self):
        batches = [as_element(entry)[self._argument] for entry in self._given]
        if any(batch.ndim != 1 for batch in batches):
            raise ValueError("not a vector")
        strings = np.concatenate(batches).tolist()
        columns = self._parser.columns(strings, self._defaults)
        ends = np.cumsum([len(batch) for batch in batches]).tolist()
        made = []
        for start, end in zip([0, *ends[:-1]], ends, strict=True):
            outputs = self._parser.batch_of(columns, start, end)
            made.append(tuple([column.of_batch(outputs) for column in self._columns]))
        return strings, made
