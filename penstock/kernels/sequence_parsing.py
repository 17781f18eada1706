"""Kernels that parse `tf.train.SequenceExample` messages: a context, and lists of features.

A list is a sequence of features, one per step of time.
"""

import functools
import itertools

import numpy as np
import torch

from penstock import dtypes, proto, shapes
from penstock.kernels.example_parsing import (
    Dense,
    ExampleReport,
    Ragged,
    keyed,
    sparse_parts,
)
from penstock.kernels.packed_features import KINDS, WrongKind, filled_up, invalid, row_splits
from penstock.kernels.registry import HOST, kernel
from penstock.kernels.string_arrays import attr_bytes
from penstock.kernels.values import torch_type


class _Report(ExampleReport):
    """Words errors about a context and about lists, in the same way with or without a batch."""

    def __init__(self, names):
        super().__init__(names, single=False)

    def missing(self, index, column):
        return invalid(
            f"Name: {self.name(index)}, Context feature '{column.key}' is required but could not "
            "be found."
        )

    def mismatched(self, index, column, given, feature):
        return invalid(
            f"Name: {self.name(index)}, Context feature: {column.key}.  Data types don't match. "
            f"Expected type: {column.kind.name}  Feature is: {feature}"
        )

    def miscounted(self, index, column, count):
        return self.miscounted_step(index, column, 0, count)

    def missing_list(self, index, column):
        return invalid(
            f"Name: {self.name(index)}, Feature list '{column.key}' is required but could not be "
            "found.  Did you mean to include it in feature_list_dense_missing_assumed_empty or "
            "feature_list_dense_defaults?"
        )

    def mismatched_step(self, index, column, step, feature):
        return invalid(
            f"Name: {self.name(index)}, Feature list: {column.key}, Index: {step}.  Data types "
            f"don't match. Expected type: {column.kind.name}  Feature is: {feature}"
        )

    def miscounted_step(self, index, column, step, count):
        return invalid(
            f"Name: {self.name(index)}, Key: {column.key}, Index: {step}.  Number of "
            f"{column.kind.values_name} values != expected.  values size: {count} but output "
            f"shape: {shapes.text(column.shape)}"
        )


class _List:
    """Reads one list of features of all examples."""

    def __init__(self, key, dtype):
        self.key = key
        self.kind = KINDS[dtype]

    def _steps(self, lists, report, index):
        """What holds the values of each step of one example; None where the list is missing."""
        found = lists.get(self.key)
        if found is None:
            return None
        steps = [feature.SerializeToString() for feature in found.feature]
        try:
            payloads = self.kind.payloads(steps)
        except WrongKind as wrong:
            raise report.mismatched_step(index, self, wrong.index, wrong.feature) from None
        return [self.kind.nothing if payload is None else payload for payload in payloads]


class _RaggedList(_List):
    """Any number of values at each step."""

    def gather(self, examples, report):
        """All values, the numbers of values of all steps, and each example's number of steps."""
        sequences = [self._steps(lists, report, i) or [] for i, lists in enumerate(examples)]
        values, counts = self.kind.decoded(list(itertools.chain.from_iterable(sequences)))
        return values, counts, [len(steps) for steps in sequences]


class _DenseList(_List):
    """A tensor of one shape at each step, and zeros behind the last one."""

    def __init__(self, key, dtype, shape, may_be_missing):
        super().__init__(key, dtype)
        self.shape = shape
        self._count = shapes.num_elements(shape)
        self._may_be_missing = may_be_missing

    def read(self, examples, report, single):
        """The tensor, and each example's number of steps."""
        sequences = [self._present_steps(lists, report, i) for i, lists in enumerate(examples)]
        lengths = [len(steps) for steps in sequences]
        values, counts = self.kind.decoded(list(itertools.chain.from_iterable(sequences)))
        self._check_counts(counts, lengths, report)
        longest = max(lengths, default=0)
        if any(length != longest for length in lengths):
            sizes = [length * self._count for length in lengths]
            values = filled_up(values, sizes, longest * self._count, _PADDING[self.kind.dtype])
        rows = (longest, *self.shape)
        tensor = values.reshape(rows if single else (len(examples), *rows))
        return tensor, torch.tensor(lengths[0] if single else lengths, dtype=torch.int64)

    def _present_steps(self, lists, report, index):
        steps = self._steps(lists, report, index)
        if steps is None and not self._may_be_missing:
            raise report.missing_list(index, self)
        return steps or []

    def _check_counts(self, counts, lengths, report):
        wrong = np.flatnonzero(counts != self._count)
        if len(wrong):
            ends = np.cumsum(lengths)
            example = int(np.searchsorted(ends, wrong[0], side="right"))
            step = int(wrong[0] - ends[example] + lengths[example])
            raise report.miscounted_step(example, self, step, int(counts[wrong[0]]))


_PADDING = {dtypes.float32: 0.0, dtypes.int64: 0, dtypes.string: b""}


class SequenceParser:
    """Parses sequence examples; each argument lists keys with their types and shapes."""

    def __init__(
        self,
        context_sparse,
        context_dense,
        list_sparse,
        list_dense,
        context_ragged=(),
        list_ragged=(),
    ):
        self._context_sparse = [Ragged(*each) for each in context_sparse]
        self._context_dense = [Dense(*each) for each in context_dense]
        self._context_ragged = [(Ragged(*each[:2]), torch_type(each[2])) for each in context_ragged]
        self._list_sparse = [_RaggedList(*each) for each in list_sparse]
        self._list_dense = [_DenseList(*each) for each in list_dense]
        self._list_ragged = [(_RaggedList(*each[:2]), torch_type(each[2])) for each in list_ragged]

    def parse(self, serialized, names, defaults, *, single, lengths=True):
        """The outputs of a parsing op, flat; the lengths of dense lists only if asked for."""
        report = _Report(names)
        messages = [_parsed(string, report, i) for i, string in enumerate(serialized)]
        outputs = self._parse_context(messages, defaults, report, single)
        outputs += self._parse_lists(messages, report, single, lengths)
        return outputs if len(outputs) != 1 else outputs[0]

    def _parse_context(self, messages, defaults, report, single):
        contexts = [
            {key: feature.SerializeToString() for key, feature in message.context.feature.items()}
            for message in messages
        ]
        dense = [
            column.read(contexts, default, report, single)
            for column, default in zip(self._context_dense, defaults, strict=True)
        ]
        sparse = [column.gather(contexts, report) for column in self._context_sparse]
        parts = [sparse_parts(counts, single) for _, counts in sparse]
        ragged = [column.gather(contexts, report) for column, _ in self._context_ragged]
        split_types = [dtype for _, dtype in self._context_ragged]
        return [
            *(indices for indices, _ in parts),
            *(values for values, _ in sparse),
            *(shape for _, shape in parts),
            *dense,
            *(values for values, _ in ragged),
            *(
                torch.empty(0, dtype=dtype) if single else row_splits(counts, dtype)
                for (_, counts), dtype in zip(ragged, split_types, strict=True)
            ),
        ]

    def _parse_lists(self, messages, report, single, with_lengths):
        lists = [message.feature_lists.feature_list for message in messages]
        dense = [column.read(lists, report, single) for column in self._list_dense]
        sparse = [column.gather(lists, report) for column in self._list_sparse]
        parts = [_step_parts(counts, lengths, single) for _, counts, lengths in sparse]
        ragged = [(*column.gather(lists, report), dtype) for column, dtype in self._list_ragged]
        return [
            *(indices for indices, _ in parts),
            *(values for values, _, _ in sparse),
            *(shape for _, shape in parts),
            *(tensor for tensor, _ in dense),
            *(lengths for _, lengths in dense if with_lengths),
            *(values for values, _, _, _ in ragged),
            *(
                torch.empty(0, dtype=dtype) if single else row_splits(lengths, dtype)
                for _, _, lengths, dtype in ragged
            ),
            *(row_splits(counts, dtype) for _, counts, _, dtype in ragged),
        ]


def _parsed(serialized, report, index):
    from google.protobuf.message import DecodeError

    try:
        return proto.SequenceExample.FromString(serialized)
    except DecodeError:
        shown = serialized.decode(errors="backslashreplace")
        raise invalid(
            f"Invalid protocol message input, example id: {report.name(index)}.  Could not parse "
            f"example input, value: '{shown}'"
        ) from None


def _step_parts(counts, lengths, single):
    """Indices (example, step, number) of the values, and the shape that holds them all."""
    counts, lengths = np.array(counts, dtype=np.int64), np.array(lengths, dtype=np.int64)
    within, _ = sparse_parts(counts, single=False)
    indices = np.empty((len(within), 3), dtype=np.int64)
    examples = np.repeat(np.arange(len(lengths)), lengths)
    steps = np.arange(len(counts)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    which = within[:, 0].numpy()
    indices[:, 0], indices[:, 1] = examples[which], steps[which]
    indices[:, 2] = within[:, 1].numpy()
    shape = np.array([len(lengths), lengths.max(initial=0), counts.max(initial=0)])
    if single:
        indices, shape = indices[:, 1:].copy(), shape[1:]
    return torch.from_numpy(indices), torch.from_numpy(shape.astype(np.int64))


# Kernels ---------------------------------------------------------------------------------------


def _shapes(attrs, key):
    return [tuple(shape) for shape in attrs[key]]


def _dense_lists(attrs, keys, missing_allowed):
    return keyed(
        keys,
        attrs["feature_list_dense_types"],
        _shapes(attrs, "feature_list_dense_shapes"),
        missing_allowed,
    )


@kernel("ParseSequenceExample", devices=HOST, fresh=True)
def _(node):
    attrs = node.attrs
    allowed = {attr_bytes(key) for key in attrs["feature_list_dense_missing_assumed_empty"]}
    list_keys = attrs["feature_list_dense_keys"]
    parser = SequenceParser(
        keyed(attrs["context_sparse_keys"], attrs["context_sparse_types"]),
        keyed(
            attrs["context_dense_keys"],
            attrs["Tcontext_dense"],
            _shapes(attrs, "context_dense_shapes"),
        ),
        keyed(attrs["feature_list_sparse_keys"], attrs["feature_list_sparse_types"]),
        _dense_lists(attrs, list_keys, [attr_bytes(key) in allowed for key in list_keys]),
    )

    def run(serialized, names, *defaults):
        if serialized.ndim != 1:
            raise invalid(
                f"Expected serialized to be a vector, got shape: {shapes.text(serialized.shape)}"
            )
        _check_names(names, serialized)
        return parser.parse(serialized, names.tolist(), defaults, single=False)

    return run


def _check_names(names, serialized):
    if names.size not in (0, serialized.size):
        raise invalid("example_names must be empty or have the correct number of elements")


@kernel("ParseSequenceExampleV2", devices=HOST, fresh=True)
def _(node):
    attrs = node.attrs

    @functools.lru_cache(maxsize=4)
    def parser_of(
        context_sparse, context_dense, context_ragged, list_sparse, list_dense, list_ragged, allowed
    ):
        return SequenceParser(
            keyed(context_sparse, attrs["context_sparse_types"]),
            keyed(context_dense, attrs["Tcontext_dense"], _shapes(attrs, "context_dense_shapes")),
            keyed(list_sparse, attrs["feature_list_sparse_types"]),
            _dense_lists(attrs, list_dense, allowed),
            keyed(
                context_ragged,
                attrs["context_ragged_value_types"],
                attrs["context_ragged_split_types"],
            ),
            keyed(
                list_ragged,
                attrs["feature_list_ragged_value_types"],
                attrs["feature_list_ragged_split_types"],
            ),
        )

    def run(serialized, names, *rest):
        if serialized.ndim > 1:
            raise invalid(
                "Expected serialized to be a scalar or vector, got shape: "
                f"{shapes.text(serialized.shape)}"
            )
        _check_names(names, serialized)
        keys, allowed, defaults = rest[:6], rest[6], rest[7:]
        parser = parser_of(*(tuple(each.ravel()) for each in keys), tuple(allowed.tolist()))
        single = serialized.ndim == 0
        return parser.parse(serialized.ravel(), names.ravel().tolist(), defaults, single=single)

    return run


@kernel("ParseSingleSequenceExample", devices=HOST, fresh=True)
def _(node):
    attrs = node.attrs
    counts = [
        attrs[f"N{name}"]
        for name in ("context_sparse", "context_dense", "feature_list_sparse", "feature_list_dense")
    ]

    @functools.lru_cache(maxsize=4)
    def parser_of(context_sparse, context_dense, list_sparse, list_dense, allowed):
        return SequenceParser(
            keyed(context_sparse, attrs["context_sparse_types"]),
            keyed(context_dense, attrs["Tcontext_dense"], _shapes(attrs, "context_dense_shapes")),
            keyed(list_sparse, attrs["feature_list_sparse_types"]),
            _dense_lists(attrs, list_dense, [key in allowed for key in list_dense]),
        )

    def run(serialized, allowed, *rest):
        if serialized.ndim:
            raise invalid(
                f"Expected serialized to be a scalar, got shape: {shapes.text(serialized.shape)}"
            )
        keys, start = [], 0
        for count in counts:
            keys.append(tuple(key.item() for key in rest[start : start + count]))
            start += count
        parser = parser_of(*keys, frozenset(allowed.tolist()))
        names = rest[-1].ravel().tolist()
        defaults = rest[start:-1]
        return parser.parse([serialized.item()], names, defaults, single=True, lengths=False)

    return run
