"""Columns as plain dictionaries, and back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from penstock import dtypes, initializers


def config_of(column: Any) -> dict[str, Any]:
    """The fields of a column as plain values."""
    return {
        field: _TO_PLAIN[field](value) if field in _TO_PLAIN else value
        for field, value in zip(column._fields, column, strict=True)
    }


def from_config(
    cls: Any, config: dict[str, Any], custom_objects: Any = None, columns_by_name: Any = None
) -> Any:
    """The column whose fields `config_of` gave."""
    if set(config) != set(cls._fields):
        raise ValueError(f"Invalid config: {config}, expected keys: {cls._fields}")
    fields = {}
    for field, plain in config.items():
        if field in _FROM_PLAIN:
            plain = _FROM_PLAIN[field](plain, custom_objects, columns_by_name)
        fields[field] = tuple(plain) if isinstance(plain, list) else plain
    return cls(**fields)


def serialize_feature_column(fc: Any) -> Any:
    """A column as its class's name and its fields; the key of a feature as it is."""
    from penstock.feature_column.columns import FeatureColumn

    if isinstance(fc, str):
        return fc
    if isinstance(fc, FeatureColumn):
        return {"class_name": type(fc).__name__, "config": fc._get_config()}
    raise ValueError(f"Instance: {fc} is not a FeatureColumn")


def deserialize_feature_column(
    config: Any, custom_objects: Any = None, columns_by_name: Any = None
) -> Any:
    """The column that `serialize_feature_column` described.

    Args:
      columns_by_name: the columns made so far: equal ones are the same object again.
    """
    from penstock.feature_column import columns as protocol

    if isinstance(config, str):
        return config
    if not isinstance(config, dict) or not {"class_name", "config"} <= set(config):
        raise ValueError(f"Improper config format: {config}")
    name = config["class_name"]
    found = (custom_objects or {}).get(name) or _column_classes().get(name)
    if found is None:
        raise ValueError(f"Unknown feature_column_v2: {name}")
    if not issubclass(found, protocol.FeatureColumn):
        raise ValueError(f"Expected FeatureColumn class, instead found: {found}")
    known = {} if columns_by_name is None else columns_by_name
    made = found._from_config(
        config["config"], custom_objects=custom_objects, columns_by_name=known
    )
    return known.setdefault(f"{type(made).__name__}:{made.name}", made)


def serialize_feature_columns(feature_columns: Sequence[Any]) -> list[Any]:
    """Columns as plain values."""
    return [serialize_feature_column(column) for column in feature_columns]


def deserialize_feature_columns(configs: Sequence[Any], custom_objects: Any = None) -> list[Any]:
    """The columns that `serialize_feature_columns` described."""
    columns_by_name: dict[str, Any] = {}
    return [deserialize_feature_column(c, custom_objects, columns_by_name) for c in configs]


def _column_classes() -> dict[str, Any]:
    from penstock import feature_column

    return {name: value for name, value in vars(feature_column).items() if isinstance(value, type)}


def _plain_function(function: Any) -> Any:
    return None if function is None else function.__name__


def _function(name: Any, custom_objects: Any, columns_by_name: Any) -> Any:
    if name is None or callable(name):
        return name
    if name not in (custom_objects or {}):
        raise ValueError(f"Unknown function: {name}")
    return custom_objects[name]


def _plain_initializer(initializer: Any) -> Any:
    if hasattr(initializer, "get_config"):
        return {"class_name": type(initializer).__name__, "config": initializer.get_config()}
    return _plain_function(initializer)


def _initializer(plain: Any, custom_objects: Any, columns_by_name: Any) -> Any:
    if not isinstance(plain, dict):
        return _function(plain, custom_objects, columns_by_name)
    known = {**_initializer_classes(), **(custom_objects or {})}
    found = known.get(plain["class_name"])
    if found is None:
        raise ValueError(f"Unknown initializer: {plain['class_name']}")
    return found.from_config(plain["config"])


def _initializer_classes() -> dict[str, Any]:
    classes = [value for value in vars(initializers).values() if isinstance(value, type)]
    return {each.__name__: each for each in classes}


def _columns(plain: Any, custom_objects: Any, columns_by_name: Any) -> Any:
    return [deserialize_feature_column(key, custom_objects, columns_by_name) for key in plain]


#: How fields that are no plain values are written, and read.
_TO_PLAIN: dict[str, Callable[[Any], Any]] = {
    "categorical_column": serialize_feature_column,
    "dtype": lambda dtype: dtype.name,
    "initializer": _plain_initializer,
    "keys": lambda keys: tuple(serialize_feature_columns(keys)),
    "normalizer_fn": _plain_function,
    "source_column": serialize_feature_column,
}
_FROM_PLAIN: dict[str, Callable[[Any, Any, Any], Any]] = {
    "categorical_column": deserialize_feature_column,
    "dtype": lambda name, *_: dtypes.as_dtype(name),
    "initializer": _initializer,
    "keys": _columns,
    "normalizer_fn": _function,
    "source_column": deserialize_feature_column,
}
