"""Inputs of a model, as the command line gives them: files, expressions, examples."""

from __future__ import annotations

import ast
import operator
import re
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from penstock import gfile
from penstock.proto import Example

__all__ = [
    "load_inputs_from_input_arg_string",
    "preprocess_input_examples_arg_string",
    "preprocess_input_exprs_arg_string",
    "preprocess_inputs_arg_string",
]

_INPUT = re.compile(r"([^=]+)=([^\[\]]+)(?:\[([^\[\]]+)\])?$")


def preprocess_inputs_arg_string(inputs_str: str) -> dict[str, tuple[str, str | None]]:
    """`key=file;key=file[variable]` as files and variables by key."""
    found = {}
    for text in filter(None, inputs_str.split(";")):
        match = _INPUT.match(text)
        if match is None:
            raise RuntimeError(
                f'--inputs "{text}" format is incorrect. Please follow "<input_key>=<filename>", '
                'or "<input_key>=<filename>[<variable_name>]"'
            )
        found[match[1]] = (match[2], match[3])
    return found


def preprocess_input_exprs_arg_string(input_exprs_str: str) -> dict[str, Any]:
    """`key=expression;…` as values by key; see `evaluate` for what an expression may be."""
    found = {}
    for text in filter(None, input_exprs_str.split(";")):
        key, equals, expression = text.partition("=")
        if not equals:
            raise RuntimeError(
                f'--input_exprs "{input_exprs_str}" format is incorrect. Please follow '
                '"<input_key>=<python expression>"'
            )
        found[key] = evaluate(expression)
    return found


def preprocess_input_examples_arg_string(input_examples_str: str) -> dict[str, list[bytes]]:
    """`key=[{"feature": [values]}];…` as lists of serialized examples by key."""
    found = {}
    for key, examples in preprocess_input_exprs_arg_string(input_examples_str).items():
        if not isinstance(examples, list):
            raise ValueError(
                f'tf.Example input must be a list of dictionaries, but "{examples}" is '
                f"{type(examples)}"
            )
        found[key] = [_example(features) for features in examples]
    return found


def _example(features: dict[str, Any]) -> bytes:
    message = Example()
    for name, values in features.items():
        if not isinstance(values, list):
            raise ValueError(
                f'feature value must be a list, but {name}: "{values}" is {type(values)}'
            )
        feature = message.features.feature[name]
        first = values[0]
        if isinstance(first, float):
            feature.float_list.value.extend(values)
        elif isinstance(first, (str, bytes)):
            feature.bytes_list.value.extend(v.encode() if isinstance(v, str) else v for v in values)
        elif isinstance(first, int):
            feature.int64_list.value.extend(values)
        else:
            raise ValueError(
                f"Type {type(first)} for value {first} is not supported for tf.train.Feature."
            )
    return message.SerializeToString()


def load_inputs_from_input_arg_string(
    inputs_str: str, input_exprs_str: str, input_examples_str: str
) -> dict[str, Any]:
    """The values to feed by the keys of a signature's inputs.

    Args:
      inputs_str: `key=file` or `key=file[variable]`, with semicolons between; files are NumPy's.
      input_exprs_str: `key=expression`, with semicolons between.
      input_examples_str: `key=[{"feature": [values]}]`, with semicolons between.
    """
    feeds: dict[str, Any] = {}
    for key, (filename, variable) in preprocess_inputs_arg_string(inputs_str).items():
        feeds[key] = _from_file(filename, variable)
    for option, values in (
        ("--input_exprs", preprocess_input_exprs_arg_string(input_exprs_str)),
        ("--input_examples", preprocess_input_examples_arg_string(input_examples_str)),
    ):
        for key, value in values.items():
            if key in feeds:
                warnings.warn(
                    f"input_key {key} has been specified in multiple options. Value in {option} "
                    "will be used.",
                    stacklevel=2,
                )
            feeds[key] = value
    return feeds


def _from_file(filename: str, variable: str | None) -> Any:
    with gfile.GFile(filename, "rb") as file:
        try:
            data = np.load(file, allow_pickle=False)
        except ValueError as error:
            raise RuntimeError(
                f"Input file {filename} is no .npy or .npz file of numbers: {error}"
            ) from None
        if isinstance(data, np.ndarray):
            if variable:
                warnings.warn(
                    f'Input file {filename} contains a single ndarray. Name key "{variable}" '
                    "ignored.",
                    stacklevel=3,
                )
            return data
        with data:
            if variable is None and len(data.files) != 1:
                raise RuntimeError(
                    f"Input file {filename} contains more than one ndarrays. Please specify the "
                    "name of ndarray to use."
                )
            name = data.files[0] if variable is None else variable
            if name not in data:
                raise RuntimeError(
                    f'Input file {filename} does not contain variable with name "{name}".'
                )
            return data[name]


# Expressions ----------------------------------------------------------------------------------

_OPERATORS: dict[type, Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
}
# The functions of NumPy that make and shape arrays; none of them touches a file.
_FUNCTIONS = frozenset(
    "arange array asarray bool_ concatenate exp eye full float16 float32 float64 identity int8 "
    "int16 int32 int64 linspace log ones random.normal random.rand random.randint random.randn "
    "random.uniform reshape repeat sqrt stack tile transpose uint8 uint16 uint32 uint64 "
    "zeros".split()
)
_METHODS = frozenset(["astype", "reshape", "transpose"])


def evaluate(expression: str) -> Any:
    """The value of a Python expression of literals, arithmetic and NumPy's array functions.

    `np.ones((2, 3)) * 0.5` is one; anything that could do more than compute is refused.
    """
    try:
        return _value(ast.parse(expression.strip(), mode="eval").body)
    except SyntaxError as error:
        raise RuntimeError(f"{expression!r} is no Python expression: {error}") from None


def _value(node: ast.expr) -> Any:
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, (ast.List, ast.Tuple)):
        entries = [_value(entry) for entry in node.elts]
        return entries if isinstance(node, ast.List) else tuple(entries)
    if isinstance(node, ast.Dict):
        keys = [_value(key) for key in node.keys if key is not None]
        return dict(zip(keys, map(_value, node.values), strict=True))
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        return _OPERATORS[type(node.op)](_value(node.left), _value(node.right))
    if isinstance(node, ast.UnaryOp) and type(node.op) in _OPERATORS:
        return _OPERATORS[type(node.op)](_value(node.operand))
    if isinstance(node, ast.Call):
        arguments = [_value(argument) for argument in node.args]
        keywords = {each.arg: _value(each.value) for each in node.keywords if each.arg}
        return _called(node.func)(*arguments, **keywords)
    if isinstance(node, ast.Attribute):
        return _called(node)  # a type: np.float32
    raise RuntimeError(f"{ast.unparse(node)!r} is not allowed in an input's expression")


def _called(node: ast.expr) -> Callable[..., Any]:
    path = ast.unparse(node)
    name = path.removeprefix("numpy.").removeprefix("np.")
    if path.startswith(("np.", "numpy.")) and name in _FUNCTIONS:
        return operator.attrgetter(name)(np)
    if isinstance(node, ast.Attribute) and node.attr in _METHODS:
        return getattr(_value(node.value), node.attr)
    raise RuntimeError(f"{path!r} is not allowed in an input's expression")
