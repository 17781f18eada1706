"""Conditionals inside the graph: `tf.cond` and `tf.case`, and the gradients of their primitives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from penstock import dtypes
from penstock.ir import nest
from penstock.ir.collections import GraphKeys
from penstock.ir.composite import IndexedSlices
from penstock.ir.constants import constant_value
from penstock.ir.convert import CompositeTensor, to_tensor
from penstock.ir.defaults import executing_eagerly, get_default_graph
from penstock.ir.name_scope import name_scope
from penstock.ir.operation import Operation
from penstock.ir.same_structure import assert_same_structure
from penstock.ir.tensor import Tensor
from penstock.ops.control import with_dependencies
from penstock.ops.control_contexts import CondContext, merge
from penstock.ops.flow_modes import EnableControlFlowV2
from penstock.ops.functional_cond import cond_v2, indexed_case
from penstock.ops.tensor_array import TensorArray

__all__ = ["case", "cond", "switch_case"]


def cond(
    pred: Any,
    true_fn: Callable[[], Any] | None = None,
    false_fn: Callable[[], Any] | None = None,
    strict: bool = False,
    name: str | None = None,
    fn1: Callable[[], Any] | None = None,
    fn2: Callable[[], Any] | None = None,
) -> Any:
    """The result of `true_fn()` if `pred` is true when the step runs, else of `false_fn()`.

    Both functions are called once, to build their branches. Nodes made inside a branch run only
    where it is taken; nodes made outside of them always run.
    """
    true_fn, false_fn = _one(true_fn, fn1, "true_fn"), _one(false_fn, fn2, "false_fn")
    graph = get_default_graph()
    if graph.is_eager:
        result = true_fn() if pred else false_fn()
        return result if strict else _unpacked(result)
    if EnableControlFlowV2(graph):
        return cond_v2(pred, true_fn, false_fn, name)
    if isinstance(pred, bool):
        raise TypeError("pred must not be a Python bool: use Python's own if, or tf.constant(pred)")
    with name_scope(name, "cond", [pred]):
        contexts = _branch_contexts(pred)
        results = [
            _build_branch(context, function, which)
            for context, function, which in zip(
                contexts, (true_fn, false_fn), ("true_fn", "false_fn"), strict=True
            )
        ]
        (structure, on_true), (other, on_false) = results
        if not strict:
            structure, other = _unpacked(structure), _unpacked(other)
        if _cast_indices(structure, other, on_true, on_false):
            structure, other = _pack(structure, on_true), _pack(other, on_false)
        _check_same(structure, other, on_true, on_false)
        merged = [merge([f, t])[0] for f, t in zip(on_false, on_true, strict=True)]
        for context in contexts:
            if context.outer_context is None:
                context.graph.add_to_collection(GraphKeys.COND_CONTEXT, context)
        packed = _pack(structure, merged)
        return packed if strict else _unpacked(packed)


def _one(function: Any, old: Any, name: str) -> Callable[[], Any]:
    if function is not None and old is not None:
        old_name = "fn1" if name == "true_fn" else "fn2"
        raise TypeError(f"cond(): {name} and {old_name} may not be set simultaneously.")
    function = function if function is not None else old
    if function is None:
        raise TypeError(f"cond(): {name} argument required")
    if not callable(function):
        raise TypeError(f"{name} must be callable.")
    return function


def _branch_contexts(pred: Any) -> list[CondContext]:
    from penstock.ops.composite_flow import switch
    from penstock.ops.identity import identity

    sent = switch(pred, pred)
    on_true = identity(sent.output_true, name="switch_t")
    on_false = identity(sent.output_false, name="switch_f")
    inside = identity(pred, name="pred_id")
    for tensor in (sent.output_true, on_true, on_false, inside):
        tensor.graph.prevent_fetching(tensor.op)
    return [CondContext(inside, on_true, 1), CondContext(inside, on_false, 0)]


def _build_branch(
    context: CondContext, function: Callable[[], Any], which: str
) -> tuple[Any, list[Tensor]]:
    """What a branch returns, and its tensors as the Merge nodes take them."""
    with context.entered():
        result = _without_new_summaries(function)
        if result is None:
            raise ValueError(f"{which} must have a return value.")
        flat = [tensor for leaf in nest.flatten(result) for tensor in _leaf_tensors(context, leaf)]
        # A tensor that the function returns from outside is taken in like any other input.
        return result, [context.output(tensor) for tensor in flat]


def _without_new_summaries(function: Callable[[], Any]) -> Any:
    """Runs a branch function; summaries made inside run with its result, not on their own."""
    from penstock.ops.control import no_op
    from penstock.ops.identity import identity

    graph = get_default_graph()
    kept = graph.get_collection(GraphKeys._SUMMARY_COLLECTION)
    result = function()
    if len(graph.get_collection(GraphKeys._SUMMARY_COLLECTION)) <= len(kept):
        return result
    made = graph.get_collection_ref(GraphKeys._SUMMARY_COLLECTION)
    new, made[:] = made[len(kept) :], kept
    with graph.control_dependencies(new):
        if result is None:
            return no_op()
        if isinstance(result, Operation):
            return result
        return nest.map_structure(identity, result)


def _leaf_tensors(context: CondContext, leaf: Any) -> list[Tensor]:
    if isinstance(leaf, Operation):
        return [with_dependencies([leaf], context.pivot)]
    if isinstance(leaf, TensorArray):
        return [leaf.flow]
    parts = leaf._parts() if isinstance(leaf, CompositeTensor) else [leaf]
    return [part if isinstance(part, Tensor) else to_tensor(part) for part in parts]


def _unpacked(result: Any) -> Any:
    """What a branch returned; a list of one stands for that one."""
    if isinstance(result, (list, tuple)) and len(result) == 1:
        return result[0]
    return result


def _cast_indices(
    structure: Any, other: Any, on_true: list[Tensor], on_false: list[Tensor]
) -> bool:
    """Gives rows that both branches return indices of one type: int64 where they differ.

    Returns whether there are such rows.
    """
    from penstock.ops.casts import cast

    position, has_cast = 0, False
    for leaf, counterpart in zip(nest.flatten(structure), nest.flatten(other), strict=False):
        if isinstance(leaf, IndexedSlices) and isinstance(counterpart, IndexedSlices):
            i = position + 1
            if on_true[i].dtype is not on_false[i].dtype:
                on_true[i], on_false[i] = (cast(r[i], dtypes.int64) for r in (on_true, on_false))
                has_cast = True
        position += len(leaf._parts()) if isinstance(leaf, CompositeTensor) else 1
    return has_cast


def _check_same(structure: Any, other: Any, on_true: list[Tensor], on_false: list[Tensor]) -> None:
    try:
        assert_same_structure(structure, other, expand_composites=True)
    except (TypeError, ValueError) as error:
        what = "types" if isinstance(error, TypeError) else "values"
        raise type(error)(f"Incompatible return {what} of true_fn and false_fn: {error}") from None
    if not on_true:
        raise ValueError("true_fn and false_fn must return at least one result.")
    for t, f in zip(on_true, on_false, strict=True):
        if t.dtype.base_dtype is not f.dtype.base_dtype:
            raise ValueError(
                f"Outputs of true_fn and false_fn must have the same type: {t.dtype.name}, "
                f"{f.dtype.name}"
            )


def _pack(structure: Any, merged: list[Tensor]) -> Any:
    """The merged tensors in the form of a branch's result."""
    remaining = iter(merged)

    def rebuilt(leaf: Any) -> Any:
        if isinstance(leaf, CompositeTensor):
            return leaf._with_parts([next(remaining) for _ in leaf._parts()])
        if isinstance(leaf, TensorArray):
            return leaf._with_flow(next(remaining))
        return next(remaining)

    return nest.pack_as(structure, [rebuilt(leaf) for leaf in nest.flatten(structure)])


def case(
    pred_fn_pairs: Any,
    default: Callable[[], Any] | None = None,
    exclusive: bool = False,
    strict: bool = False,
    name: str = "case",
) -> Any:
    """The result of the first function whose predicate is true, else of `default()`.

    With `exclusive`, more than one true predicate is an error; so is none without a default.
    """
    return case_by(cond, pred_fn_pairs, default, exclusive, name, strict=strict)


def case_by(
    cond_fn: Callable[..., Any],
    pred_fn_pairs: Any,
    default: Callable[[], Any] | None,
    exclusive: bool,
    name: str | None,
    allow_python_preds: bool = False,
    **cond_kwargs: Any,
) -> Any:
    """`case`, built of another function than `cond`; of bools too, where they are allowed."""
    pairs = _checked_pairs(pred_fn_pairs, allow_python_preds)
    if default is not None and not callable(default):
        raise TypeError(f"default must be callable: false_fn must be callable. Got {default!r}")
    preds = [pred for pred, _ in pairs]
    with name_scope(name, "case", [preds]):
        if default is None:
            # The last pair stands in for the default, after a check that some predicate holds.
            pairs, (last, function) = pairs[:-1], pairs[-1]
            default = _guarded(last, function, preds)
        guards = _exclusive_guard(preds) if exclusive else []
        with get_default_graph().control_dependencies(guards):
            chain = default
            for pred, function in reversed(pairs):
                chain = partial(cond_fn, pred, true_fn=function, false_fn=chain, **cond_kwargs)
            return chain()


def switch_case(
    branch_index: Any, branch_fns: Any, default: Any = None, name: str = "switch_case"
) -> Any:
    """The result of the function with number `branch_index`, else of `default`, or the last one.

    `branch_fns` is a list of functions, a list of pairs of a number and a function, or a dict.
    """
    actions = _actions(branch_index, branch_fns, default)
    if executing_eagerly():
        number: Any = constant_value(branch_index)
        return actions[int(number) if 0 <= number < len(actions) else -1]()
    with name_scope(name, "switch_case", [branch_index]):
        return indexed_case(branch_index, actions)


def _actions(branch_index: Any, branch_fns: Any, default: Any) -> list[Callable[[], Any]]:
    """The functions in the order of their numbers, the default last."""
    if not isinstance(branch_index, Tensor):
        raise TypeError(f"branch_index must a Tensor, got {type(branch_index)}")
    if not branch_index.dtype.is_integer:
        raise TypeError(f"branch_index must an integer Tensor, got {branch_index.dtype}")
    if not branch_fns:
        raise ValueError("Must provide at least one item in branch_fns")
    if not isinstance(branch_fns, (list, tuple, dict)):
        raise TypeError("branch_fns must be a list, tuple, or dict")
    pairs = list(branch_fns.items() if isinstance(branch_fns, dict) else branch_fns)
    if all(callable(each) for each in pairs):
        pairs = list(enumerate(pairs))
    for pair in pairs:
        _check_numbered(pair)
    keys = sorted(key for key, _ in pairs)
    if keys != list(range(len(keys))):
        found = ",".join(map(str, keys))
        raise ValueError(
            f"branch indices (keys) must form contiguous range of [0 to {len(keys)}) but found "
            f"{{{found}}}"
        )
    actions = [action for _, action in sorted(pairs, key=lambda pair: pair[0])]
    return actions if default is None else [*actions, default]


def _check_numbered(pair: Any) -> None:
    if not isinstance(pair, tuple) or len(pair) != 2:
        raise TypeError("Each entry in branch_fns must be a 2-tuple")
    key, function = pair
    if not isinstance(key, int):
        raise TypeError(f"key must be a Python `int`, got {type(key)}")
    if not callable(function):
        raise TypeError(f"fn for key {key} must be callable.")


def _checked_pairs(
    pred_fn_pairs: Any, allow_python_preds: bool
) -> list[tuple[Any, Callable[[], Any]]]:
    if isinstance(pred_fn_pairs, dict):
        pred_fn_pairs = list(pred_fn_pairs.items())
    if not isinstance(pred_fn_pairs, (list, tuple)):
        raise TypeError("pred_fn_pairs: fns must be a list, tuple, or dict")
    checked: list[tuple[Any, Callable[[], Any]]] = []
    for pair in pred_fn_pairs:
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise TypeError(f"Each entry in pred_fn_pairs must be a 2-tuple, got {pair!r}")
        pred, function = pair
        _check_predicate(pred, allow_python_preds)
        if not callable(function):
            raise TypeError(f"fn for pred {getattr(pred, 'name', pred)} must be callable.")
        checked.append((pred, function))
    if not checked:
        raise ValueError("pred_fn_pairs must have at least one pair")
    return checked


def _check_predicate(pred: Any, allow_python_preds: bool) -> None:
    if isinstance(pred, Tensor):
        if pred.dtype is not dtypes.bool:
            raise TypeError(f"pred must be Tensor of type bool: {pred.name}")
    elif not allow_python_preds:
        raise TypeError(f"pred must be a Tensor, got: {pred}")
    elif not isinstance(pred, bool):
        raise TypeError(f"pred must be a Python bool, got: {pred}")


def _guarded(
    pred: Tensor, function: Callable[[], Any], preds: Sequence[Tensor]
) -> Callable[[], Any]:
    from penstock.ops.debugging import Assert

    def checked() -> Any:
        names = _named(preds)
        message = f"Input error: None of conditions evaluated as True: {names}"
        with get_default_graph().control_dependencies([Assert(pred, [message])]):
            return function()

    return checked


def _named(preds: Sequence[Tensor]) -> str:
    return ", ".join(getattr(pred, "name", "") or str(pred) for pred in preds)


def _exclusive_guard(preds: Sequence[Tensor]) -> list[Operation]:
    from penstock.ops.array import stack
    from penstock.ops.casts import cast
    from penstock.ops.comparison import less_equal
    from penstock.ops.constants import constant
    from penstock.ops.debugging import Assert
    from penstock.ops.reductions import reduce_sum

    stacked = stack(list(preds), name="preds_c")
    count = reduce_sum(cast(stacked, dtypes.int32), name="num_true_conds")
    at_most_one = less_equal(count, constant(1, name="n_true_conds"))
    names = _named(preds)
    message = f"Input error: exclusive=True: more than 1 conditions ({names}) evaluated as True:"
    return [Assert(at_most_one, [message, stacked], summarize=len(preds))]
