"""Kernels that parse `tf.train.Example` messages.

A column reads one feature of all examples. Where it can't, a report words the error, as TensorFlow
does for a batch, for a single example, or for a sequence.
"""

import functools

import numpy as np
import torch

from penstock import shapes
from penstock.kernels.example_forms import ExampleForms
from penstock.kernels.packed_features import (
    KINDS,
    WrongKind,
    filled_up,
    invalid,
    positions,
    row_splits,
    sparse_matrix_parts,
    split_examples,
)
from penstock.kernels.parsing_read_ahead import ParsedAhead
from penstock.kernels.registry import HOST, kernel
from penstock.kernels.single_example import SingleExample
from penstock.kernels.string_arrays import attr_bytes
from penstock.kernels.values import to_array, torch_type


class ExampleReport:
    """Words errors: of the examples of a batch with their names, or of a single example."""

    def __init__(self, names, single):
        self._names = names
        self._single = single

    def missing(self, index, column):
        start = "" if self._single else f"Name: {self.name(index)}, "
        return invalid(
            f"{start}Feature: {column.key} (data type: {column.kind.name}) is required but could "
            "not be found."
        )

    def mismatched(self, index, column, given, feature):
        if isinstance(column, Dense):
            types = f"Data type: {given} but expected type: {column.kind.name}"
        else:
            types = f"Expected type: {column.kind.name}, Actual type: {given}"
        return self._wrong(index, column, f"Data types don't match. {types}")

    def miscounted(self, index, column, count):
        what = (
            f"Number of {column.kind.values_name} values != expected.  Values size: {count} but "
            f"output shape: {shapes.text(column.shape)}"
        )
        if self._single:
            unread = f"Some {column.kind.field} slice was not parsed."
            what = f"Can't parse serialized Example: {unread}  {what}"
        return self._wrong(index, column, what)

    def indivisible(self, index, column, count):
        if self._single:
            return invalid(
                f"Error while parsing feature with key {column.key}: number of elements should be "
                f"divisible by {column.count}, found {count} instead"
            )
        return self._wrong(
            index,
            column,
            f"Number of {column.kind.values_name} values is not a multiple of stride length. Saw "
            f"{count} values but output shape is: {shapes.text(column.shape)}",
        )

    def _wrong(self, index, column, what):
        if self._single:
            return invalid(f"Key: {column.key}.  {what}")
        return invalid(f"Name: {self.name(index)}, Key: {column.key}, Index: {index}.  {what}")

    def name(self, index):
        return self._names[index].decode(errors="replace") if self._names else "<unknown>"


class _Column:
    """Reads one feature of all examples, each of them given as its map from keys to messages."""

    def __init__(self, key, dtype):
        self.key = key
        self.kind = KINDS[dtype]

    def _payloads(self, examples, report):
        """What holds the values in each example; None where the feature is missing."""
        key = self.key
        try:
            return self.kind.payloads([example.get(key) for example in examples])
        except WrongKind as wrong:
            raise report.mismatched(wrong.index, self, wrong.given, wrong.feature) from None


class Ragged(_Column):
    """Values of any number in each example."""

    def gather(self, examples, report):
        """All values, and how many each example has."""
        payloads = self._payloads(examples, report)
        if None in payloads:
            nothing = self.kind.nothing
            payloads = [nothing if payload is None else payload for payload in payloads]
        return self.kind.decoded(payloads)


class Dense(_Column):
    """A tensor of one shape from each example."""

    def __init__(self, key, dtype, shape):
        super().__init__(key, dtype)
        self.shape = shape
        self.count = shapes.num_elements(shape)

    def read(self, examples, default, report, single):
        payloads = self._payloads(examples, report)
        if None in payloads:
            given = self._default(default, report, payloads.index(None))
            payloads = [given if payload is None else payload for payload in payloads]
        values, counts = self.kind.decoded(payloads)
        if (counts != self.count).any():
            wrong = int((counts != self.count).argmax())
            raise report.miscounted(wrong, self, int(counts[wrong]))
        return values.reshape(self.shape if single else (len(examples), *self.shape))

    def of_each(self, examples, default, report):
        """The tensors of the examples: a batch, or a list where their shapes may differ."""
        return self.read(examples, default, report, single=False)

    def _default(self, default, report, index):
        array = to_array(default)
        if array.size == 0:
            raise report.missing(index, self)
        return self.kind.payload_of(array.ravel().tolist())

    def check_default(self, default, number):
        shape = tuple(default.shape)
        if 0 not in shape and not shapes.compatible(shape, self.shape):
            raise invalid(
                f"def_value[{number}].shape() == {shapes.text(shape)} is not "
                f"compatible with dense_shapes_[{number}] == {shapes.text(self.shape)}"
            )


class Padded(Dense):
    """Rows of one shape, any number from each example, filled up to the longest."""

    def __init__(self, key, dtype, shape):
        super().__init__(key, dtype, shape)
        self.count = shapes.num_elements(shape[1:])

    def read(self, examples, default, report, single):
        values, counts = Ragged.gather(self, examples, report)
        for i, count in enumerate(counts.tolist()):
            if self.count == 0 or count % self.count:
                raise report.indivisible(i, self, count)
        longest = int(counts.max(initial=0))
        if (counts != longest).any():
            values = filled_up(values, counts, longest, to_array(default).item())
        rows = (longest // self.count, *self.shape[1:])
        return values.reshape(rows if single else (len(examples), *rows))

    def of_each(self, examples, default, report):
        return [self.read([example], default, report, single=True) for example in examples]

    def check_default(self, default, number):
        array = to_array(default)
        if array.size != 1:
            raise invalid(
                f"dense_shape[{number}] is a variable length shape: {shapes.text(self.shape)}, "
                f"therefore def_value[{number}] must contain a single element (the padding "
                f"element). But its shape is: {shapes.text(tuple(array.shape))}"
            )


class ExampleParser:
    """Parses examples into the tensors of some sparse, dense and ragged features."""

    def __init__(self, sparse, dense, ragged=(), split_types=()):
        self._sparse = [Ragged(key, dtype) for key, dtype in sparse]
        self._dense = [
            (Padded if shape and shape[0] is None else Dense)(key, dtype, shape)
            for key, dtype, shape in dense
        ]
        self._ragged = [Ragged(key, dtype) for key, dtype in ragged]
        self._split_types = [torch_type(dtype) for dtype in split_types]
        is_plain = not sparse and not ragged and all(type(c) is Dense for c in self._dense)
        self._single = SingleExample(self._dense) if is_plain else None
        numbers_only = is_plain and ExampleForms.can_read(self._dense)
        self._forms = ExampleForms(self._dense) if numbers_only else None
        self.has_equal_rows = not ragged and all(type(c) is Dense for c in self._dense)
        self._ahead = ParsedAhead(self)

    def parse(self, serialized, names, defaults, *, single):
        """The outputs of a parsing op for a list of strings; of the only one if `single`."""
        outputs = self._parsed_ahead(serialized, defaults, single)
        if outputs is not None:
            return outputs if len(outputs) != 1 else outputs[0]
        if single and self._single is not None:
            outputs = self._single.outputs(serialized[0], defaults)
            if outputs is not None:
                return outputs if len(outputs) != 1 else outputs[0]
        for i, (column, default) in enumerate(zip(self._dense, defaults, strict=True)):
            column.check_default(default, i)
        alike = None if self._forms is None or single else self._forms.read(serialized)
        if alike is not None:
            return alike if len(alike) != 1 else alike[0]
        examples = split_examples(serialized)
        report = ExampleReport(names, single)
        sparse = [column.gather(examples, report) for column in self._sparse]
        parts = [sparse_parts(counts, single) for _, counts in sparse]
        dense = [
            column.read(examples, default, report, single)
            for column, default in zip(self._dense, defaults, strict=True)
        ]
        ragged = [column.gather(examples, report) for column in self._ragged]
        outputs = [
            *(indices for indices, _ in parts),
            *(values for values, _ in sparse),
            *(shape for _, shape in parts),
            *dense,
            *(values for values, _ in ragged),
            *(
                torch.empty(0, dtype=dtype) if single else row_splits(counts, dtype)
                for (_, counts), dtype in zip(ragged, self._split_types, strict=True)
            ),
        ]
        return outputs if len(outputs) != 1 else outputs[0]

    def _parsed_ahead(self, serialized, defaults, single):
        if single:
            return None if self._ragged else self._ahead.row(serialized[0], defaults)
        return self._ahead.batch(serialized, defaults) if self.has_equal_rows else None

    def rows(self, serialized, defaults):
        """What `parse` gives for each of some strings alone, as a list of tuples.

        The parser has no ragged features: they have no form for a single example.
        """
        sparse, dense = self.columns(serialized, defaults)
        sparse = [sparse_rows(values, counts) for values, counts in sparse]
        dense = [column if isinstance(column, list) else _rows_of(column) for column in dense]
        return list(zip(*(part[i] for i in range(3) for part in sparse), *dense, strict=True))

    def columns(self, serialized, defaults):
        """What each sparse feature has in some strings: its values, and how many each string has;
        and what each dense feature has: a batch, or a list if their shapes may differ.
        """
        for i, (column, default) in enumerate(zip(self._dense, defaults, strict=True)):
            column.check_default(default, i)
        alike = None if self._forms is None else self._forms.read(serialized)
        if alike is not None:
            return [], alike
        examples, report = split_examples(serialized), ExampleReport([], single=True)
        sparse = [column.gather(examples, report) for column in self._sparse]
        dense = [
            column.of_each(examples, default, report)
            for column, default in zip(self._dense, defaults, strict=True)
        ]
        return sparse, dense

    @staticmethod
    def batch_of(columns, start, end):
        """The outputs of a parsing op for some of the strings that `columns` was called with."""
        sparse, dense = columns
        values, parts = [], []
        for all_values, all_counts in sparse:
            first, counts = int(all_counts[:start].sum()), all_counts[start:end]
            values.append(all_values[first : first + int(counts.sum())])
            parts.append(sparse_matrix_parts(counts))
        return [
            *(indices for indices, _ in parts),
            *values,
            *(shape for _, shape in parts),
            *(column[start:end] for column in dense),
        ]

    @property
    def no_row(self):
        return (None,) * (3 * len(self._sparse) + len(self._dense))


LARGE_ROW = 4096  # bytes: such a row does not keep the memory of all the others


def _rows_of(batch):
    """The entries of a batch along its first dimension."""
    if not isinstance(batch, torch.Tensor):
        return [batch[place, ...] for place in range(len(batch))]
    rows = batch.unbind(0)
    if len(rows) and rows[0].numel() * rows[0].element_size() > LARGE_ROW:
        return [row.clone() for row in rows]
    return rows


def sparse_rows(values, counts):
    """The indices, values and shapes of sparse vectors of `counts` values, as three lists."""
    sizes = counts.tolist()
    if isinstance(values, torch.Tensor):
        values = values.split(sizes)
    else:
        values = np.split(values, np.cumsum(sizes[:-1]))
    indices = torch.from_numpy(positions(counts)).unsqueeze(1).split(sizes)
    return indices, values, torch.from_numpy(counts).unsqueeze(1).unbind(0)


def sparse_parts(counts, single):
    """Indices and shape; of a sparse vector if there is one example without a batch."""
    if not single:
        return sparse_matrix_parts(counts)
    count = int(counts[0])
    return torch.arange(count).reshape(count, 1), torch.tensor([count])


# Kernels ---------------------------------------------------------------------------------------


def _key_text(key):
    return attr_bytes(key).decode("utf-8", "surrogateescape")


def keyed(keys, *columns):
    """Tuples of a key as text and what the other lists say of it."""
    return tuple(zip([_key_text(key) for key in keys], *columns, strict=True))


def dense_shapes(attrs, key="dense_shapes"):
    return [tuple(shape) for shape in attrs[key]]


@kernel("ParseExample", devices=HOST, fresh=True)
def _(node):
    attrs = node.attrs
    sparse_count, dense_count = attrs["Nsparse"], attrs["Ndense"]

    @functools.lru_cache(maxsize=4)
    def parser_of(keys):
        sparse_keys, dense_keys = keys[:sparse_count], keys[sparse_count:]
        return ExampleParser(
            keyed(sparse_keys, attrs["sparse_types"]),
            keyed(dense_keys, attrs["Tdense"], dense_shapes(attrs)),
        )

    def run(serialized, names, *rest):
        if serialized.ndim != 1:
            raise invalid(
                f"Expected serialized to be a vector, got shape: {shapes.text(serialized.shape)}"
            )
        if names.size not in (0, serialized.size):
            raise invalid(
                "Expected len(names) == len(serialized), but got: "
                f"{names.size} vs. {serialized.size}"
            )
        count = sparse_count + dense_count
        parser = parser_of(tuple(key.item() for key in rest[:count]))
        return parser.parse(serialized, names.tolist(), rest[count:], single=False)

    return run


def example_parser(attrs, sparse_keys, dense_keys, ragged_keys):
    """The parser of a ParseExampleV2 node for some keys."""
    return ExampleParser(
        keyed(sparse_keys, attrs["sparse_types"]),
        keyed(dense_keys, attrs["Tdense"], dense_shapes(attrs)),
        keyed(ragged_keys, attrs["ragged_value_types"]),
        attrs["ragged_split_types"],
    )


@kernel("ParseExampleV2", devices=HOST, fresh=True)
def _(node):
    attrs = node.attrs

    @functools.lru_cache(maxsize=4)
    def parser_of(sparse_keys, dense_keys, ragged_keys):
        return example_parser(attrs, sparse_keys, dense_keys, ragged_keys)

    def run(serialized, names, sparse_keys, dense_keys, ragged_keys, *defaults):
        if serialized.ndim > 1:
            raise invalid(
                "Expected serialized to be a scalar or vector, got shape: "
                f"{shapes.text(serialized.shape)}"
            )
        if names.size and names.shape != serialized.shape:
            raise invalid(
                "Expected names have the same shape as serialized: "
                f"name.shape={shapes.text(names.shape)}, "
                f"serialized.shape={shapes.text(serialized.shape)}"
            )
        parser = parser_of(tuple(sparse_keys), tuple(dense_keys), tuple(ragged_keys))
        single = serialized.ndim == 0
        return parser.parse(serialized.ravel(), names.ravel().tolist(), defaults, single=single)

    return run


def single_example_parser(attrs):
    """The parser of a ParseSingleExample node."""
    return ExampleParser(
        keyed(attrs["sparse_keys"], attrs["sparse_types"]),
        keyed(attrs["dense_keys"], attrs["Tdense"], dense_shapes(attrs)),
    )


@kernel("ParseSingleExample", devices=HOST, fresh=True)
def _(node):
    parser = single_example_parser(node.attrs)

    def run(serialized, *defaults):
        if serialized.ndim:
            raise invalid(
                f"Expected serialized to be a scalar, got shape: {shapes.text(serialized.shape)}"
            )
        return parser.parse([serialized.item()], [], defaults, single=True)

    return run
