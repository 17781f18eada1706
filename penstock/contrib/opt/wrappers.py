"""Optimizers around another: moving averages of variables, and limits of their norms."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from typing import Any

import penstock as tf
from penstock import logging
from penstock.ops.partitioned_variables import PartitionedVariable
from penstock.train.optimizer import Optimizer
from penstock.train.saveables import op_list_to_dict


class MovingAverageOptimizer(Optimizer):
    """Keeps moving averages of the variables that it trains.

    Args:
      opt: the optimizer that trains.
      sequential_update: whether averages are of the values after the step.
    """

    def __init__(
        self,
        opt: Any,
        average_decay: float = 0.9999,
        num_updates: Any = None,
        sequential_update: bool = True,
    ):
        super().__init__(False, "MovingAverage")
        self._optimizer = opt
        self._ema = tf.train.ExponentialMovingAverage(average_decay, num_updates=num_updates)
        self._swapped_variable_name_map: dict[str, str] | None = None
        self._sequential_update = sequential_update

    def compute_gradients(self, *args: Any, **kwargs: Any) -> Any:
        """The gradients, of the inner optimizer."""
        return self._optimizer.compute_gradients(*args, **kwargs)

    def apply_gradients(
        self, grads_and_vars: Any, global_step: Any = None, name: str | None = None
    ) -> Any:
        """An operation that updates variables and their averages."""
        train_op = self._optimizer.apply_gradients(
            grads_and_vars, global_step=global_step, name=name
        )
        variables = [variable for gradient, variable in grads_and_vars if gradient is not None]
        with tf.control_dependencies([train_op] if self._sequential_update else []):
            averages_op = self._ema.apply(variables)
        self._swapped_variable_name_map = {}
        for variable in variables:
            names = variable.op.name, self._ema.average(variable).op.name
            self._swapped_variable_name_map.update([names, names[::-1]])
        return tf.group(train_op, averages_op, name="train_with_avg")

    def swapping_saver(
        self, var_list: Any = None, name: str = "swapping_saver", **kwargs: Any
    ) -> Any:
        """A saver that saves averages under the names of their variables, and the reverse."""
        if self._swapped_variable_name_map is None:
            raise RuntimeError(
                "Must call apply_gradients or minimize before creating the swapping_saver"
            )
        if var_list is None:
            var_list = tf.global_variables()
        by_name = var_list if isinstance(var_list, dict) else op_list_to_dict(var_list)
        known: dict[str, Any] = {}
        for key, value in by_name.items():
            if isinstance(value, (list, PartitionedVariable)):  # of one whole, if only one part
                known.update((part.op.name, part) for part in value)
            else:
                known[key] = value
        swapped = {
            key: [self._swapped(known, part.op.name, part) for part in value]
            if isinstance(value, list)
            else self._swapped(known, key, value)
            for key, value in by_name.items()
        }
        return tf.train.Saver(swapped, name=name, **kwargs)

    def _swapped(self, known: Mapping[str, Any], name: str, own: Any) -> Any:
        other = (self._swapped_variable_name_map or {}).get(name)
        if other is None:
            return own
        if other not in known:
            raise ValueError(
                f"Variable to swap {other} is not part of variables to save. This breaks "
                "MovingAverageOptimizer."
            )
        return known[other]


class VariableClippingOptimizer(Optimizer):
    """Clips the norm of variables after each step.

    Args:
      opt: the optimizer that trains.
      vars_to_clip_dims: for each variable to clip, the dimensions over which its norm is taken.
      max_norm: the greatest norm.
    """

    def __init__(
        self,
        opt: Any,
        vars_to_clip_dims: Mapping[Any, Sequence[int]],
        max_norm: float,
        use_locking: bool = False,
        colocate_clip_ops_with_vars: bool = False,
        name: str = "VariableClipping",
    ):
        super().__init__(use_locking, name)
        self._opt = opt
        self._vars_to_clip_dims = {var: list(dims) for var, dims in vars_to_clip_dims.items()}
        self._max_norm = max_norm
        self._colocate_clip_ops_with_vars = colocate_clip_ops_with_vars

    def compute_gradients(self, *args: Any, **kwargs: Any) -> Any:
        """The gradients, of the inner optimizer."""
        return self._opt.compute_gradients(*args, **kwargs)

    def get_slot(self, *args: Any, **kwargs: Any) -> Any:
        """A slot of the inner optimizer."""
        return self._opt.get_slot(*args, **kwargs)

    def get_slot_names(self, *args: Any, **kwargs: Any) -> Any:
        """The names of the inner optimizer's slots."""
        return self._opt.get_slot_names(*args, **kwargs)

    def apply_gradients(
        self, grads_and_vars: Any, global_step: Any = None, name: str | None = None
    ) -> Any:
        """An operation that updates variables, then clips them."""
        with tf.name_scope(name, self._name) as scope:
            update = self._opt.apply_gradients(grads_and_vars, global_step=global_step)
            clipped = []
            with tf.control_dependencies([update]):
                for gradient, variable in grads_and_vars:
                    if gradient is None or variable not in self._vars_to_clip_dims:
                        continue
                    with tf.name_scope(f"clip_{variable.op.name}"):
                        clipped.append(self._clip(gradient, variable))
            return tf.group(update, *clipped, name=scope)

    def _clip(self, gradient: Any, variable: Any) -> Any:
        dims = self._vars_to_clip_dims[variable]
        if not isinstance(gradient, tf.IndexedSlices):
            return self._clip_all(variable, dims)
        if 0 in dims:
            logging.warning(
                "Clipping norm across dims %s for %s is inefficient when including sparse "
                "dimension 0.",
                dims,
                variable.op.name,
            )
            return self._clip_all(variable, dims)
        with tf.colocate_with(variable):
            rows = tf.gather(variable, gradient.indices)
        with self._place(variable):
            surplus = rows - tf.clip_by_norm(rows, self._max_norm, dims)
        with tf.colocate_with(variable):
            return tf.scatter_sub(variable, gradient.indices, surplus)

    def _clip_all(self, variable: Any, dims: Sequence[int]) -> Any:
        with self._place(variable):
            value = variable.read_value()
            surplus = value - tf.clip_by_norm(value, self._max_norm, dims)
        with tf.colocate_with(variable):
            return variable.assign_sub(surplus, use_locking=self._use_locking)

    def _place(self, variable: Any) -> Any:
        if self._colocate_clip_ops_with_vars:
            return tf.colocate_with(variable)
        return contextlib.nullcontext()
