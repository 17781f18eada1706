"""GGT: full-matrix adaptive steps from a window of past gradients (Agarwal and others, 2018)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import penstock as tf
from penstock.contrib.optimizer_v2.optimizer_v2 import OptimizerV2
from penstock.contrib.optimizer_v2.state import OptimizerState


class GGTOptimizer(OptimizerV2):
    """Preconditions all variables together by the last averaged gradients.

    Args:
      beta1: the decay of the average of gradients.
      window: how many averages are kept.
      eps: the smallest singular value for which the rest of the space is stepped in, too.
      svd_eps: what is added to the diagonal before the SVD.
      sigma_eps: what is added to singular values before they are inverted.
    """

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta1: Any = 0.9,
        use_locking: bool = False,
        name: str = "GGT",
        window: Any = 10,
        eps: Any = 1e-4,
        svd_eps: Any = 1e-6,
        sigma_eps: Any = 1e-2,
    ):
        super().__init__(use_locking, name)
        self._set_hyper("lr", learning_rate)
        self._set_hyper("beta1", beta1)
        self._set_hyper("window", window)
        self._set_hyper("eps", eps)
        self._set_hyper("svd_eps", svd_eps)
        self._set_hyper("sigma_eps", sigma_eps)
        self.index_dict: dict[str, int] = {}
        self.shape_dict: dict[str, int] = {}
        self._variables: list[Any] = []

    def _create_vars(self, var_list: Sequence[Any], state: OptimizerState) -> None:
        sizes = {var.name: int(np.prod(var.get_shape().as_list())) for var in var_list}
        self.shape_dict = dict(sorted(sizes.items()))
        total = 0
        for name, size in self.shape_dict.items():
            self.index_dict[name] = total
            total += size
        dtype = var_list[0].dtype.base_dtype
        state.create_non_slot(tf.cast(0.0, dtype), name="global_step")
        past = tf.zeros([state.get_hyper("window"), total], dtype=dtype)
        state.create_non_slot(past, name="grad_buffer")
        state.create_non_slot(tf.zeros((total,), dtype=dtype), name="moment1")
        state.create_non_slot(tf.zeros((total,), dtype=dtype), name="flat_grad")

    def _get_global_step(self, state: OptimizerState | None = None) -> Any:
        return (state or self._get_or_create_state()).get_non_slot("global_step")

    def _get_moment1(self, state: OptimizerState | None = None) -> Any:
        return (state or self._get_or_create_state()).get_non_slot("moment1")

    def _get_grad_buffer(self, state: OptimizerState | None = None) -> Any:
        return (state or self._get_or_create_state()).get_non_slot("grad_buffer")

    def _get_flat_grad(self, state: OptimizerState | None = None) -> Any:
        return (state or self._get_or_create_state()).get_non_slot("flat_grad")

    def _prepare(self, state: OptimizerState) -> None:  # type: ignore[override]
        self._variables = []

    def _place_of(self, var: Any) -> tuple[int, int]:
        start = self.index_dict[var.name]
        return start, start + self.shape_dict[var.name]

    def _apply_dense(  # type: ignore[override]
        self, grad: Any, var: Any, state: OptimizerState
    ) -> Any:
        """Puts a gradient in its place among all; the step itself is taken at the end."""
        self._variables.append(var)
        places = tf.range(*self._place_of(var))
        return tf.scatter_update(self._get_flat_grad(state), places, tf.reshape(grad, [-1]))

    def _resource_apply_dense(  # type: ignore[override]
        self, grad: Any, handle: Any, state: OptimizerState
    ) -> Any:
        return self._apply_dense(grad, handle, state)

    def _apply_sparse(self, grad: Any, var: Any, state: Any = None) -> Any:
        raise NotImplementedError("Sparse gradient updates are not supported.")

    def _finish(self, state: OptimizerState) -> Any:  # type: ignore[override]
        dtype = self._variables[0].dtype.base_dtype
        step = tf.assign_add(self._get_global_step(state), 1.0)
        beta1 = state.get_hyper("beta1", dtype=dtype)
        average = self._get_moment1(state)
        new_average = average.assign(beta1 * average + (1.0 - beta1) * self._get_flat_grad(state))
        window = state.get_hyper("window")
        place = tf.floormod(tf.cast(step - 1.0, tf.int32), window)
        buffer = tf.scatter_update(self._get_grad_buffer(state), place, new_average)
        count = tf.minimum(tf.convert_to_tensor(step), tf.cast(window, dtype))
        past = tf.transpose(tf.divide(buffer, tf.sqrt(count)))
        change = self._preconditioned(past, tf.expand_dims(new_average, -1), window, state, dtype)
        rate = state.get_hyper("lr", dtype=dtype)
        updates = []
        for var in self._variables:
            start, end = self._place_of(var)
            updates.append(
                tf.assign_sub(var, rate * tf.reshape(change[start:end], var.get_shape()))
            )
        return tf.group(updates)

    def _preconditioned(
        self, past: Any, average: Any, window: Any, state: OptimizerState, dtype: Any
    ) -> Any:
        """The average times the inverse root of the sum of past outer products.

        With `past = M` that is M (M'M)^(-3/2) M', which needs an SVD of the window's size alone.
        """
        eps, svd_eps, sigma_eps = (
            state.get_hyper(name, dtype=dtype) for name in ("eps", "svd_eps", "sigma_eps")
        )
        damping = tf.cast(tf.eye(window), dtype) * svd_eps
        sigma, basis, _ = tf.svd(tf.matmul(past, past, transpose_a=True) + damping)
        roots = tf.sqrt(sigma)
        smallest = tf.reduce_min(roots)
        inside = tf.matmul(basis, tf.matmul(past, average, transpose_a=True), transpose_a=True)

        def weighted(weights: Any) -> Any:
            return tf.matmul(past, tf.matmul(basis, tf.matmul(tf.diag(weights), inside)))

        one = tf.cast(1.0, dtype)
        head = weighted(tf.divide(one, tf.pow(roots + sigma_eps, 3)))
        tail = tf.divide(average - weighted(tf.divide(one, sigma)), smallest)
        return tf.cond(smallest > eps, lambda: tf.add(head, tail), lambda: tf.identity(head))
