"""Decoding `tf.train.Example` records into items."""

from __future__ import annotations

import abc
from collections.abc import Callable, Mapping
from typing import Any

import penstock as tf
from penstock import image
from penstock.contrib.slim.data_decoder import DataDecoder


def _dense(value: Any, default_value: Any = 0) -> Any:
    if isinstance(value, tf.SparseTensor):
        return tf.sparse_tensor_to_dense(value, default_value)
    return value


class ItemHandler(abc.ABC):
    """Makes an item of the features with some keys."""

    def __init__(self, keys: Any):
        self._keys = list(keys) if isinstance(keys, (tuple, list)) else [keys]

    @property
    def keys(self) -> list[str]:
        return self._keys

    @abc.abstractmethod
    def tensors_to_item(self, keys_to_tensors: Mapping[str, Any]) -> Any:
        """The item, of parsed features by key."""


class ItemHandlerCallback(ItemHandler):
    """An item that a function makes of the dict of features."""

    def __init__(self, keys: Any, func: Callable[[Mapping[str, Any]], Any]):
        super().__init__(keys)
        self._func = func

    def tensors_to_item(self, keys_to_tensors: Mapping[str, Any]) -> Any:
        return self._func(keys_to_tensors)


class BoundingBox(ItemHandler):
    """Boxes, a row each, of the features of their four sides."""

    def __init__(self, keys: Any = None, prefix: str = ""):
        sides = ["ymin", "xmin", "ymax", "xmax"] if keys is None else keys
        if len(sides) != 4:
            raise ValueError(f"BoundingBox expects 4 keys but got {len(sides)}")
        super().__init__([prefix + side for side in sides])

    def tensors_to_item(self, keys_to_tensors: Mapping[str, Any]) -> Any:
        sides = [keys_to_tensors[key] for key in self.keys]
        rows = [side.values if isinstance(side, tf.SparseTensor) else side for side in sides]
        return tf.transpose(tf.concat([tf.expand_dims(row, 0) for row in rows], 0))


class Tensor(ItemHandler):
    """A feature, reshaped.

    Args:
      shape_keys: the features that hold the shape.
      shape: the shape, if it is known.
      default_value: what a sparse feature has where it has nothing.
    """

    def __init__(
        self, tensor_key: str, shape_keys: Any = None, shape: Any = None, default_value: Any = 0
    ):
        if shape_keys and shape is not None:
            raise ValueError("Cannot specify both shape_keys and shape parameters.")
        if shape_keys and not isinstance(shape_keys, list):
            shape_keys = [shape_keys]
        self._tensor_key = tensor_key
        self._shape_keys = shape_keys
        self._shape = shape
        self._default_value = default_value
        super().__init__([tensor_key, *(shape_keys or ())])

    def tensors_to_item(self, keys_to_tensors: Mapping[str, Any]) -> Any:
        tensor = keys_to_tensors[self._tensor_key]
        shape = self._shape
        if self._shape_keys:
            sizes = [_dense(keys_to_tensors[key]) for key in self._shape_keys]
            shape = tf.reshape(tf.stack(sizes), [-1])
        if not isinstance(tensor, tf.SparseTensor):
            return tensor if shape is None else tf.reshape(tensor, shape)
        if shape is not None:
            tensor = tf.sparse_reshape(tensor, shape)
        return _dense(tensor, self._default_value)


class LookupTensor(Tensor):
    """A feature whose values are looked up in a table."""

    def __init__(
        self,
        tensor_key: str,
        table: Any,
        shape_keys: Any = None,
        shape: Any = None,
        default_value: Any = "",
    ):
        self._table = table
        super().__init__(tensor_key, shape_keys, shape, default_value)

    def tensors_to_item(self, keys_to_tensors: Mapping[str, Any]) -> Any:
        return self._table.lookup(super().tensors_to_item(keys_to_tensors))


class BackupHandler(ItemHandler):
    """The item of one handler, or that of another where the first is empty."""

    def __init__(self, handler: ItemHandler, backup: ItemHandler):
        for kind, given in (("Primary", handler), ("Backup", backup)):
            if not isinstance(given, ItemHandler):
                raise ValueError(f"{kind} handler is of type {type(given)} instead of ItemHandler")
        self._handler = handler
        self._backup = backup
        super().__init__(handler.keys + backup.keys)

    def tensors_to_item(self, keys_to_tensors: Mapping[str, Any]) -> Any:
        item = self._handler.tensors_to_item(keys_to_tensors)
        return tf.cond(
            tf.equal(tf.reduce_prod(tf.shape(item)), 0),
            lambda: self._backup.tensors_to_item(keys_to_tensors),
            lambda: item,
        )


class SparseTensor(ItemHandler):
    """A sparse tensor of a feature of indices and one of values.

    Args:
      shape_key: the feature that holds the shape.
      densify: whether the item is made dense.
    """

    def __init__(
        self,
        indices_key: str | None = None,
        values_key: str | None = None,
        shape_key: str | None = None,
        shape: Any = None,
        densify: bool = False,
        default_value: Any = 0,
    ):
        self._indices_key = indices_key or "indices"
        self._values_key = values_key or "values"
        self._shape_key = shape_key
        self._shape = shape
        self._densify = densify
        self._default_value = default_value
        keys = [self._indices_key, self._values_key]
        super().__init__([*keys, shape_key] if shape_key else keys)

    def tensors_to_item(self, keys_to_tensors: Mapping[str, Any]) -> Any:
        indices = keys_to_tensors[self._indices_key]
        values = keys_to_tensors[self._values_key]
        if self._shape_key:
            shape = _dense(keys_to_tensors[self._shape_key])
        else:
            shape = self._shape or indices.dense_shape
        rank = tf.shape(indices.indices)[1]
        places = tf.reshape(tf.cast(indices.values, tf.int64), [-1, 1])
        kept = tf.slice(indices.indices, [0, 0], tf.stack([-1, rank - 1]))
        tensor = tf.SparseTensor(tf.concat([kept, places], 1), values.values, shape)
        return _dense(tensor, self._default_value) if self._densify else tensor


class Image(ItemHandler):
    """An image of a feature with its bytes and one with its format.

    Args:
      shape: shape to give to a raw image.
      repeated: whether the feature holds several images.
      dct_method: how JPEG is decompressed.
    """

    def __init__(
        self,
        image_key: str | None = None,
        format_key: str | None = None,
        shape: Any = None,
        channels: int = 3,
        dtype: Any = tf.uint8,
        repeated: bool = False,
        dct_method: str = "",
    ):
        self._image_key = image_key or "image/encoded"
        self._format_key = format_key or "image/format"
        super().__init__([self._image_key, self._format_key])
        self._shape = shape
        self._channels = channels
        self._dtype = dtype
        self._repeated = repeated
        self._dct_method = dct_method

    def tensors_to_item(self, keys_to_tensors: Mapping[str, Any]) -> Any:
        image_buffer = keys_to_tensors[self._image_key]
        image_format = keys_to_tensors[self._format_key]
        if not self._repeated:
            return self._decode(image_buffer, image_format)
        return tf.map_fn(
            lambda each: self._decode(each, image_format), image_buffer, dtype=self._dtype
        )

    def _decode(self, image_buffer: Any, image_format: Any) -> Any:
        def decode_image() -> Any:
            decoded = image.decode_image(image_buffer, channels=self._channels)
            return tf.cast(decoded, self._dtype)

        def decode_jpeg() -> Any:
            decoded = image.decode_jpeg(
                image_buffer, channels=self._channels, dct_method=self._dct_method
            )
            return tf.cast(decoded, self._dtype)

        def decode_compressed() -> Any:
            is_jpeg = image.is_jpeg(image_buffer)
            return tf.cond(is_jpeg, decode_jpeg, decode_image, name="cond_jpeg")

        def decode_raw() -> Any:
            return tf.decode_raw(image_buffer, out_type=self._dtype)

        is_raw = tf.logical_or(tf.equal(image_format, "raw"), tf.equal(image_format, "RAW"))
        decoded = tf.case([(is_raw, decode_raw)], default=decode_compressed, exclusive=True)
        decoded.set_shape([None, None, self._channels])
        return decoded if self._shape is None else tf.reshape(decoded, self._shape)


class TFExampleDecoder(DataDecoder):
    """Parses examples and makes items of their features.

    Args:
      keys_to_features: what to parse, as for `tf.parse_single_example`.
      items_to_handlers: an `ItemHandler` for each item.
    """

    def __init__(
        self, keys_to_features: Mapping[str, Any], items_to_handlers: Mapping[str, ItemHandler]
    ):
        self._keys_to_features = keys_to_features
        self._items_to_handlers = items_to_handlers

    def list_items(self) -> list[str]:
        """The names of the items."""
        return list(self._items_to_handlers)

    def decode(self, serialized_example: Any, items: Any = None) -> list[Any]:
        """The items of one example; all of them by default."""
        example = tf.parse_single_example(serialized_example, self._keys_to_features)
        for key in sorted(self._keys_to_features):
            feature = self._keys_to_features[key]
            if isinstance(feature, tf.FixedLenFeature):
                example[key] = tf.reshape(example[key], feature.shape)
        handlers = [self._items_to_handlers[item] for item in items or self._items_to_handlers]
        return [
            handler.tensors_to_item({key: example[key] for key in handler.keys})
            for handler in handlers
        ]
