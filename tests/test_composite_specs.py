"""Specs that take values apart, and composite tensors of one's own in nested structures."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock import nest
from penstock.internal_paths import composite_parts
from penstock.ir.convert import CompositeTensor
from penstock.ir.type_spec import (
    TypeSpec,
    register_type_spec_from_value_converter,
    type_spec_from_value,
)


class PairSpec(TypeSpec):
    def __init__(self, parts: Any, label: str | None = None):
        self.parts, self.label = parts, label

    @property
    def value_type(self) -> Any:
        return Pair

    @property
    def _component_specs(self) -> Any:
        return self.parts

    def _serialize(self) -> tuple[Any, ...]:
        return self.parts, self.label

    def _to_components(self, value: Any) -> Any:
        return value.parts

    def _from_components(self, components: Any) -> Any:
        return Pair(components, self.label)


class Pair(CompositeTensor):
    def __init__(self, parts: Any, label: str | None = None):
        self.parts = tuple(parts) if isinstance(parts, list) else parts
        self.label = label

    @property
    def _type_spec(self) -> PairSpec:
        return PairSpec(nest.map_structure(type_spec_from_value, self.parts), self.label)


@pytest.fixture(autouse=True)
def _graph() -> Any:
    with tf.Graph().as_default():
        yield


def test_composites_are_taken_apart() -> None:
    structure = [{"k": Pair("a")}, Pair(["b", {"x": Pair({"y": "c"})}])]
    paths = [(0, "k", "Pair"), (1, "Pair", 0), (1, "Pair", 1, "x", "Pair", "y")]
    assert nest.flatten(structure, expand_composites=True) == ["a", "b", "c"]
    assert list(nest.yield_flat_paths(structure, expand_composites=True)) == paths
    assert len(nest.flatten(structure)) == 2
    again = nest.map_structure(str.upper, structure, expand_composites=True)
    assert again[0]["k"].parts == "A" and again[1].parts[1]["x"].parts == {"y": "C"}
    tree = nest.get_traverse_shallow_structure(lambda _: True, Pair([1, 2]), expand_composites=True)
    assert tree.parts == (True, True)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (Pair(0), Pair(["x"])),
        (Pair([1]), Pair([1, 2])),
        (Pair({"x": 1}), Pair({"y": 1})),
        (Pair(0, "one"), Pair(0, "other")),
    ],
)
def test_composites_of_other_types(first: Pair, second: Pair) -> None:
    nest.assert_same_structure(first, second)
    with pytest.raises(ValueError, match="Incompatible CompositeTensor TypeSpecs"):
        nest.assert_same_structure(first, second, expand_composites=True)
    with pytest.raises(ValueError, match="Incompatible CompositeTensor TypeSpecs"):
        nest.assert_shallow_structure(first, second, expand_composites=True)


def test_a_composite_and_its_spec_have_one_structure() -> None:
    value = Pair([tf.constant(1.0), tf.constant([2])])
    nest.assert_same_structure(value, value._type_spec, expand_composites=True)
    packed = nest.pack_sequence_as(value._type_spec, [1, 2], expand_composites=True)
    assert packed.parts == (1, 2)
    with pytest.raises(TypeError):
        nest.assert_shallow_structure(Pair([1, 2]), [1, 2], True, expand_composites=True)


def test_a_composite_of_ones_own_is_fetched() -> None:
    value = Pair([tf.constant(1.0), tf.constant([2])])
    with tf.Session() as session:
        fetched = session.run(value._parts())
    assert fetched[0] == 1.0 and value._with_parts([3, 4]).parts == (3, 4)


@pytest.mark.parametrize(
    "make",
    [
        lambda: tf.IndexedSlices(tf.ones([2, 3]), tf.constant([0, 4])),
        lambda: tf.IndexedSlices(tf.ones([2, 3]), tf.constant([0, 4]), tf.constant([9, 3])),
        lambda: tf.SparseTensor([[0, 1]], [7], [2, 3]),
        lambda: tf.ragged.constant([[1, 2], [3]]),
    ],
)
def test_specs_of_composites(make: Any) -> None:
    value = make()
    spec = type_spec_from_value(value)
    assert spec == value._type_spec and spec.is_compatible_with(value)
    assert hash(spec) == hash(make()._type_spec)
    parts = nest.flatten(spec._to_components(value))
    assert all(
        each.is_compatible_with(part)
        for each, part in zip(nest.flatten(spec._component_specs), parts, strict=True)
    )
    tensors = spec._to_tensor_list(value)
    again = spec._from_tensor_list(tensors)
    with tf.Session() as session:
        found, wanted = session.run([again._parts(), value._parts()])
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(one, other)
    with pytest.raises(ValueError, match="wrong number of tensors"):
        spec._from_tensor_list(tensors[1:])
    with pytest.raises(ValueError, match="Incompatible input"):
        spec._from_tensor_list([tf.constant("no"), *tensors[1:]])


def test_values_in_place_of_tensors() -> None:
    sparse = tf.SparseTensorSpec([None, 3], tf.int32)
    parts = [np.array([[0, 1]]), np.array([7]), np.array([1, 3])]
    assert isinstance(sparse._from_components(parts), tf.SparseTensorValue)
    slices = tf.IndexedSlicesSpec([None, 3])._from_components([np.ones([1, 3]), np.array([0])])
    assert type(slices).__name__ == "IndexedSlicesValue" and slices.dense_shape is None
    assert composite_parts.append_composite_tensor(
        tf.SparseTensorValue([[0, 0]], [1], [1, 2]), tf.SparseTensorValue([[0, 1]], [2], [3, 2])
    ).dense_shape == (4, 2)


def test_specs_of_other_values() -> None:
    assert type_spec_from_value([1, 2]) == tf.TensorSpec([2], tf.int32)
    rows = [tf.ragged.constant([[1, 2], [3]]), tf.ragged.constant([[1], [3, 4]])]
    assert type_spec_from_value(rows)._serialize()[2] == 2
    with pytest.raises(TypeError, match="Could not build a TypeSpec"):
        type_spec_from_value(object())
    kind = type("Kind", (), {})
    register_type_spec_from_value_converter(kind, lambda value: tf.TensorSpec([5]))
    assert type_spec_from_value(kind()) == tf.TensorSpec([5])


def test_batches_of_specs() -> None:
    for spec in (tf.TensorSpec([2], tf.int32), tf.SparseTensorSpec([2], tf.int32)):
        assert spec._batch(3)._serialize()[0].as_list() == [3, 2]
        assert spec._batch(3)._unbatch() == spec
        with pytest.raises(ValueError, match="rank >= 1"):
            spec._unbatch()._unbatch()
    with pytest.raises(ValueError, match="not convertible to a tensor"):
        tf.TensorSpec([2], tf.int32)._to_components([1, 2, 3])
