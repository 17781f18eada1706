"""Batches of serialized Examples that a dataset parses."""

from __future__ import annotations

from penstock import dtypes, proto
from penstock.ir.function import FunctionGraph
from penstock.kernels.datasets.mapping import mapped_in_parallel, thread_count
from penstock.kernels.datasets.recipes import dataset_kernel
from penstock.kernels.datasets.statistics import statistics_name
from penstock.ops.example_ops import ParseExample
from penstock.ops.sparse_serialization import SerializeSparse
from penstock.state.datasets import DerivedDataset, UnaryElements, same_number


def _parsing_body(attrs):
    """The function that parses an element: its results are in the order of their keys."""
    body = FunctionGraph(name="parse_example")
    sparse, dense = [_texts(attrs[key]) for key in ("sparse_keys", "dense_keys")]
    with body.as_default():
        serialized = body.add_input(dtypes.string, None, "serialized")
        defaults = [body.add_input(dtype, None, "default") for dtype in attrs["Tdense"]]
        parts = ParseExample(
            serialized,
            [],
            sparse,
            dense,
            defaults,
            sparse_types=attrs["sparse_types"],
            dense_shapes=attrs["dense_shapes"],
        )
        values = dict(zip(dense, parts.dense_values, strict=True))
        components = zip(
            parts.sparse_indices, parts.sparse_values, parts.sparse_shapes, strict=True
        )
        for key, component in zip(sparse, components, strict=True):
            values[key] = SerializeSparse(*component, out_type=dtypes.variant)
        body.outputs = [values[key] for key in sorted(values)]
    return body


def _texts(keys):
    return [key.decode() if isinstance(key, bytes) else key for key in keys]


class _CountedFeatures(UnaryElements):
    """Records how many features and values the Examples have that are read."""

    def __init__(self, source, keys, name, recorder):
        super().__init__(source)
        self._keys, self._name, self._recorder = keys, name, recorder

    def next(self):
        element = self._source.next()
        if element is not None:
            for serialized in element[0].reshape(-1):
                self._record(proto.Example.FromString(serialized).features.feature)
        return element

    def _record(self, features):
        found = [features[key] for key in self._keys if key in features]
        kinds = [(feature, feature.WhichOneof("kind")) for feature in found]
        values = sum(len(getattr(feature, kind).value) for feature, kind in kinds if kind)
        self._recorder.add_to_histogram(f"{self._name}::features_count", len(found))
        self._recorder.add_to_histogram(f"{self._name}::feature_values_count", values)


def _counted(node, source):
    """The source, of whose Examples something is recorded where statistics are."""
    keys = _texts([*node.attrs["sparse_keys"], *node.attrs["dense_keys"]])

    def make(elements, context):
        if context.statistics is None:
            return elements
        return _CountedFeatures(elements, keys, statistics_name(node), context.statistics)

    return DerivedDataset(source, make, same_number)


@dataset_kernel("ParseExampleDataset", "ExperimentalParseExampleDataset")
def _(node, env):
    function = env.body_function(_parsing_body(node.attrs))

    def run(source, number, *defaults):
        threads = thread_count(number)
        return mapped_in_parallel(node, _counted(node, source), function, defaults, threads, True)

    return run
