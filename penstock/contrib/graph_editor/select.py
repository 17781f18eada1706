"""Operations and tensors of a graph by name, by neighbourhood, by walks."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

from penstock.contrib.graph_editor.elements import (
    ControlOutputs,
    concatenate_unique,
    get_consuming_ops,
    get_generating_ops,
    is_iterable,
    make_list_of_op,
    make_list_of_t,
)
from penstock.ir.graph import Graph
from penstock.ir.operation import Operation
from penstock.ir.tensor import Tensor

__all__ = [
    "can_be_regex",
    "check_cios",
    "compute_boundary_ts",
    "filter_ops",
    "filter_ops_from_regex",
    "filter_ts",
    "filter_ts_from_regex",
    "get_backward_walk_ops",
    "get_forward_walk_ops",
    "get_name_scope_ops",
    "get_ops_ios",
    "get_walks_intersection_ops",
    "get_walks_union_ops",
    "get_within_boundary_ops",
    "make_regex",
    "select_ops",
    "select_ops_and_ts",
    "select_ts",
]

_Neighbours = Callable[[Operation], Iterable[Operation]]


def can_be_regex(obj: Any) -> bool:
    """Whether an object is a regular expression, or a text of one."""
    return isinstance(obj, (str, re.Pattern))


def make_regex(obj: Any) -> re.Pattern[str]:
    """A regular expression, compiled."""
    if not can_be_regex(obj):
        raise ValueError(f"Expected a string or a regex, got: {type(obj)}")
    return re.compile(obj) if isinstance(obj, str) else obj


def _input_ts(ops: list[Operation]) -> list[Tensor]:
    return list(dict.fromkeys(tensor for op in ops for tensor in op.inputs))


def _output_ts(ops: list[Operation]) -> list[Tensor]:
    return [tensor for op in ops for tensor in op.outputs]


def filter_ts(ops: Any, positive_filter: Any) -> list[Tensor]:
    """Inputs and outputs of operations that a function holds for; all if it is True."""
    ops = make_list_of_op(ops)
    tensors = concatenate_unique(_input_ts(ops), _output_ts(ops))
    return tensors if positive_filter is True else [t for t in tensors if positive_filter(t)]


def filter_ts_from_regex(ops: Any, regex: Any) -> list[Tensor]:
    """Inputs and outputs of operations whose names a regular expression is found in."""
    pattern = make_regex(regex)
    return filter_ts(ops, lambda tensor: pattern.search(tensor.name))


def filter_ops(ops: Any, positive_filter: Any) -> list[Operation]:
    """Operations that a function holds for; all if it is True."""
    ops = make_list_of_op(ops)
    return ops if positive_filter is True else [op for op in ops if positive_filter(op)]


def filter_ops_from_regex(ops: Any, regex: Any) -> list[Operation]:
    """Operations whose names a regular expression is found in."""
    pattern = make_regex(regex)
    return filter_ops(ops, lambda op: pattern.search(op.name))


def get_name_scope_ops(ops: Any, scope: str) -> list[Operation]:
    """The operations below a name scope."""
    return filter_ops_from_regex(ops, f"^{scope.removesuffix('/')}(/.*)?$")


def check_cios(
    control_inputs: bool = False,
    control_outputs: ControlOutputs | None = None,
    control_ios: ControlOutputs | None = None,
) -> tuple[bool, ControlOutputs | None]:
    """Whether to follow control inputs, and by what control outputs, up to date.

    `control_ios` stands for both.
    """
    given = control_outputs if control_ios is None else control_ios
    if given is not None and not isinstance(given, ControlOutputs):
        raise TypeError(f"Expected a util.ControlOutputs, got: {type(given)}")
    if control_ios is not None and control_outputs is not None:
        raise ValueError("control_outputs should be None when using control_ios.")
    if given is not None:
        given.update()
    return bool(control_inputs) or control_ios is not None, given


def get_ops_ios(
    ops: Any,
    control_inputs: bool = False,
    control_outputs: ControlOutputs | None = None,
    control_ios: ControlOutputs | None = None,
) -> list[Operation]:
    """The operations next to some, before and after them."""
    control_inputs, control_outputs = check_cios(control_inputs, control_outputs, control_ios)
    found: list[Operation] = []
    for op in make_list_of_op(ops):
        concatenate_unique(found, [tensor.op for tensor in op.inputs])
        for tensor in op.outputs:
            concatenate_unique(found, tensor.consumers())
        if control_outputs is not None:
            concatenate_unique(found, control_outputs.get(op))
        if control_inputs:
            concatenate_unique(found, op.control_inputs)
    return found


def compute_boundary_ts(ops: Any) -> tuple[list[Tensor], list[Tensor], list[Tensor]]:
    """Tensors that come into operations, that leave them, and that are inside.

    A tensor that operations of both sides take is inside and leaves.
    """
    ops = make_list_of_op(ops)
    inputs, outputs = _input_ts(ops), _output_ts(ops)
    made_inside, members = set(outputs), set(ops)
    inside = [tensor for tensor in inputs if tensor in made_inside]
    only_inside = {tensor for tensor in inside if members.issuperset(tensor.consumers())}
    inside_set = set(inside)
    return (
        [tensor for tensor in inputs if tensor not in inside_set],
        [tensor for tensor in outputs if tensor not in only_inside],
        inside,
    )


def get_within_boundary_ops(
    ops: Any,
    seed_ops: Any,
    boundary_ops: Any = (),
    inclusive: bool = True,
    control_inputs: bool = False,
    control_outputs: ControlOutputs | None = None,
    control_ios: ControlOutputs | None = None,
) -> list[Operation]:
    """What can be reached from some operations without crossing a boundary.

    Args:
      ops: among which to look; the result is in their order.
      seed_ops: where to start.
      boundary_ops: where to end.
      inclusive: whether those of the boundary that were met are in the result.
      control_inputs: whether to follow control inputs.
      control_outputs: by which to follow control outputs.
      control_ios: for both.
    """
    control_inputs, control_outputs = check_cios(control_inputs, control_outputs, control_ios)
    ops = make_list_of_op(ops)
    boundary = set(make_list_of_op(boundary_ops))
    found = set(make_list_of_op(seed_ops, allow_graph=False))
    if boundary & found:
        raise ValueError("Boundary is intersecting with the seeds.")
    wave = list(found)
    while wave:
        near = [op for op in get_ops_ios(wave, control_inputs, control_outputs) if op not in found]
        wave = [op for op in near if op not in boundary]
        found.update(near if inclusive else wave)
    return [op for op in ops if op in found]


def _walk(
    seeds: list[Operation],
    neighbours: _Neighbours,
    inclusive: bool,
    within_ops: Any,
    within_ops_fn: Callable[[Operation], bool] | None,
) -> list[Operation]:
    """What is reached from seeds, by waves, inside of what is allowed."""
    allowed = None if within_ops is None else within_ops
    if within_ops:
        allowed = set(make_list_of_op(within_ops, allow_graph=False))
        seeds = [op for op in seeds if op in allowed]
    found = dict.fromkeys(seeds)
    wave = list(found)
    while wave:
        met = dict.fromkeys(near for op in wave for near in neighbours(op))
        wave = [
            op
            for op in met
            if op not in found
            and (allowed is None or op in allowed)
            and (within_ops_fn is None or within_ops_fn(op))
        ]
        found.update(dict.fromkeys(wave))
    started = set(seeds)
    return [op for op in found if inclusive or op not in started]


def get_forward_walk_ops(
    seed_ops: Any,
    inclusive: bool = True,
    within_ops: Any = None,
    within_ops_fn: Callable[[Operation], bool] | None = None,
    stop_at_ts: Any = (),
    control_outputs: ControlOutputs | None = None,
) -> list[Operation]:
    """The operations that come after some.

    Args:
      seed_ops: operations, or tensors for those that take them.
      inclusive: whether they are in the result.
      within_ops: outside of which not to go.
      within_ops_fn: tells of an operation whether to go there.
      stop_at_ts: tensors not to follow.
      control_outputs: by which to follow control outputs, too.
    """
    _, control_outputs = check_cios(False, control_outputs)
    seeds = list(seed_ops) if is_iterable(seed_ops) else [seed_ops]
    if not seeds:
        return []
    if isinstance(seeds[0], Tensor):
        started = get_consuming_ops(seeds)
    else:
        started = make_list_of_op(seeds, allow_graph=False)
    stops = set(make_list_of_t(stop_at_ts))

    def after(op: Operation) -> Iterable[Operation]:
        for tensor in op.outputs:
            if tensor not in stops:
                yield from tensor.consumers()
        if control_outputs is not None:
            yield from control_outputs.get(op)

    return _walk(started, after, inclusive, within_ops, within_ops_fn)


def get_backward_walk_ops(
    seed_ops: Any,
    inclusive: bool = True,
    within_ops: Any = None,
    within_ops_fn: Callable[[Operation], bool] | None = None,
    stop_at_ts: Any = (),
    control_inputs: bool = False,
) -> list[Operation]:
    """The operations that come before some.

    Args:
      seed_ops: operations, or tensors for those that they come from.
      inclusive: whether they are in the result.
      within_ops: outside of which not to go.
      within_ops_fn: tells of an operation whether to go there.
      stop_at_ts: tensors not to follow.
      control_inputs: whether to follow control inputs, too.
    """
    seeds = list(seed_ops) if is_iterable(seed_ops) else [seed_ops]
    if not seeds:
        return []
    if isinstance(seeds[0], Tensor):
        started = list(dict.fromkeys(get_generating_ops(seeds)))
    else:
        started = make_list_of_op(seeds, allow_graph=False)
    stops = set(make_list_of_t(stop_at_ts))

    def before(op: Operation) -> Iterable[Operation]:
        yield from (tensor.op for tensor in op.inputs if tensor not in stops)
        if control_inputs:
            yield from op.control_inputs

    return _walk(started, before, inclusive, within_ops, within_ops_fn)


def _both_walks(
    forward_seed_ops: Any,
    backward_seed_ops: Any,
    forward_inclusive: bool = True,
    backward_inclusive: bool = True,
    within_ops: Any = None,
    within_ops_fn: Callable[[Operation], bool] | None = None,
    control_inputs: bool = False,
    control_outputs: ControlOutputs | None = None,
    control_ios: ControlOutputs | None = None,
) -> tuple[list[Operation], list[Operation]]:
    control_inputs, control_outputs = check_cios(control_inputs, control_outputs, control_ios)
    forward = get_forward_walk_ops(
        forward_seed_ops,
        forward_inclusive,
        within_ops,
        within_ops_fn,
        control_outputs=control_outputs,
    )
    backward = get_backward_walk_ops(
        backward_seed_ops,
        backward_inclusive,
        within_ops,
        within_ops_fn,
        control_inputs=control_inputs,
    )
    return forward, backward


def get_walks_intersection_ops(
    forward_seed_ops: Any,
    backward_seed_ops: Any,
    forward_inclusive: bool = True,
    backward_inclusive: bool = True,
    within_ops: Any = None,
    within_ops_fn: Callable[[Operation], bool] | None = None,
    control_inputs: bool = False,
    control_outputs: ControlOutputs | None = None,
    control_ios: ControlOutputs | None = None,
) -> list[Operation]:
    """The operations after some and before others."""
    forward, backward = _both_walks(
        forward_seed_ops,
        backward_seed_ops,
        forward_inclusive,
        backward_inclusive,
        within_ops,
        within_ops_fn,
        control_inputs,
        control_outputs,
        control_ios,
    )
    behind = set(backward)
    return [op for op in forward if op in behind]


def get_walks_union_ops(
    forward_seed_ops: Any,
    backward_seed_ops: Any,
    forward_inclusive: bool = True,
    backward_inclusive: bool = True,
    within_ops: Any = None,
    within_ops_fn: Callable[[Operation], bool] | None = None,
    control_inputs: bool = False,
    control_outputs: ControlOutputs | None = None,
    control_ios: ControlOutputs | None = None,
) -> list[Operation]:
    """The operations after some or before others."""
    return concatenate_unique(
        *_both_walks(
            forward_seed_ops,
            backward_seed_ops,
            forward_inclusive,
            backward_inclusive,
            within_ops,
            within_ops_fn,
            control_inputs,
            control_outputs,
            control_ios,
        )
    )


def _selected(
    args: Any,
    graph: Any,
    positive_filter: Any,
    mark: str,
    other_mark: str,
    only_marked: bool,
    by_regex: Callable[..., Any],
    as_list: Callable[[Any], Any],
) -> list[Any]:
    if graph is not None and not isinstance(graph, Graph):
        raise TypeError(f"Expected a tf.Graph, got: {type(graph)}")
    found: list[Any] = []
    for arg in args:
        if not can_be_regex(arg):
            candidates = as_list(arg)
        else:
            if graph is None:
                raise ValueError("Use the keyword argument 'graph' to use regex.")
            pattern = make_regex(arg)
            text = pattern.pattern
            if text.startswith(other_mark) or (only_marked and not text.startswith(mark)):
                continue
            candidates = by_regex(graph, pattern)
        accepted = (each for each in candidates if positive_filter is None or positive_filter(each))
        concatenate_unique(found, accepted)
    return found


def _options(kwargs: dict[str, Any]) -> tuple[Any, Any]:
    known = {"graph", "positive_filter", "restrict_ops_regex", "restrict_ts_regex"}
    for keyword in kwargs:
        if keyword not in known:
            raise ValueError(f"Wrong keywords argument: {keyword}.")
    return kwargs.get("graph"), kwargs.get("positive_filter")


def select_ops(*args: Any, **kwargs: Any) -> list[Operation]:
    """Operations: given ones, and those whose names match regular expressions.

    Args:
      *args: operations (tensors are left out), or regular expressions.
      **kwargs: `graph` for regular expressions; `positive_filter`, a function that must hold;
        `restrict_ops_regex`, whether only regular expressions with `(?#ops)` in front count.
    """
    return _selected(
        args,
        *_options(kwargs),
        "(?#ops)",
        "(?#ts)",
        kwargs.get("restrict_ops_regex", False),
        filter_ops_from_regex,
        lambda arg: make_list_of_op(arg, ignore_ts=True),
    )


def select_ts(*args: Any, **kwargs: Any) -> list[Tensor]:
    """Tensors: given ones, and those whose names match regular expressions.

    See `select_ops`; `restrict_ts_regex` asks for `(?#ts)` in front.
    """
    return _selected(
        args,
        *_options(kwargs),
        "(?#ts)",
        "(?#ops)",
        kwargs.get("restrict_ts_regex", False),
        filter_ts_from_regex,
        lambda arg: make_list_of_t(arg, ignore_ops=True),
    )


def select_ops_and_ts(*args: Any, **kwargs: Any) -> tuple[list[Operation], list[Tensor]]:
    """Operations and tensors; regular expressions for tensors have `(?#ts)` in front."""
    ops = select_ops(*args, restrict_ops_regex=False, **kwargs)
    return ops, select_ts(*args, restrict_ts_regex=True, **kwargs)
