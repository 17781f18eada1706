"""What surrounds the body of a converted function while it runs."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import penstock as tf
from penstock.autograph.operators.tensor_kinds import is_tensor
from penstock.autograph.options import ConversionOptions, Feature
from penstock.internal_paths.effect_order import AutomaticControlDependencies
from penstock.ir import nest
from penstock.ir.conversion_status import ControlStatusCtx, Status


class FunctionScope:
    """The block that the body of a converted function is in.

    Args:
      function_name: the function's name.
      scope_name: the local variable that holds this object.
      options: how the function was converted.
    """

    def __init__(self, function_name: str, scope_name: str, options: ConversionOptions):
        self.name = scope_name
        self.options = options
        self.callopts = options.call_options()
        self._function_name = function_name
        self._blocks = ExitStack()
        self._order: AutomaticControlDependencies | None = None

    def __enter__(self) -> FunctionScope:
        if self.options.user_requested:
            self._blocks.enter_context(ControlStatusCtx(Status.ENABLED, self.options))
        if self.options.uses(Feature.NAME_SCOPES):
            name = self._function_name
            self._blocks.enter_context(tf.name_scope(f"fn{name}" if name[:1] == "_" else name))
        if self.options.uses(Feature.AUTO_CONTROL_DEPS):
            self._order = AutomaticControlDependencies()
            self._blocks.enter_context(self._order)
        return self

    def __exit__(self, *exception: Any) -> None:
        self._blocks.__exit__(*exception)

    def mark_return_value(self, value: Any) -> Any:
        """A result that waits for the effects of the function, where that was asked for."""
        order = self._order
        if order is None or value is None:
            return value
        return nest.map_structure(
            lambda each: order.mark_as_return(each) if is_tensor(each) else each, value
        )


def with_function_scope(
    thunk: Callable[[FunctionScope], Any], scope_name: str, options: ConversionOptions
) -> Any:
    """The scope of a lambda: what a function of the scope gives inside of it."""
    with FunctionScope("lambda_", scope_name, options) as scope:
        return thunk(scope)
