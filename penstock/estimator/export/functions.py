"""Model functions and input receivers as functions of tensors, in one graph with its variables."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import penstock as tf
from penstock.estimator.estimator_spec import EstimatorSpec
from penstock.estimator.export.signatures import SINGLE_RECEIVER_DEFAULT_NAME
from penstock.estimator.mode_keys import ModeKeys
from penstock.ops.function_tracing import func_graph_from_py_func
from penstock.train.global_step import get_or_create_global_step
from penstock.wrapped_functions import WrappedFunction, WrappedGraph

_RECEIVER_FN_NAME = "_input_receiver"


class _EstimatorWrappedGraph(WrappedGraph):
    """A graph with a global step, for a model function and the receivers of its inputs."""

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
        self._global_step_read_fn = self.wrap_function(get_or_create_global_step, signature=[])
        self._concrete_model_fn: WrappedFunction | None = None
        self._estimator_spec: EstimatorSpec | None = None

    @property
    def global_step(self) -> Any:
        """The value of the step."""
        return self._global_step_read_fn()

    @property
    def model_fn(self) -> WrappedFunction | None:
        return self._concrete_model_fn

    @property
    def estimator_spec(self) -> EstimatorSpec | None:
        """What the model function returned, in this graph."""
        if self._concrete_model_fn is None:
            raise ValueError("Please wrap a model function first.")
        return self._estimator_spec

    def wrap_model_fn(
        self,
        model_fn: Callable[..., Any],
        mode: str,
        args: Any = None,
        kwargs: Any = None,
        signature: Any = None,
    ) -> WrappedFunction:
        """A function of features and labels, which gives predictions and trains."""
        if self._concrete_model_fn is not None:
            raise ValueError("`wrap_model_fn` should be only called once per graph.")

        def outputs_of_model(*args: Any, **kwargs: Any) -> Any:
            result = model_fn(*args, **kwargs)
            if not isinstance(result, EstimatorSpec):
                return result
            self._estimator_spec = result
            return _filter_estimator_spec_outputs(result)

        self._concrete_model_fn = self._wrap_function(
            outputs_of_model, args, kwargs, signature, f"model_fn_{mode}"
        )
        return self._concrete_model_fn

    def wrap_input_receiver_fn(
        self, input_receiver_fn: Callable[[], Any]
    ) -> list[tuple[WrappedFunction, str | None]]:
        """Functions from received tensors to features (and labels), one for each way to feed.

        Returns:
          Pairs of function and name; None names the usual way.
        """
        made = []

        def received() -> Any:
            made.append(input_receiver_fn())
            labels = getattr(made[0], "labels", None)
            return made[0].features if labels is None else (made[0].features, labels)

        func_graph_from_py_func(
            None,
            self._variable_holder.call_with_variable_creator_scope(received),
            None,
            None,
            signature=[],
            add_control_dependencies=False,
            func_graph=self.graph,
        )
        (receiver,) = made
        others = getattr(receiver, "receiver_tensors_alternatives", None) or {}
        outputs = self.graph.structured_outputs
        return [
            (self._wrapped_function.prune(_named(tensors), outputs, _receiver_name(name)), name)
            for name, tensors in [(None, receiver.receiver_tensors), *others.items()]
        ]


def _filter_estimator_spec_outputs(spec: EstimatorSpec) -> dict[str, Any]:
    """What a function can return of a spec."""
    if spec.mode == ModeKeys.TRAIN:
        return {"predictions": spec.predictions, "train_op": spec.train_op}
    return {"predictions": spec.predictions}


def _named(receiver_tensors: Any) -> Mapping[str, Any]:
    if any(not isinstance(tensor, tf.Tensor) for tensor in tf.nest.flatten(receiver_tensors)):
        raise ValueError(f"a function receives plain tensors, got {receiver_tensors}")
    if isinstance(receiver_tensors, dict):
        return receiver_tensors
    return {SINGLE_RECEIVER_DEFAULT_NAME: receiver_tensors}


def _receiver_name(name: str | None) -> str:
    return _RECEIVER_FN_NAME if name is None else f"{_RECEIVER_FN_NAME}_{name}"
