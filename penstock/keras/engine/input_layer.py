"""`tf.keras.Input` and the layer behind it."""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock.keras import backend as K
from penstock.keras.engine.layer import Layer
from penstock.keras.engine.node import Node

__all__ = ["Input", "InputLayer"]


class InputLayer(Layer):
    """Where tensors enter a model: a placeholder, or a tensor that is given.

    Args:
      input_shape: shape without the batch.
      input_tensor: the tensor, instead of a new placeholder.
      sparse: whether the placeholder is of a sparse tensor.
    """

    def __init__(
        self,
        input_shape: Any = None,
        batch_size: int | None = None,
        dtype: Any = None,
        input_tensor: Any = None,
        sparse: bool = False,
        name: str | None = None,
        ragged: bool = False,
        **kwargs: Any,
    ):
        batch_size = _of_one_replica(batch_size)
        if "batch_input_shape" in kwargs:  # which is that of one replica already
            batch_size, *rest = kwargs.pop("batch_input_shape")
            input_shape = tuple(rest)
        if kwargs:
            raise ValueError(f"Unrecognized keyword arguments: {list(kwargs)}")
        if not name:
            name = K.unique_object_name("input", zero_based=False)
        if dtype is None:
            dtype = K.floatx() if input_tensor is None else K.dtype(input_tensor)
        super().__init__(dtype=dtype, name=name)
        self.built = True
        self.sparse = sparse
        self.ragged = ragged
        self.batch_size = batch_size
        self.supports_masking = True
        if input_tensor is None:
            shape: Any = None if input_shape is None else (batch_size, *_sizes(input_shape))
            with K.get_graph().as_default():
                tensor = K.placeholder(
                    shape=shape, dtype=dtype, name=self.name, sparse=sparse, ragged=ragged
                )
            self.is_placeholder = True
            self._batch_input_shape = shape
        else:
            if not K.is_tensor(input_tensor):
                raise ValueError(f"`input_tensor` must be a tensor, got {input_tensor}")
            tensor = input_tensor
            self.is_placeholder = False
            self._batch_input_shape = tuple(tensor.shape.as_list())
        tensor._keras_mask = None
        node = Node(self, [], [tensor], {})
        node.input_tensors = [tensor]

    def get_config(self) -> dict[str, Any]:
        return {
            "batch_input_shape": self._batch_input_shape,
            "dtype": self.dtype,
            "sparse": self.sparse,
            "ragged": self.ragged,
            "name": self.name,
        }


def _of_one_replica(batch_size: int | None) -> int | None:
    """The part of a batch that one replica of the strategy around gets."""
    strategy = tf.distribute.get_strategy()
    if batch_size is None or not strategy.extended._global_batch_size:
        return batch_size
    replicas = strategy.num_replicas_in_sync
    if batch_size % replicas:
        raise ValueError(
            f"The `batch_size` argument value {batch_size} cannot be divisible by number of "
            f"replicas {replicas}"
        )
    return batch_size // replicas


def _sizes(shape: Any) -> tuple[Any, ...]:
    if isinstance(shape, int):
        return (shape,)
    return tuple(shape.as_list() if hasattr(shape, "as_list") else shape)


def Input(
    shape: Any = None,
    batch_size: int | None = None,
    name: str | None = None,
    dtype: Any = None,
    sparse: bool = False,
    tensor: Any = None,
    ragged: bool = False,
    **kwargs: Any,
) -> Any:
    """A tensor that a model is built from.

    Args:
      shape: shape without the batch; None entries may have any size.
      batch_size: size of the batch, if it is fixed.
      tensor: a tensor to use instead of a new placeholder.
    """
    if "batch_shape" in kwargs:
        batch_shape = kwargs.pop("batch_shape")
        if shape and batch_shape:
            raise ValueError(
                "Only provide the `shape` OR `batch_input_shape` argument to Input, not both at "
                "the same time."
            )
        kwargs["batch_input_shape"] = batch_shape
    elif shape is not None:
        kwargs.update(input_shape=_sizes(shape), batch_size=batch_size)
    elif tensor is None:
        raise ValueError(
            "Please provide to Input either a `shape` or a `tensor` argument. Note that `shape` "
            "does not include the batch dimension."
        )
    layer = InputLayer(
        name=name, dtype=dtype, sparse=sparse, input_tensor=tensor, ragged=ragged, **kwargs
    )
    return layer.output
