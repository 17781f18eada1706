"""Recomputation in a GraphDef: the nodes of a scope get copies of cheap nodes that they use.

`penstock.passes.recompute` does the same to the steps that a session compiles, and weighs what
each copy frees; here the request is taken at its word, as TensorFlow takes it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from penstock.passes.recompute import CHEAP

_COPY = "Recomputed/"
_TRIGGER = "RecomputeTrigger/"
_HINT = "_recompute_hint"


def recompute_cheap_nodes(graph_def: Any, scope: str) -> None:
    """Gives the nodes of a scope copies of what is cheap to compute again."""
    _recompute(graph_def, scope, lambda node: node.op in CHEAP)


def recompute_by_hints(graph_def: Any, scope: str) -> None:
    """Gives the nodes of a scope copies of the nodes with the attr `_recompute_hint`."""
    _recompute(graph_def, scope, lambda node: _HINT in node.attr)


def _recompute(graph_def: Any, scope: str, is_cheap: Callable[[Any], bool]) -> None:
    targets = [node for node in graph_def.node if _is_in(scope, node.name)]
    inside = {node.name for node in targets}
    cheap = {
        node.name: node for node in graph_def.node if node.name not in inside and is_cheap(node)
    }
    made: dict[str, list[Any]] = {}  # the copies by the name of what they are copies of
    for target in targets:
        for name in list(_data_inputs(target)):
            if name in cheap and name not in made:
                triggers = [each for each in _data_inputs(target) if each not in cheap]
                _copy_with_inputs(cheap, name, triggers, made)
        for index, text in enumerate(target.input):
            name, _, output = text.partition(":")
            if name in made:
                target.input[index] = _COPY + name + (f":{output}" if output else "")
    for nodes in made.values():
        graph_def.node.extend(nodes)


def _is_in(scope: str, name: str) -> bool:
    return name.startswith(scope) or f"/{scope}" in name


def _data_inputs(node: Any) -> Iterable[str]:
    return (text.partition(":")[0] for text in node.input if not text.startswith("^"))


def _copy_with_inputs(
    cheap: dict[str, Any], name: str, triggers: list[str], made: dict[str, list[Any]]
) -> None:
    """Copies a node and the cheap nodes before it, each to run once `triggers` have."""
    node = cheap[name]
    copy = type(node)()
    copy.CopyFrom(node)
    copy.name = _COPY + name
    made[name] = []
    waits_for = [f"^{each}" for each in triggers]
    for index, text in enumerate(node.input):
        producer, _, output = text.partition(":")
        if producer not in cheap:
            continue
        if producer not in made:
            _copy_with_inputs(cheap, producer, triggers, made)
        copy.input[index] = _COPY + producer + (f":{output}" if output else "")
        waits_for = [f"^{_TRIGGER}{producer}"]
    copy.input.append(f"^{_TRIGGER}{name}")
    trigger = type(node)(name=_TRIGGER + name, op="NoOp", device=node.device, input=waits_for)
    made[name] += [trigger, copy]
