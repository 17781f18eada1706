"""Reversible residual blocks, whose gradients need no activations but the last, and recomputation.

A layer makes (x1 + f(x2), x2 + g(y1)) of (x1, x2), so its inputs follow from its outputs: going
backwards, each layer's inputs are computed again when its gradient is needed.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Sequence
from functools import partial, wraps
from typing import Any

import penstock as tf
from penstock import nest
from penstock.contrib.framework.arg_scope import arg_scope, current_arg_scope
from penstock.layers.base import Layer

__all__ = ["RevBlock", "recompute_grad", "rev_block"]

Function = Callable[..., Any]

#: The layer's number and the function of a variable, in its name.
LAYER_RE = re.compile(r".*revlayer_([0-9]*)/([fg])/.*")

_OTHER_VARIABLES = (
    "The variables used on recompute were different than the variables originally used: the "
    "function likely makes a variable scope with a default name and has been called twice in the "
    "same enclosing scope. Call it in a variable scope of its own each time."
)


def _wraps(fn: Function) -> Callable[[Function], Function]:
    return (lambda wrapped: wrapped) if isinstance(fn, partial) else wraps(fn)


def _in_scope(fn: Function, scope: str) -> Function:
    @_wraps(fn)
    def scoped(*args: Any, **kwargs: Any) -> Any:
        with tf.variable_scope(scope, use_resource=True):
            return fn(*args, **kwargs)

    return scoped


def _called(fn: Function, x: Any, side_input: Sequence[Any]) -> Any:
    return fn(x, side_input) if side_input else fn(x)


def _summed(lists_of_grads: Sequence[Sequence[Any]]) -> list[Any]:
    """Gradients of several places, added up; None where there is none."""
    found = []
    for grads in zip(*lists_of_grads, strict=True):
        there = [grad for grad in grads if grad is not None]
        found.append(tf.add_n(there) if there else None)
    return found


class RevBlock(Layer):
    """Reversible layers one after the other.

    Args:
      f: function of the second half, for all layers or a list of one for each.
      g: function of what becomes the first half.
      num_layers: how many layers there are.
      f_side_input: further tensors for `f`, as a list.
      use_efficient_backprop: whether gradients compute activations again instead of keeping them.
    """

    def __init__(
        self,
        f: Any,
        g: Any,
        num_layers: int = 1,
        f_side_input: Any = None,
        g_side_input: Any = None,
        use_efficient_backprop: bool = True,
        name: str = "revblock",
        **kwargs: Any,
    ):
        super().__init__(name=name, **kwargs)
        self.num_layers = num_layers
        self.f = self._of_layers(f, "f")
        self.g = self._of_layers(g, "g")
        self.f_side_input = f_side_input or []
        self.g_side_input = g_side_input or []
        self._use_efficient_backprop = use_efficient_backprop

    def _of_layers(self, fn: Any, letter: str) -> list[Function]:
        functions = fn if isinstance(fn, list) else [fn] * self.num_layers
        if len(functions) != self.num_layers:
            raise AssertionError(f"{len(functions)} functions for {self.num_layers} layers")
        return [_in_scope(each, f"revlayer_{i}/{letter}") for i, each in enumerate(functions)]

    def build(self, _: Any) -> None:
        """Variables are made by the functions, when they are called."""
        self.built = True

    def forward(self, x1: Any, x2: Any) -> Any:
        """The halves of the output for those of the input."""
        return self.apply([x1, x2])

    def backward(self, y1: Any, y2: Any) -> Any:
        """The halves of the input for those of the output."""
        return self.apply([y1, y2], forward=False)

    def call(self, inputs: Any, forward: bool = True) -> Any:
        scope = tf.get_variable_scope()
        before = len(scope.global_variables())
        outputs = self._forward(*inputs) if forward else self._backward(*inputs)
        trained = scope.trainable_variables()
        for variable in scope.global_variables()[before:]:
            is_trained = any(variable is each for each in trained)
            (self._trainable_weights if is_trained else self._non_trainable_weights).append(
                variable
            )
        return outputs

    def _forward(self, x1: Any, x2: Any) -> Any:
        side_inputs = [self.f_side_input, self.g_side_input]
        flat = nest.flatten(side_inputs)

        def run(x1: Any, x2: Any, *flat_inputs: Any) -> Any:
            f_side, g_side = nest.pack_sequence_as(side_inputs, list(flat_inputs))
            for f, g in zip(self.f, self.g, strict=True):
                x1 = x1 + _called(f, x2, f_side)
                x2 = x2 + _called(g, x1, g_side)
                if self._use_efficient_backprop:
                    x1, x2 = tf.tuple([x1, x2])
            return x1, x2

        if not self._use_efficient_backprop:
            return run(x1, x2, *flat)

        @tf.custom_gradient
        def run_reversibly(*args: Any) -> Any:
            outputs = run(*args)

            def gradient(*grads: Any, variables: Sequence[Any] = ()) -> Any:
                found = _Backwards(self, outputs, list(grads), variables)
                inputs = [*found.grads, *found.side_grads]
                return (inputs, found.variable_grads) if variables else inputs

            return outputs, gradient

        return run_reversibly(x1, x2, *flat)

    def _backward(self, y1: Any, y2: Any) -> Any:
        for f, g in zip(reversed(self.f), reversed(self.g), strict=True):
            y2 = y2 - _called(g, y1, self.g_side_input)
            y1 = y1 - _called(f, y2, self.f_side_input)
        return y1, y2


class _Backwards:
    """The gradients of a block, from its outputs and theirs, layer by layer from the last.

    Attributes:
      grads: of the inputs' halves.
      side_grads: of the further tensors of `f`, then of `g`.
      variable_grads: of the variables, in their order.
    """

    def __init__(self, block: RevBlock, outputs: Any, grads: list[Any], variables: Sequence[Any]):
        self._block = block
        self._variables = variables
        self.values, self.grads = list(outputs), grads
        self.variable_grads: list[Any] = [None] * len(variables)
        f_sides, g_sides = [], []
        with tf.variable_scope(block.scope_name, reuse=True):
            for layer in reversed(range(block.num_layers)):
                f_side, g_side = self._layer(layer)
                f_sides.append(f_side)
                g_sides.append(g_side)
        self.side_grads = [*_summed(f_sides), *_summed(g_sides)]

    def _of(self, layer: int, letter: str) -> list[int]:
        """Which variables a function of a layer has."""
        found = [LAYER_RE.match(variable.name) for variable in self._variables]
        named = [(int(each.group(1)), each.group(2)) if each else None for each in found]
        return [place for place, name in enumerate(named) if name == (layer, letter)]

    def _layer(self, layer: int) -> tuple[list[Any], list[Any]]:
        """Goes back through a layer; the gradients of its further tensors."""
        y1, y2 = self.values
        grad_y1, grad_y2 = self.grads
        g = partial(_called, self._block.g[layer])
        f = partial(_called, self._block.f[layer])
        x2, grad_from_g, g_side = self._through(
            g, y1, y2, grad_y2, self._block.g_side_input, self._of(layer, "g")
        )
        grad_x1 = grad_y1 + grad_from_g
        x1, grad_from_f, f_side = self._through(
            f, x2, y1, grad_x1, self._block.f_side_input, self._of(layer, "f")
        )
        results = tf.tuple([x1, x2, grad_x1, grad_from_f + grad_y2])
        self.values, self.grads = results[:2], results[2:]
        return f_side, g_side

    def _through(
        self,
        fn: Function,
        x: Any,
        total: Any,
        grad: Any,
        side_input: Sequence[Any],
        places: list[int],
    ) -> tuple[Any, Any, list[Any]]:
        """What a function was added to, and the gradients of its input and its further tensors."""
        x = tf.stop_gradient(x)
        side = [tf.stop_gradient(each) for each in side_input]
        value = fn(x, side)
        variables = [self._variables[place] for place in places]
        grads = tf.gradients(value, [x, *variables, *side], grad)
        for place, each in zip(places, grads[1:], strict=False):
            self.variable_grads[place] = each
        return total - value, grads[0], grads[1 + len(variables) :]


def rev_block(
    x1: Any,
    x2: Any,
    f: Any,
    g: Any,
    num_layers: int = 1,
    f_side_input: Any = None,
    g_side_input: Any = None,
    is_training: bool = True,
) -> Any:
    """The halves of the output of a `RevBlock`.

    Args:
      is_training: whether gradients compute activations again instead of keeping them.
    """
    block = RevBlock(
        f=f,
        g=g,
        num_layers=num_layers,
        f_side_input=f_side_input,
        g_side_input=g_side_input,
        use_efficient_backprop=is_training,
        _reuse=tf.get_variable_scope().reuse,
    )
    return block.forward(x1, x2)


def enable_with_args(dec: Callable[..., Any]) -> Callable[..., Any]:
    """Decorator of a decorator: it may be used with further arguments, or without."""

    @_wraps(dec)
    def decorate(*args: Any, **kwargs: Any) -> Any:
        if len(args) == 1 and not kwargs and callable(args[0]):
            return dec(args[0])
        return lambda fn: dec(fn, *args, **kwargs)

    return decorate


@enable_with_args
def recompute_grad(fn: Function, use_data_dep: Any = None, tupleize_grads: bool = False) -> Any:
    """Decorator of a function of tensors that is computed again for its gradient.

    Args:
      use_data_dep: accepted; control dependencies make the recomputation wait.
      tupleize_grads: whether no gradient is used before all are there.
    """
    _refuse_captured_tensors(fn)
    takes_flag = "is_recomputing" in inspect.signature(fn).parameters

    @_wraps(fn)
    def recomputed(*args: Any) -> Any:
        if not all(isinstance(arg, tf.Tensor) for arg in args):
            raise ValueError("All inputs to function must be Tensors")
        return tf.custom_gradient(partial(_run, fn, takes_flag, tupleize_grads))(*args)

    return recomputed


def _refuse_captured_tensors(fn: Function) -> None:
    code = getattr(fn, "__code__", None)
    cells = getattr(fn, "__closure__", None) or ()
    for name, cell in zip(code.co_freevars if code else (), cells, strict=False):
        value = cell.cell_contents
        if isinstance(value, (tf.Tensor, tf.Variable)):
            raise ValueError(
                f"fn decorated with @recompute_grad closes over Tensor {value.name} (local "
                f"variable name: {name}). The decorated fn must not close over Tensors or "
                "Variables because gradients will NOT be computed for them through fn. To ensure "
                "correct gradients, make the Tensor an input to fn."
            )


def _run(fn: Function, takes_flag: bool, tupleize_grads: bool, *args: Any) -> Any:
    """The outputs and their gradient, for `tf.custom_gradient`."""
    scope, arguments = tf.get_variable_scope(), current_arg_scope()

    def compute(inputs: Sequence[Any], again: bool) -> tuple[Any, list[Any]]:
        flag = {"is_recomputing": again} if takes_flag else {}
        with tf.GradientTape() as tape:
            outputs = fn(*inputs, **flag)
        return outputs, list(tape.watched_variables())

    outputs, used = compute(args, again=False)

    def gradient(*grads: Any, variables: Sequence[Any] = ()) -> Any:
        if {id(each) for each in variables} != {id(each) for each in used}:
            raise ValueError(_OTHER_VARIABLES)
        inputs = [tf.identity(arg) for arg in args]
        known = [grad for grad in grads if grad is not None]
        with (
            tf.control_dependencies(known),
            arg_scope(arguments),
            tf.variable_scope(scope, reuse=True),
        ):
            results, used_again = compute(inputs, again=True)
        if {id(each) for each in used_again} != {id(each) for each in used}:
            raise ValueError(_OTHER_VARIABLES)
        found = tf.gradients(tf.nest.flatten(results), [*inputs, *variables], list(grads))
        if tupleize_grads:
            found = tf.tuple(found)
        own, others = found[: len(inputs)], found[len(inputs) :]
        return (own, others) if variables else own

    # The signature tells `tf.custom_gradient` whether variables are expected.
    return outputs, gradient if used else lambda *grads: gradient(*grads)
