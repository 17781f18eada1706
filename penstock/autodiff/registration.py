"""How users give an op type or a function a gradient of their own."""

from __future__ import annotations

import functools
import inspect
import itertools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from penstock.autodiff.lists import as_list
from penstock.ir import registry, tapes
from penstock.ir.collections import GraphKeys
from penstock.ir.convert import to_tensor
from penstock.ir.defaults import executing_eagerly, get_default_graph
from penstock.ir.nest import flatten, pack_as
from penstock.ir.operation import Operation
from penstock.ir.tensor import Tensor

_names = itertools.count()


class RegisterGradient:
    """Registers the decorated `function(op, *grads)` as the gradient of an op type.

    The name may also be one that only `gradient_override_map` mentions.
    """

    def __init__(self, op_type: str):
        if not isinstance(op_type, str):
            raise TypeError("op_type must be a string")
        self._op_type = op_type

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        registry.register_gradient(self._op_type, function)
        return function


def NotDifferentiable(op_type: str) -> None:
    """Says that an op type has no gradient: it counts as a constant."""
    if not isinstance(op_type, str):
        raise TypeError("op_type must be a string")
    registry.register_gradient(op_type, None)


NoGradient = NotDifferentiable


def custom_gradient(f: Callable[..., Any]) -> Callable[..., Any]:
    """Lets a function say its own gradient: it returns (result, grad_fn).

    `grad_fn(*result_gradients)` returns one gradient per argument; where the function uses
    variables, it takes `variables=` and returns (argument gradients, variable gradients).

    >>> @tf.custom_gradient
    ... def clipped(x):
    ...     return x, lambda dy: tf.clip_by_norm(dy, 1.0)
    """

    @functools.wraps(f)
    def decorated(*args: Any, **kwargs: Any) -> Any:
        return _apply(f, args, kwargs)

    return decorated


def grad_pass_through(f: Callable[..., Any]) -> Callable[..., Any]:
    """The function with the gradient of an identity: what comes in goes through unchanged."""

    @custom_gradient
    def passing(*args: Any, **kwargs: Any) -> Any:
        def gradient(*grads: Any, variables: Any = ()) -> Any:
            passed = grads[0] if len(grads) == 1 else list(grads)
            return (passed, [None] * len(variables)) if variables else passed

        return f(*args, **kwargs), gradient

    return functools.wraps(f)(passing)


def recompute_grad(f: Callable[..., Any]) -> Callable[..., Any]:
    """The function, computed again for its gradient instead of keeping what it computed."""

    @custom_gradient
    def recomputing(*args: Any, **kwargs: Any) -> Any:
        def gradient(*grads: Any, variables: Any = ()) -> Any:
            from penstock.autodiff.gradients import gradients
            from penstock.ops.array import identity

            if executing_eagerly():
                return _recomputed_now(lambda *again: f(*again, **kwargs), args, grads, variables)
            with get_default_graph().control_dependencies([grad.op for grad in grads]):
                again = [identity(to_tensor(arg)) for arg in args]
            sources = [_source(variable) for variable in variables]
            found = gradients(f(*again, **kwargs), [*again, *sources], grad_ys=list(grads))
            own, others = found[: len(again)], found[len(again) :]
            return (own, others) if variables else own

        return f(*args, **kwargs), gradient

    return functools.wraps(f)(recomputing)


def _recomputed_now(
    f: Callable[..., Any], args: Sequence[Any], grads: Sequence[Any], variables: Sequence[Any]
) -> Any:
    """The gradients of `recompute_grad` in eager mode: a tape records the function once more."""
    from penstock.autodiff.tape import Tape

    again: list[Any] = [to_tensor(arg) for arg in args]
    tape = Tape()
    tape.start()
    try:
        for tensor in again:
            tape.watch(tensor)
        outputs = flatten(f(*again))
    finally:
        tape.stop()
    sources = [*again, *(variable.handle for variable in variables)]
    found = tape.gradient(outputs, sources, grads)
    own, others = found[: len(again)], found[len(again) :]
    return (own, others) if variables else own


class _Reads:
    """A tape that only notes which trainable resource variables are read."""

    def __init__(self) -> None:
        self.variables: list[Any] = []

    def record(self, op: Operation) -> None:
        """In a graph nothing is recorded: the graph is the record."""

    def knows(self, tensors: Sequence[Any]) -> bool:
        return False

    def variable_accessed(self, variable: Any) -> None:
        self.variables.append(variable)


def _apply(f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    from penstock.ops.array import identity, identity_n

    graph = get_default_graph()
    if graph.is_eager:
        return _apply_now(f, args, kwargs)
    if kwargs:
        raise ValueError(
            "custom_gradient: functions take keywords arguments only when eager execution is "
            f"enabled, got {', '.join(kwargs)}; pass them by position"
        )
    inputs = [to_tensor(arg) for arg in args]
    known = {id(variable) for variable in _variables_in(graph)}
    reads = _Reads()
    tapes.start(reads)
    try:
        result, grad_fn = f(*inputs)
    finally:
        tapes.stop(reads)
    _refuse_references([each for each in _variables_in(graph) if id(each) not in known])
    outputs = [to_tensor(value) for value in flatten(result)]
    for output in outputs:
        identity(output)  # TensorFlow has these nodes: later names count them
    variables = _variables_used(inputs, outputs, reads.variables, args)
    _check_takes(grad_fn, variables)
    _refuse_unknown_variables(grad_fn, variables)
    name = f"CustomGradient-{next(_names)}"
    count = len(outputs)

    def gradient(op: Any, *grads: Any) -> list[Any]:
        return [None] * count + _gradients_by(grad_fn, grads[:count], variables)

    graph._gradient_functions[name] = gradient
    with graph.gradient_override_map({"IdentityN": name}):
        tensors = identity_n([*outputs, *inputs, *variables])
    return pack_as(result, list(tensors[:count]))


def _apply_now(f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The function in eager mode: what it computes inside, no tape sees."""
    from penstock.autodiff.tape import Tape
    from penstock.ops.identity import identity

    given = [*args, *kwargs.values()]
    seen = Tape()  # for the variables
    with tapes.stop_recording():
        seen.start()
        result, grad_fn = f(*args, **kwargs)
        seen.stop()
        outputs = [identity(to_tensor(value)) for value in flatten(result)]
    variables = [v for v in seen.variables.values() if not any(v is each for each in given)]
    _check_takes(grad_fn, variables)
    inputs = [to_tensor(arg) for arg in args]
    for variable in variables:
        tapes.variable_accessed(variable)

    def backward(*grads: Any) -> list[Any]:
        found = _gradients_by(grad_fn, grads, variables)
        returned = len(found) - len(variables)
        if returned != len(inputs):
            raise ValueError(
                f"custom_gradient: grad_fn was expected to return {len(inputs)} gradients, one for "
                f"each argument, but returned {returned}"
            )
        return found

    graph: Any = get_default_graph()
    handles = [_source(variable) for variable in variables]
    graph.record_function(getattr(f, "__name__", "f"), [*inputs, *handles], outputs, backward)
    return pack_as(result, outputs)


def _gradients_by(
    grad_fn: Callable[..., Any], grads: Sequence[Any], variables: list[Any]
) -> list[Any]:
    """The gradients by the arguments of a function, then those by the variables that it uses."""
    if not variables:
        return as_list(grad_fn(*grads))
    input_grads, variable_grads = grad_fn(*grads, variables=variables)
    if len(variable_grads) != len(variables):
        raise ValueError(
            "custom_gradient: grad_fn must return gradient for each variable, got "
            f"{len(variable_grads)} for {[each.name for each in variables]}"
        )
    return as_list(input_grads) + list(variable_grads)


def _check_takes(grad_fn: Callable[..., Any], variables: list[Any]) -> None:
    if variables and not _takes_variables(grad_fn):
        raise TypeError(
            "If using @custom_gradient with a function that uses variables, then grad_fn must "
            f"accept a keyword argument 'variables' (used: {[v.name for v in variables]})"
        )


def _takes_variables(grad_fn: Callable[..., Any]) -> bool:
    parameters = inspect.signature(grad_fn).parameters
    takes_any = any(each.kind is inspect.Parameter.VAR_KEYWORD for each in parameters.values())
    return takes_any or "variables" in parameters


def _source(variable: Any) -> Tensor:
    """The tensor that a gradient by a variable goes to: its handle, or its reference."""
    # One with copies on several devices has a handle in replicas alone: the nearest copy's will do.
    closest = getattr(variable, "_closest", None)
    handle = getattr(variable if closest is None else closest(), "handle", None)
    return handle if isinstance(handle, Tensor) else to_tensor(variable, as_ref=True)


def _captured_variables(graph: Any) -> dict[Any, Any]:
    """The trainable variables that a function's body has read, by what stands for their handles."""
    captured = getattr(graph, "captured", {})
    return {
        captured[variable.handle].op: variable
        for variable in getattr(graph, "read_variables", {}).values()
        if variable.trainable and variable.handle in captured
    }


def _variables_in(graph: Any) -> list[Any]:
    keys = (GraphKeys.GLOBAL_VARIABLES, GraphKeys.LOCAL_VARIABLES)
    return [variable for key in keys for variable in graph.get_collection(key)]


def _refuse_references(made: list[Any]) -> None:
    """Reference variables that a function makes would be others when it is called again."""
    references = [
        each.name for each in made if not isinstance(getattr(each, "handle", None), Tensor)
    ]
    if references:
        raise TypeError(
            "custom_gradient: variables that the function makes must be `ResourceVariable`s, "
            f"got {references}; open a variable_scope with use_resource=True"
        )


def _refuse_unknown_variables(grad_fn: Callable[..., Any], variables: list[Any]) -> None:
    """A gradient function that expects variables where none were found has a reason to."""
    from penstock.ops.variable_scope import get_variable_scope

    if variables or not _takes_variables(grad_fn) or get_variable_scope().use_resource:
        return
    raise TypeError(
        "custom_gradient: grad_fn takes variables, but the function uses none that are known; "
        "the enclosing variable scope must have use_resource=True"
    )


def _is_differentiable(op: Operation) -> bool:
    try:
        return registry.gradient_of(op.type) is not None
    except LookupError:
        return False


def get_dependent_variables(input_ops: Any, output_ops: Any) -> list[Any]:
    """The trainable variables that outputs have gradients by, other than through the inputs.

    Args:
      input_ops: a structure of tensors.
      output_ops: a structure of tensors made of them.
    """
    return _variables_used(flatten(input_ops), flatten(output_ops), (), ())


def _variables_used(
    inputs: list[Tensor], outputs: list[Tensor], read: Iterable[Any], args: tuple[Any, ...]
) -> list[Any]:
    """The trainable variables that outputs have gradients by other than through the inputs.

    Those that were `read` meanwhile count even where their values go nowhere.
    """
    known = get_default_graph().get_collection(GraphKeys.TRAINABLE_VARIABLES)
    # Those of eager mode are captured, if they are used.
    sources = [(_source(variable), variable) for variable in known]
    by_op = {source.op: variable for source, variable in sources if not source._op.graph.is_eager}
    by_op.update(_captured_variables(get_default_graph()))
    found = {id(each): each for each in read if not any(each is arg for arg in args)}
    ends = {id(tensor) for tensor in inputs}
    seen: set[Operation] = set()
    pending = list(outputs)
    while pending:
        tensor = pending.pop()
        op = tensor.op
        if id(tensor) in ends or op in seen:
            continue
        seen.add(op)
        if op in by_op:
            found[id(by_op[op])] = by_op[op]
        if _is_differentiable(op):
            pending.extend(op.inputs)
    return list(found.values())
