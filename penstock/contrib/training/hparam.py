"""`tf.contrib.training.HParams`: named hyperparameters with types that a text can override."""

from __future__ import annotations

import json
import numbers
import re
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from penstock.ir.collection_protos import register_proto_function
from penstock.proto import HParamDef

__all__ = ["HParams", "parse_values"]

# One assignment of a text: name, optional [index], and a value or a [list].
PARAM_RE = re.compile(
    r"""
    (?P<name>[a-zA-Z][\w.]*)
    (\[\s*(?P<index>\d+)\s*\])?
    \s*=\s*
    ((?P<val>[^,\[]*) | \[(?P<vals>[^\]]*)\])
    ($|,\s*)""",
    re.VERBOSE,
)


def _parse_fail(name: str, var_type: type, value: Any, values: str) -> NoReturn:
    raise ValueError(
        f"Could not parse hparam '{name}' of type '{var_type.__name__}' with value '{value}' in "
        f"{values}"
    )


def _reuse_fail(name: str, values: str) -> NoReturn:
    raise ValueError(f"Multiple assignments to variable '{name}' in {values}")


def _parse_bool(text: str) -> bool:
    if text in ("true", "True"):
        return True
    if text in ("false", "False"):
        return False
    return bool(int(text))


def parse_values(
    values: str, type_map: Mapping[str, type], ignore_unknown: bool = False
) -> dict[str, Any]:
    """The assignments of a text: `"lr=0.1,layers=[64,32],layers[1]=8"` to a dictionary.

    Args:
      values: assignments, separated by commas; an assignment to an index gives a dictionary.
      type_map: the type of each name, or of its elements.
      ignore_unknown: whether names without a type are skipped.
    """
    results: dict[str, Any] = {}
    position = 0
    while position < len(values):
        match = PARAM_RE.match(values, position)
        if not match:
            raise ValueError(f"Malformed hyperparameter value: {values[position:]}")
        position = match.end()
        name = match["name"]
        if name in type_map:
            _assign(results, match, type_map[name], values)
        elif not ignore_unknown:
            raise ValueError(f"Unknown hyperparameter type for {name}")
    return results


def _assign(results: dict[str, Any], match: re.Match[str], kind: type, values: str) -> None:
    """Adds one assignment of a text to the results."""
    name, index, text = match["name"], match["index"], match["val"]
    parse: Callable[[str], Any] = _parse_bool if kind is bool else kind
    if text is None:
        if index is not None:
            raise ValueError("Assignment of a list to a list index.")
        if name in results:
            _reuse_fail(name, values)
        try:
            results[name] = [parse(part) for part in re.split("[ ,]", match["vals"]) if part]
        except ValueError:
            _parse_fail(name, kind, match["vals"], values)
        return
    try:
        value = parse(text)
    except ValueError:
        _parse_fail(name, kind, text, values)
    if index is None:
        if name in results:
            _reuse_fail(name, values)
        results[name] = value
        return
    elements = results.setdefault(name, {})
    if not isinstance(elements, dict):
        _reuse_fail(name, values)
    if int(index) in elements:
        _reuse_fail(f"{name}[{index}]", values)
    elements[int(index)] = value


def _values_of(message: Any) -> dict[str, Any]:
    """The values of an `HParamDef`, with text for bytes."""
    assert isinstance(message, HParamDef)

    def text(value: Any) -> Any:
        return value.decode() if isinstance(value, bytes) else value

    found: dict[str, Any] = {}
    for name, holder in message.hparam.items():
        kind = holder.WhichOneof("kind")
        value = getattr(holder, kind)
        is_list = kind.endswith("_list")
        found[name] = [text(each) for each in value.value] if is_list else text(value)
    return found


def _cast_to_type_if_compatible(name: str, param_type: type, value: Any) -> Any:
    """The value as the type of a hyperparameter, if nothing is lost by it."""
    if type(value) is param_type or issubclass(param_type, type(None)):
        return value
    incompatible = (
        (issubclass(param_type, (str, bytes)) and not isinstance(value, (str, bytes)))
        or issubclass(param_type, bool) != isinstance(value, bool)
        or (issubclass(param_type, numbers.Integral) and not isinstance(value, numbers.Integral))
        or (issubclass(param_type, numbers.Number) and not isinstance(value, numbers.Number))
    )
    if incompatible:
        raise ValueError(
            f"Could not cast hparam '{name}' of type '{param_type}' from value {value!r}"
        )
    convert: Callable[[Any], Any] = param_type
    return convert(value)


class HParams:
    """Hyperparameters as attributes, with the types of their first values.

    >>> hparams = tf.contrib.training.HParams(learning_rate=0.1, layers=[64, 32])
    >>> hparams.parse("learning_rate=0.3")
    >>> hparams.learning_rate
    0.3

    Args:
      hparam_def: an `HParamDef` message instead of names and values.
      model_structure: any description of the model.
      **kwargs: names and values.
    """

    _HAS_DYNAMIC_ATTRIBUTES = True

    def __init__(self, hparam_def: Any = None, model_structure: Any = None, **kwargs: Any):
        # What each hyperparameter is: its type, or that of its elements, and whether it is a list.
        self._hparam_types: dict[str, tuple[type, bool]] = {}
        self._model_structure = model_structure
        if hparam_def:
            if kwargs:
                raise ValueError("hparam_def and initialization values are mutually exclusive")
            kwargs = _values_of(hparam_def)
        for name, value in kwargs.items():
            self.add_hparam(name, value)

    def __getattr__(self, name: str) -> Any:
        # Only for type checkers and a clear message: attributes are set by add_hparam.
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def add_hparam(self, name: str, value: Any) -> None:
        """Adds a hyperparameter; its value may be a list of values of one type."""
        if getattr(self, name, None) is not None:
            raise ValueError(f"Hyperparameter name is reserved: {name}")
        if isinstance(value, (list, tuple)):
            if not value:
                raise ValueError(f"Multi-valued hyperparameters cannot be empty: {name}")
            self._hparam_types[name] = (type(value[0]), True)
        else:
            self._hparam_types[name] = (type(value), False)
        setattr(self, name, value)

    def set_hparam(self, name: str, value: Any) -> None:
        """Sets a hyperparameter, to a value of its type."""
        param_type, is_list = self._hparam_types[name]
        if isinstance(value, list):
            if not is_list:
                raise ValueError(f"Must not pass a list for single-valued parameter: {name}")
            cast = [_cast_to_type_if_compatible(name, param_type, each) for each in value]
            setattr(self, name, cast)
            return
        if is_list:
            raise ValueError(f"Must pass a list for multi-valued parameter: {name}.")
        setattr(self, name, _cast_to_type_if_compatible(name, param_type, value))

    def del_hparam(self, name: str) -> None:
        """Removes a hyperparameter if it is there."""
        if hasattr(self, name):
            delattr(self, name)
            del self._hparam_types[name]

    def parse(self, values: str) -> HParams:
        """Overrides hyperparameters by a text such as "learning_rate=0.3,layers=[8,4]"."""
        types = {name: param_type for name, (param_type, _) in self._hparam_types.items()}
        return self.override_from_dict(parse_values(values, types))

    def override_from_dict(self, values_dict: Mapping[str, Any]) -> HParams:
        """Overrides hyperparameters."""
        for name, value in values_dict.items():
            self.set_hparam(name, value)
        return self

    def set_from_map(self, values_map: Mapping[str, Any]) -> HParams:
        """The old name of `override_from_dict`."""
        return self.override_from_dict(values_map)

    def set_model_structure(self, model_structure: Any) -> None:
        self._model_structure = model_structure

    def get_model_structure(self) -> Any:
        return self._model_structure

    def to_json(self, indent: Any = None, separators: Any = None, sort_keys: bool = False) -> str:
        """The hyperparameters as JSON."""
        return json.dumps(self.values(), indent=indent, separators=separators, sort_keys=sort_keys)

    def parse_json(self, values_json: str) -> HParams:
        """Overrides hyperparameters by a JSON object."""
        return self.override_from_dict(json.loads(values_json))

    def values(self) -> dict[str, Any]:
        """The hyperparameters as a dictionary."""
        return {name: getattr(self, name) for name in self._hparam_types}

    def get(self, key: str, default: Any = None) -> Any:
        """A hyperparameter, or the default, whose type must fit."""
        if key not in self._hparam_types:
            return default
        if default is not None:
            self._check_default(key, default)
        return getattr(self, key)

    def _check_default(self, key: str, default: Any) -> None:
        param_type, is_list = self._hparam_types[key]
        described = f"list<{param_type}>" if is_list else str(param_type)
        problem = f"Hparam '{key}' of type '{described}' is incompatible with default={default}"
        if is_list != isinstance(default, list):
            raise ValueError(problem)
        try:
            for value in default if is_list else [default]:
                _cast_to_type_if_compatible(key, param_type, value)
        except ValueError as error:
            raise ValueError(f"{problem}. {error}") from None

    def __contains__(self, key: str) -> bool:
        return key in self._hparam_types

    def __str__(self) -> str:
        return ",".join(f"{name}={value}" for name, value in self.values().items())

    def __repr__(self) -> str:
        return f"{type(self).__name__}({sorted(self.values().items())})"

    @staticmethod
    def _get_kind_name(param_type: type, is_list: bool) -> str:
        """The field of an `HParamDef` for values of a type."""
        kinds = {bool: "bool", int: "int64", str: "bytes", bytes: "bytes", float: "float"}
        for base, kind in kinds.items():
            if issubclass(param_type, base):
                return f"{kind}_list" if is_list else f"{kind}_value"
        raise ValueError(f"Unsupported parameter type: {param_type}")

    def to_proto(self, export_scope: Any = None) -> Any:
        """The hyperparameters as an `HParamDef` message."""

        def encoded(value: Any) -> Any:
            return value.encode() if isinstance(value, str) else value

        message = HParamDef()
        for name, (param_type, is_list) in self._hparam_types.items():
            kind = self._get_kind_name(param_type, is_list)
            value = getattr(self, name)
            if is_list:
                getattr(message.hparam[name], kind).value.extend(map(encoded, value))
            else:
                setattr(message.hparam[name], kind, encoded(value))
        return message

    @staticmethod
    def from_proto(hparam_def: Any, import_scope: Any = None) -> HParams:
        """The hyperparameters of an `HParamDef` message."""
        return HParams(hparam_def=hparam_def)


register_proto_function(
    "hparams",
    proto_type=HParamDef,
    to_proto=HParams.to_proto,
    from_proto=HParams.from_proto,
)
