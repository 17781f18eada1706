"""`tf.contrib.learn`'s signatures of tensors: their types and shapes, but for the batch's size."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import penstock as tf

#: What Examples hold in the place of types that they don't have.
_TYPES_IN_EXAMPLES = {tf.int32: tf.int64, tf.float64: tf.float32}


class TensorSignature(namedtuple("TensorSignature", ["dtype", "shape", "is_sparse"])):
    """The type and the shape of a tensor; a sparse one has no shape here."""

    __slots__ = ()

    def __new__(cls, tensor: Any) -> TensorSignature:
        if isinstance(tensor, tf.SparseTensor):
            return super().__new__(cls, dtype=tensor.values.dtype, shape=None, is_sparse=True)
        return super().__new__(cls, dtype=tensor.dtype, shape=tensor.get_shape(), is_sparse=False)

    def is_compatible_with(self, other: TensorSignature) -> bool:
        """Whether tensors of both signatures can stand for each other, whatever their batch."""
        if not self.dtype.is_compatible_with(other.dtype) or self.is_sparse != other.is_sparse:
            return False
        return self.is_sparse or _equal_but_for_batch(self.shape, tf.TensorShape(other.shape))

    def get_placeholder(self) -> Any:
        """A placeholder of this signature, for batches of any size."""
        if self.is_sparse:
            return tf.sparse_placeholder(dtype=self.dtype)
        return tf.placeholder(dtype=self.dtype, shape=[None, *self.shape[1:]])

    def get_feature_spec(self) -> Any:
        """The feature of Examples that holds such tensors."""
        dtype = _TYPES_IN_EXAMPLES.get(self.dtype, self.dtype)
        if self.is_sparse:
            return tf.VarLenFeature(dtype=dtype)
        return tf.FixedLenFeature(shape=self.shape[1:], dtype=dtype)


def _equal_but_for_batch(one: Any, other: Any) -> bool:
    if one.ndims is None or other.ndims is None:
        return True
    return one.ndims == other.ndims and one[1:].is_compatible_with(other[1:])


def tensors_compatible(tensors: Any, signatures: Any) -> bool:
    """Whether a tensor, or a dictionary of such, is what signatures say."""
    if tensors is None or signatures is None:
        return tensors is signatures
    if isinstance(tensors, dict) != isinstance(signatures, dict):
        return False
    if not isinstance(tensors, dict):
        return TensorSignature(tensors).is_compatible_with(signatures)
    return all(
        key in tensors and TensorSignature(tensors[key]).is_compatible_with(signature)
        for key, signature in signatures.items()
    )


def create_signatures(tensors: Any) -> Any:
    """The signature of a tensor, or those of a dictionary's."""
    if tensors is None:
        return None
    if isinstance(tensors, dict):
        return {key: TensorSignature(tensor) for key, tensor in tensors.items()}
    return TensorSignature(tensors)


def create_placeholders_from_signatures(signatures: Any) -> Any:
    """A placeholder for each signature."""
    if signatures is None:
        return None
    if isinstance(signatures, dict):
        return {key: signature.get_placeholder() for key, signature in signatures.items()}
    return signatures.get_placeholder()


def create_example_parser_from_signatures(
    signatures: Any, examples_batch: Any, single_feature_name: str = "feature"
) -> Any:
    """The tensors of the signatures, parsed of serialized Examples.

    Args:
      single_feature_name: what the feature is called if there is but one signature.
    """
    named = signatures if isinstance(signatures, dict) else {single_feature_name: signatures}
    spec = {name: signature.get_feature_spec() for name, signature in named.items()}
    found = tf.parse_example(examples_batch, spec)
    for name, signature in named.items():
        if not signature.dtype.is_compatible_with(found[name].dtype):
            found[name] = tf.cast(found[name], signature.dtype)
    return found if isinstance(signatures, dict) else found[single_feature_name]
