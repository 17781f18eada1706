"""Structures as messages, registered types, and names of modes."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import pytest
from penstock.python.saved_model import nested_structure_coder, revived_types
from penstock.python.saved_model.model_utils import mode_keys

import penstock as tf
from penstock.data.dataset import DatasetSpec
from penstock.ir.bounded_tensor_spec import BoundedTensorSpec
from penstock.ragged.tensor_spec import RaggedTensorSpec

Point = namedtuple("Point", ["x", "y"])


@pytest.mark.parametrize(
    "structure",
    [
        [1, 2.5, "a", True, None],
        (1, [], {}),
        {"p": Point(x=1, y=[False])},
        tf.TensorShape([1, None]),
        tf.TensorShape(None),
        tf.float16,
        tf.TensorSpec([None, 2], tf.int32, name="s"),
        [tf.SparseTensorSpec([2, 3], tf.string), RaggedTensorSpec([None, None], tf.int64)],
        tf.IndexedSlicesSpec([3], tf.float32, tf.int32, tf.int64, [None]),
    ],
)
def test_structures_come_back(structure: Any) -> None:
    coder = nested_structure_coder.StructureCoder()
    assert coder.can_encode(structure)
    again = coder.decode_proto(coder.encode_structure(structure))
    assert str(again) == str(structure)


def test_what_has_no_message() -> None:
    coder = nested_structure_coder.StructureCoder()
    assert not coder.can_encode([object()])
    with pytest.raises(nested_structure_coder.NotEncodableError, match="No encoder for object"):
        coder.encode_structure({"a": object()})
    message = coder.encode_structure(tf.SparseTensorSpec([2], tf.int32))
    message.type_spec_value.type_spec_class = 12
    with pytest.raises(ValueError, match="'SparseTensorSpec' is not supported"):
        coder.decode_proto(message)


def test_versions_of_types() -> None:
    made = revived_types.VersionedTypeRegistration
    old = made(lambda message: "old", 1, 0, 1)
    new = made(lambda message: "new", 2, 2, 1, bad_consumers=[3])
    revived_types.register_revived_type("our_text", lambda obj: isinstance(obj, str), [old, new])
    message = revived_types.serialize("x")
    assert message.version.producer == 2 and list(message.version.bad_consumers) == [3]
    assert revived_types.deserialize(message)[0] == "new"
    message.version.producer = 1
    assert revived_types.deserialize(message)[0] == "old"
    message.version.min_consumer = 5
    assert revived_types.deserialize(message) is None and revived_types.serialize(1.0) is None
    with pytest.raises(AssertionError, match="Duplicate registrations"):
        revived_types.register_revived_type("our_text", bool, [old])
    with pytest.raises(AssertionError, match="multiple registrations with version 1"):
        revived_types.register_revived_type("other", bool, [old, made(str, 1, 0, 0)])


def test_modes() -> None:
    modes = mode_keys.ModeKeyMap(train=1, eval=2, predict=3)
    assert (
        modes["test"] == 2 and modes["infer"] == 3 and list(modes) == ["train", "eval", "predict"]
    )
    with pytest.raises(ValueError, match="Invalid mode key"):
        modes["x"]
    with pytest.raises(ValueError, match="Multiple keys/values found for predict mode"):
        mode_keys.ModeKeyMap(predict=1, infer=2)


@pytest.mark.parametrize(
    ("number", "spec"),
    [
        (4, tf.TensorArraySpec([2], tf.float32, True, True)),
        (5, DatasetSpec({"t": tf.TensorSpec([10], tf.string)})),
        (7, tf.OptionalSpec(tf.TensorSpec([], tf.int32))),
    ],
)
def test_specs_of_libraries(number: int, spec: Any) -> None:
    message = nested_structure_coder.StructureCoder().encode_structure(spec)
    assert message.type_spec_value.type_spec_class == number
    assert message.type_spec_value.type_spec_class_name == type(spec).__name__
    assert nested_structure_coder.StructureCoder().decode_proto(message) == spec


def test_a_bounded_spec_is_written_without_its_bounds() -> None:
    bounded = BoundedTensorSpec([1], tf.float32, 0.0, 1.0, "b")
    message = nested_structure_coder.StructureCoder().encode_structure(bounded)
    assert nested_structure_coder.StructureCoder().decode_proto(message) == tf.TensorSpec(
        [1], tf.float32, "b"
    )
