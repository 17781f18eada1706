"""Kernels that parse `tf.train.Example` messages.

A column reads one feature of all examples. Where it can't, a report words the error, as TensorFlow
does for a batch, for a single example, or for a sequence.
"""

import functools

import torch

from penstock import proto, shapes
from penstock.kernels.feature_values import (
    KINDS,
    WrongKind,
    invalid,
    row_splits,
    sparse_matrix_parts,
    values_of,
)
from penstock.kernels.registry import HOST, kernel
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
    """Reads one feature of all examples, each of them given as its map of features."""

    def __init__(self, key, dtype):
        self.key = key
        self.kind = KINDS[dtype]

    def _values(self, features, report, index):
        """The list message of the feature in one example; None where it is missing."""
        feature = features.get(self.key)
        if feature is None:
            return None
        try:
            return values_of(feature, self.kind.field)
        except WrongKind as wrong:
            raise report.mismatched(index, self, wrong.given, feature) from None


class Ragged(_Column):
    """Values of any number in each example."""

    def gather(self, examples, report):
        """All values, and how many each example has."""
        gatherer, counts = self.kind.gatherer(), []
        for i, features in enumerate(examples):
            values = self._values(features, report, i)
            count = 0 if values is None else len(values.value)
            if count:
                gatherer.add(values, count)
            counts.append(count)
        return gatherer.array(), counts


class Dense(_Column):
    """A tensor of one shape from each example."""

    def __init__(self, key, dtype, shape):
        super().__init__(key, dtype)
        self.shape = shape
        self.count = shapes.num_elements(shape)

    def read(self, examples, default, report, single):
        gatherer, prepared = self.kind.gatherer(), None
        for i, features in enumerate(examples):
            values = self._values(features, report, i)
            if values is None:
                if prepared is None:
                    prepared = self._prepared(default, report, i)
                gatherer.add_prepared(prepared)
                continue
            count = len(values.value)
            if count != self.count:
                raise report.miscounted(i, self, count)
            gatherer.add(values, count)
        return gatherer.array().reshape(self.shape if single else (len(examples), *self.shape))

    def _prepared(self, default, report, index):
        array = to_array(default)
        if array.size == 0:
            raise report.missing(index, self)
        return self.kind.gatherer.prepared(array)

    def check_default(self, default, number):
        array = to_array(default)
        if array.size and not shapes.compatible(tuple(array.shape), self.shape):
            raise invalid(
                f"def_value[{number}].shape() == {shapes.text(tuple(array.shape))} is not "
                f"compatible with dense_shapes_[{number}] == {shapes.text(self.shape)}"
            )


class Padded(Dense):
    """Rows of one shape, any number from each example, filled up to the longest."""

    def __init__(self, key, dtype, shape):
        super().__init__(key, dtype, shape)
        self.count = shapes.num_elements(shape[1:])

    def read(self, examples, default, report, single):
        lists = [self._values(features, report, i) for i, features in enumerate(examples)]
        counts = [0 if values is None else len(values.value) for values in lists]
        for i, count in enumerate(counts):
            if self.count == 0 or count % self.count:
                raise report.indivisible(i, self, count)
        longest = max(counts, default=0)
        gatherer = self.kind.gatherer()
        padding = self.kind.gatherer.prepared(to_array(default))
        for values, count in zip(lists, counts, strict=True):
            if count:
                gatherer.add(values, count)
            if count < longest:
                gatherer.add_prepared(padding, longest - count)
        rows = (longest // self.count, *self.shape[1:])
        return gatherer.array().reshape(rows if single else (len(examples), *rows))

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

    def parse(self, serialized, names, defaults, *, single):
        """The outputs of a parsing op for a list of strings; of the only one if `single`."""
        for i, (column, default) in enumerate(zip(self._dense, defaults, strict=True)):
            column.check_default(default, i)
        examples = [_parsed(string) for string in serialized]
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


def _parsed(serialized):
    from google.protobuf.message import DecodeError

    try:
        return proto.Example.FromString(serialized).features.feature
    except DecodeError:
        shown = serialized.decode(errors="backslashreplace")
        raise invalid(f"Could not parse example input, value: '{shown}'") from None


def sparse_parts(counts, single):
    """Indices and shape; of a sparse vector if there is one example without a batch."""
    if not single:
        return sparse_matrix_parts(counts)
    (count,) = counts
    return torch.arange(count).reshape(count, 1), torch.tensor([count])


# Kernels ---------------------------------------------------------------------------------------


def _key_text(key):
    return attr_bytes(key).decode("utf-8", "surrogateescape")


def keyed(keys, *columns):
    """Tuples of a key as text and what the other lists say of it."""
    return tuple(zip([_key_text(key) for key in keys], *columns, strict=True))


def dense_shapes(attrs, key="dense_shapes"):
    return [tuple(shape) for shape in attrs[key]]


@kernel("ParseExample", devices=HOST)
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


@kernel("ParseExampleV2", devices=HOST)
def _(node):
    attrs = node.attrs

    @functools.lru_cache(maxsize=4)
    def parser_of(sparse_keys, dense_keys, ragged_keys):
        return ExampleParser(
            keyed(sparse_keys, attrs["sparse_types"]),
            keyed(dense_keys, attrs["Tdense"], dense_shapes(attrs)),
            keyed(ragged_keys, attrs["ragged_value_types"]),
            attrs["ragged_split_types"],
        )

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


@kernel("ParseSingleExample", devices=HOST)
def _(node):
    attrs = node.attrs
    parser = ExampleParser(
        keyed(attrs["sparse_keys"], attrs["sparse_types"]),
        keyed(attrs["dense_keys"], attrs["Tdense"], dense_shapes(attrs)),
    )

    def run(serialized, *defaults):
        if serialized.ndim:
            raise invalid(
                f"Expected serialized to be a scalar, got shape: {shapes.text(serialized.shape)}"
            )
        return parser.parse([serialized.item()], [], defaults, single=True)

    return run
