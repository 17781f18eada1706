"""`while` and `for`: Python's own, or a `tf.while_loop` where a tensor decides or is iterated."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import penstock as tf
from penstock.autograph.operators import dataset_loops
from penstock.autograph.operators.agreement import check_defined_before_loop, check_loop_keeps
from penstock.autograph.operators.py_builtins import len_
from penstock.autograph.operators.state import GivenState, State, Symbol, variables
from penstock.autograph.operators.tensor_kinds import is_dense_tensor, is_range_tensor, is_tensor
from penstock.autograph.operators.unrolled_loops import UnrolledLoop
from penstock.data.dataset import DatasetV2
from penstock.data.eager_iterator import IteratorV2
from penstock.data.iterator import Iterator
from penstock.ops.concrete_functions import FuncGraph

_Test = Callable[[], Any]


def run_while(
    test: _Test,
    body: Callable[[], Any],
    names: Sequence[str] = (),
    composites: Callable[[], Sequence[Symbol]] = tuple,
) -> None:
    """A `while` statement of converted code.

    Args:
      test: the condition.
      body: the statements of the loop, as a function.
      names: the variables that they assign and that are used in another iteration or after it.
      composites: gives the attributes and items that they assign.
    """
    if names or composites is not tuple:
        _while(test, body, lambda: State([*variables(names, body), *composites()]))
    else:
        _while(test, body, lambda: State(()))


def run_for(
    iterated: Any,
    body: Callable[[Any], Any],
    names: Sequence[str] = (),
    goes_on: _Test | None = None,
    composites: Callable[[], Sequence[Symbol]] = tuple,
) -> None:
    """A `for` statement of converted code.

    Args:
      iterated: what is gone through.
      body: the statements of the loop, as a function of the element.
      names: the variables that they assign and that are used in another iteration or after it.
      goes_on: whether the loop goes on, asked before each iteration.
      composites: gives the attributes and items that they assign.
    """
    _for(iterated, body, goes_on, lambda: State([*variables(names, body), *composites()]))


def while_stmt(
    test: Callable[..., Any],
    body: Callable[..., Any],
    get_state: Callable[[], Any],
    set_state: Callable[[Any], None],
    init_vars: tuple[Any, ...],
    basic_symbol_names: tuple[str, ...] | None = None,
    composite_symbol_names: tuple[str, ...] | None = None,
    opts: dict[str, Any] | None = None,
) -> Any:
    """A `while` whose body is a function of the loop's variables that returns them.

    Args:
      test: the condition, a function of the variables.
      body: the new variables, a function of the old ones.
      get_state: gives what else the body may change.
      set_state: sets that.
      init_vars: the variables before the loop.
      basic_symbol_names: their names, for errors.
      composite_symbol_names: the names of the state, for errors.
      opts: further arguments of `tf.while_loop`.
    """
    names = _joined(basic_symbol_names, composite_symbol_names)
    state = GivenState(init_vars, get_state, set_state, names)

    def step() -> None:
        state.values = body(*state.values)

    _while(lambda: test(*state.values), step, lambda: state, opts or {})
    return state.values


def for_stmt(
    iter_: Any,
    extra_test: Callable[..., Any] | None,
    body: Callable[..., Any],
    get_state: Callable[[], Any],
    set_state: Callable[[Any], None],
    init_vars: tuple[Any, ...],
    basic_symbol_names: tuple[str, ...] | None = None,
    composite_symbol_names: tuple[str, ...] | None = None,
) -> Any:
    """A `for` whose body is a function of the element and the loop's variables that returns them.

    Args:
      iter_: what is gone through.
      extra_test: whether the loop goes on, a function of the variables.
      body: the new variables, a function of the element and the old ones.
      get_state: gives what else the body may change.
      set_state: sets that.
      init_vars: the variables before the loop.
      basic_symbol_names: their names, for errors.
      composite_symbol_names: the names of the state, for errors.
    """
    names = _joined(basic_symbol_names, composite_symbol_names)
    state = GivenState(init_vars, get_state, set_state, names)

    def step(element: Any) -> None:
        state.values = body(element, *state.values) or ()

    goes_on = None if extra_test is None else lambda: extra_test(*state.values)
    _for(iter_, step, goes_on, lambda: state)
    return state.values


def _joined(basic: Any, composite: Any) -> tuple[str, ...] | None:
    return None if basic is None else (*basic, *(composite or ()))


def _while(
    test: _Test,
    body: Callable[[], Any],
    state_of_loop: Callable[[], State],
    options: dict[str, Any] | None = None,
) -> None:
    # Whether a tensor decides is seen from its first value. Should it be a tensor, then what was
    # built for this is not part of the program's graph.
    with FuncGraph("tmp").as_default():
        first = test()
    if is_dense_tensor(first):
        staged_while(test, lambda: (body(), ())[1], state_of_loop(), options=options or {})
    elif first:
        loop = UnrolledLoop()
        while True:
            loop.run(body)
            if not test():
                break


def _for(
    iterated: Any,
    body: Callable[[Any], Any],
    goes_on: _Test | None,
    state_of_loop: Callable[[], State],
) -> None:
    if is_range_tensor(iterated):
        _over_range(iterated, body, goes_on, state_of_loop())
    elif is_tensor(iterated):
        _over_tensor(iterated, body, goes_on, state_of_loop())
    elif isinstance(iterated, DatasetV2):
        state = state_of_loop()
        check_defined_before_loop(state.get())
        dataset_loops.over_dataset(iterated, body, goes_on, state)
    elif isinstance(iterated, (Iterator, IteratorV2)):
        _over_iterator(iterated, body, goes_on, state_of_loop())
    elif hasattr(iterated, "_autograph_for_loop"):
        _over_other(iterated, body, goes_on, state_of_loop())
    else:
        for element in iterated:
            if goes_on is not None and not goes_on():
                break
            body(element)


def staged_while(
    test: Callable[..., Any],
    body: Callable[..., tuple[Any, ...]],
    state: State,
    inner: tuple[Any, ...] = (),
    options: dict[str, Any] | None = None,
) -> None:
    """A `tf.while_loop` of the state's variables and of `inner` ones, which the functions take."""
    initial = state.get()
    check_defined_before_loop(initial)
    count = len(inner)

    def loop_test(*values: Any) -> Any:
        state.set(values[count:])
        return test(*values[:count])

    def loop_body(*values: Any) -> Any:
        state.set(values[count:])
        new = body(*values[:count])
        after = state.get()
        check_loop_keeps(state.names, values[count:], after)
        return (*new, *after)

    final = tf.while_loop(
        loop_test, loop_body, (*inner, *initial), **(options or {}), return_same_structure=True
    )
    state.set(final[count:])


def _both(test: Any, goes_on: _Test | None) -> Any:
    """A test, and where it holds a further one."""
    return test if goes_on is None else tf.cond(test, goes_on, lambda: False)


def _over_tensor(tensor: Any, body: Any, goes_on: _Test | None, state: State) -> None:
    check_defined_before_loop(state.get())
    length = len_(tensor)
    # Reads of a TensorArray have cheaper gradients than slices.
    elements = tf.TensorArray(tensor.dtype, size=length).unstack(tensor)

    def step(place: Any) -> tuple[Any]:
        body(elements.read(place))
        return (place + 1,)

    staged_while(lambda place: _both(place < length, goes_on), step, state, (0,))


def _over_range(numbers: Any, body: Any, goes_on: _Test | None, state: State) -> None:
    """Counts, instead of making the numbers and going through them."""
    check_defined_before_loop(state.get())
    start, limit, delta = numbers.op.inputs

    def is_within(number: Any) -> Any:
        known = tf.contrib.util.constant_value(delta)
        if known is not None:
            return number < limit if np.asarray(known).item() >= 0 else number > limit
        return tf.logical_or(
            tf.logical_and(delta >= 0, number < limit), tf.logical_and(delta < 0, number > limit)
        )

    def step(number: Any) -> tuple[Any]:
        body(number)
        return (number + delta,)

    staged_while(lambda number: _both(is_within(number), goes_on), step, state, (start,))


def _over_iterator(iterator: Any, body: Any, goes_on: _Test | None, state: State) -> None:
    def step(has_next: Any) -> tuple[Any]:
        element = tf.data.experimental.get_next_as_optional(iterator)
        has_next = element.has_value()
        before = state.get()

        def use() -> tuple[Any, ...]:
            state.set(before)
            body(element.get_value())
            after = state.get()
            check_loop_keeps(state.names, before, after)
            return after or (tf.constant(()),)

        # `tf.while_loop` takes no optional: what there is of it is used inside of a conditional.
        after = tf.cond(has_next, use, lambda: before or (tf.constant(()),), strict=True)
        state.set(after if before else ())
        return (has_next,)

    staged_while(lambda has_next: _both(has_next, goes_on), step, state, (True,))


def _over_other(iterated: Any, body: Any, goes_on: _Test | None, state: State) -> None:
    """Leaves the loop to a class that says how to go through it."""
    initial = state.get()
    check_defined_before_loop(initial)

    def step(element: Any, *values: Any) -> tuple[Any, ...]:
        state.set(values)
        body(element)
        return state.get()

    def further(*values: Any) -> Any:
        state.set(values)
        assert goes_on is not None
        return goes_on()

    test = None if goes_on is None else further
    state.set(iterated._autograph_for_loop(test, step, initial))
