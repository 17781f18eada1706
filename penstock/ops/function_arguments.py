"""How the arguments of a `tf.function` are bound: by position, by name, to a signature."""

from __future__ import annotations

import functools
import inspect
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MethodType
from typing import Any

import numpy as np

from penstock.ir import expanded_trees, nest
from penstock.ir.convert import CompositeTensor, convert_to_tensor
from penstock.ir.same_structure import items
from penstock.ir.tensor import Tensor
from penstock.ir.tensor_spec import TensorSpec
from penstock.ir.type_spec import TypeSpec

Arguments = tuple[tuple[Any, ...], dict[str, Any]]


class Method:
    """A function bound to an object that it does not keep alive."""

    def __init__(self, function: Callable[..., Any], instance: Any):
        self.function = function
        self.instance = weakref.ref(instance)
        functools.update_wrapper(self, function)
        signature = inspect.signature(function)
        self.__signature__ = signature.replace(parameters=list(signature.parameters.values())[1:])

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(self.instance(), *args, **kwargs)

    def bound(self) -> MethodType:
        """Python's own bound method, which keeps the object alive."""
        return MethodType(self.function, self.instance())


class FunctionSpec:
    """The parameters of a Python function, and the tensors that it may be called with, if said.

    Args:
      fullargspec: as of `inspect.getfullargspec`.
      is_method: whether the first parameter is bound already.
      input_signature: a list or tuple of `tf.TensorSpec`s in any structure, or None.
    """

    def __init__(
        self,
        fullargspec: inspect.FullArgSpec,
        is_method: bool,
        args_to_prepend: Any = None,
        kwargs_to_include: Any = None,
        input_signature: Any = None,
    ):
        self.fullargspec = fullargspec
        self.is_method = is_method
        self.arg_names: list[str] = list(fullargspec.args)[1 if is_method else 0 :]
        self.vararg_name: str | None = fullargspec.varargs
        defaults = fullargspec.defaults or ()
        offset = len(self.arg_names) - len(defaults)
        self._default_of = {offset + place: value for place, value in enumerate(defaults)}
        self.input_signature: tuple[Any, ...] | None = None
        self.flat_input_signature: tuple[Any, ...] = ()
        if input_signature is not None:
            self._set_signature(input_signature)

    @classmethod
    def from_function_and_signature(
        cls, python_function: Callable[..., Any], input_signature: Any
    ) -> FunctionSpec:
        """What is known of a Python function that is called with such a signature."""
        is_method = inspect.ismethod(python_function)
        if isinstance(python_function, Method):
            python_function, is_method = python_function.function, True
        return cls(_argspec(python_function), is_method, input_signature=input_signature)

    def _set_signature(self, signature: Any) -> None:
        if self.fullargspec.kwonlyargs:
            raise ValueError(
                "Cannot define a TensorFlow function from a Python function with keyword arguments "
                "when input_signature is provided."
            )
        if not isinstance(signature, (tuple, list)):
            raise TypeError(
                f"input_signature must be either a tuple or a list, received {type(signature)}"
            )
        self.input_signature = tuple(signature)
        self.flat_input_signature = tuple(expanded_trees.flatten(signature))

    # Calls --------------------------------------------------------------------------------------

    def canonicalize_function_inputs(self, *args: Any, **kwargs: Any) -> Arguments:
        """The arguments of a call, by position where they can be, as tensors where they must be."""
        if self.input_signature is not None:
            self._check_covered(args, kwargs)
        inputs, others = self._by_position(args, kwargs)
        if self.input_signature is None:
            return _without_arrays(inputs), _without_arrays(others)
        return signature_inputs(inputs, self.input_signature, self.flat_input_signature), {}

    def _check_covered(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
        """Refuses arguments that the signature says nothing of."""
        assert self.input_signature is not None
        covered = len(self.input_signature)
        if len(args) > covered:
            raise TypeError(
                "When input_signature is provided, only pass arguments covered by it. Received "
                f"{len(args)} argument(s)."
            )
        for name in kwargs:
            if name not in self.arg_names:
                raise TypeError(f"Function got an unexpected keyword argument {name}")
            if self.arg_names.index(name) >= covered:
                raise TypeError(
                    "When input_signature is provided, only pass arguments covered by it. Received "
                    f"argument {name}."
                )

    def _by_position(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Arguments:
        values = {at: value for at, value in self._default_of.items() if at >= len(args)}
        others = {}
        for name, value in kwargs.items():
            at = self.arg_names.index(name) if name in self.arg_names else -1
            if at >= len(args):
                values[at] = value
            else:  # not by position, or given twice: the call itself tells what is wrong
                others[name] = value
        expected = range(len(args), len(args) + len(values))
        if sorted(values) != list(expected):
            return args, dict(kwargs)
        return (*args, *(values[at] for at in expected)), others


def _argspec(function: Callable[..., Any]) -> inspect.FullArgSpec:
    """`inspect.getfullargspec`; a callable without one takes what it is given."""
    try:
        spec = inspect.getfullargspec(function)
    except TypeError:
        return inspect.FullArgSpec([], "args", "kwargs", None, [], None, {})
    if isinstance(inspect.unwrap(function), functools.partial):
        # What a partial object has values for may be given by name, but need not.
        return spec._replace(kwonlyargs=[], kwonlydefaults={})
    is_object = not inspect.isroutine(inspect.unwrap(function))
    if is_object and spec.args[:1] == ["self"]:  # its __call__ is bound to itself
        return spec._replace(args=spec.args[1:])
    return spec


def validate_signature(signature: Any) -> None:
    """Refuses a signature that is not of `tf.TensorSpec`s alone."""
    if not all(isinstance(each, TensorSpec) for each in expanded_trees.flatten(signature)):
        raise TypeError(
            f"Invalid input_signature {signature}; input_signature must be a possibly nested "
            "sequence of TensorSpec objects."
        )


def _without_arrays(inputs: Any) -> Any:
    """Arguments with tensors in the place of NumPy's arrays."""
    leaves = nest.flatten(inputs)
    if not any(isinstance(leaf, np.ndarray) for leaf in leaves):
        return inputs
    made = [convert_to_tensor(leaf) if isinstance(leaf, np.ndarray) else leaf for leaf in leaves]
    return nest.pack_as(inputs, made)


def signature_inputs(
    inputs: Sequence[Any], signature: tuple[Any, ...], specs: Sequence[TensorSpec]
) -> tuple[Any, ...]:
    """Arguments as the tensors that a signature asks for; ValueError where they don't fit it."""

    def described() -> str:
        given, asked = (",\n    ".join(map(str, each)) for each in (inputs, signature))
        return f"  inputs: (\n    {given})\n  input_signature: (\n    {asked})"

    try:
        values = list(_values_up_to(signature, tuple(inputs[: len(signature)])))
    except ValueError:
        raise ValueError(
            f"Structure of Python function inputs does not match input_signature:\n{described()}"
        ) from None
    tensors = []
    for value, spec in zip(values, specs, strict=True):
        try:
            tensors.append(_converted(value, spec))
        except (TypeError, ValueError):
            raise ValueError(
                "When input_signature is provided, all inputs to the Python function must be "
                f"convertible to tensors:\n{described()}"
            ) from None
    if not all(spec.is_compatible_with(each) for spec, each in zip(specs, tensors, strict=True)):
        raise ValueError(f"Python inputs incompatible with input_signature:\n{described()}")
    packed: tuple[Any, ...] = expanded_trees.pack(signature, tensors)
    return packed


def _converted(value: Any, spec: TensorSpec) -> Any:
    """A value as a tensor, of the type that a spec names where the value leaves it open."""
    if isinstance(value, (Tensor, TensorSpec)):
        return value
    return convert_to_tensor(value, preferred_dtype=spec.dtype)


def _values_up_to(signature: Any, value: Any) -> Iterator[Any]:
    """What stands in a value where the specs stand in a signature; ValueError if nothing does."""
    if isinstance(signature, TensorSpec):
        yield value
    elif isinstance(signature, TypeSpec):
        parts = expanded_trees.flatten(value)
        asked_parts = len(expanded_trees.flatten(signature))
        if not isinstance(value, (CompositeTensor, TypeSpec)) or len(parts) != asked_parts:
            raise ValueError(f"{value!r} is not of {signature}")
        yield from parts
    else:
        if not nest.is_nested(value):
            raise ValueError(f"{value!r} is not a structure")
        asked, given = dict(items(signature)), dict(items(value))
        if asked.keys() != given.keys():
            raise ValueError(f"{value!r} has other entries than {signature!r}")
        for key, part in asked.items():
            yield from _values_up_to(part, given[key])
