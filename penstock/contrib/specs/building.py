"""Specs as text: evaluated to environments and networks."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from types import FrameType, ModuleType, TracebackType
from typing import Any

from penstock.contrib.specs import operators, parameters
from penstock.contrib.specs.composition import check_keywords


def _evaluate(
    text: str, words: ModuleType, environment: Mapping[str, Any] | None
) -> dict[str, Any]:
    check_keywords(text)
    bindings = dict(environment or {})
    exec(text, dict(vars(words)), bindings)
    return bindings


def eval_params(params: str, environment: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The bindings that a text of parameters makes, in addition to those that are there."""
    return _evaluate(params, parameters, environment)


def eval_spec(spec: str, environment: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The bindings that a spec makes, in addition to those that are there."""
    return _evaluate(spec, operators, environment)


def create_net_fun(spec: str, environment: Mapping[str, Any] | None = None) -> Callable[[Any], Any]:
    """The function that a spec binds to `net`: it makes the network for an input."""
    net = eval_spec(spec, environment).get("net")
    if net is None:
        raise ValueError(f"spec failed to create 'net': {spec}")
    made: Callable[[Any], Any] = net.funcall
    return made


def create_net(spec: str, inputs: Any, environment: Mapping[str, Any] | None = None) -> Any:
    """The network that a spec binds to `net`, for these inputs."""
    return create_net_fun(spec, environment)(inputs)


class LocalImport:
    """A `with` block in which names of a module or a dictionary are globals of the caller."""

    def __init__(self, names: Mapping[str, Any] | ModuleType):
        if isinstance(names, ModuleType):
            names = {key: value for key, value in vars(names).items() if not key.startswith("_")}
        self.names = names
        self._bindings: dict[str, Any] = {}
        self._shadowed: dict[str, Any] = {}

    def __enter__(self) -> None:
        frame: FrameType | None = inspect.currentframe()
        assert frame is not None and frame.f_back is not None
        self._bindings = frame.f_back.f_globals
        self._shadowed = {key: self._bindings[key] for key in self.names if key in self._bindings}
        self._bindings.update(self.names)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for key in self.names:
            self._bindings.pop(key, None)
        self._bindings.update(self._shadowed)


#: The words of specs as names of Python.
ops = LocalImport(operators)
