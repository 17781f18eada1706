"""Steps of training that a strategy spreads over its replicas, as callables."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Step:
    """One step of training; a subclass says what it does when called."""

    def __init__(self, distribution: Any):
        self._distribution = distribution

    @property
    def distribution(self) -> Any:
        """The strategy."""
        return self._distribution

    def initialize(self) -> Any:
        """The operations that are run before the first step."""
        return []

    def __call__(self) -> Any:
        raise NotImplementedError("must be implemented in descendants")


class StandardInputStep(Step):
    """A step with an input of its own.

    Args:
      dataset_fn: makes the dataset.
      distribution: the strategy.
    """

    def __init__(self, dataset_fn: Callable[[], Any], distribution: Any):
        super().__init__(distribution)
        self._iterator = distribution.make_input_fn_iterator(lambda _: dataset_fn())

    def initialize(self) -> Any:
        return self._iterator.initialize()


class StandardSingleLossStep(StandardInputStep):
    """A step that minimizes one loss; called, it gives the operation of a step.

    Args:
      dataset_fn: makes the dataset.
      loss_fn: the loss of `(context, inputs)`; see `experimental_run_steps_on_iterator`.
      optimizer: an optimizer of `tf.train`.
      distribution: the strategy.
      iterations_per_step: how many batches one step takes.
    """

    def __init__(
        self,
        dataset_fn: Callable[[], Any],
        loss_fn: Callable[..., Any],
        optimizer: Any,
        distribution: Any,
        iterations_per_step: int = 1,
    ):
        super().__init__(dataset_fn, distribution)
        self._loss_fn = loss_fn
        self._optimizer = optimizer
        self._iterations_per_step = iterations_per_step

    def __call__(self) -> Any:
        from penstock.gradient_functions import implicit_grad
        from penstock.train.optimizer_internals import get_filtered_grad_fn

        gradients = get_filtered_grad_fn(implicit_grad(self._loss_fn))
        extended = self.distribution.extended

        def step(context: Any, inputs: Any) -> Any:
            pairs = extended.call_for_each_replica(gradients, args=(context, inputs))
            return self._optimizer._distributed_apply(self.distribution, pairs)

        with self.distribution.scope():
            made = extended.experimental_run_steps_on_iterator(
                step, self._iterator, self._iterations_per_step
            )
        return made.run_op
