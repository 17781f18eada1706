"""`tf.keras.Model`: networks that can be trained."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

import penstock as tf
from penstock.ir.convert import CompositeTensor
from penstock.keras import backend as K
from penstock.keras import optimizers
from penstock.keras.engine import training_data
from penstock.keras.engine.compile_arguments import (
    check_names,
    class_weights_of,
    copied_metrics,
    losses_of,
    modes_of,
    parts_of,
    targets_of,
)
from penstock.keras.engine.composite_data import CompositeArray, as_data
from penstock.keras.engine.eager_steps import EagerStep
from penstock.keras.engine.endpoints import Endpoint
from penstock.keras.engine.execution_mode import ExecutionMode
from penstock.keras.engine.layer_graph import in_layer_graph, is_eager_outside
from penstock.keras.engine.mixed_precision_layers import with_loss_scale
from penstock.keras.engine.network import Network, json_value
from penstock.keras.engine.replicated_steps import ReplicatedStep
from penstock.keras.engine.reported_metrics import ReportedMetrics
from penstock.keras.engine.scope_strategy import strategy_of_scope
from penstock.keras.engine.strategy_checks import check_strategy
from penstock.keras.engine.trainable_state import TrainableState
from penstock.keras.engine.training_loops import TrainingLoops
from penstock.keras.engine.user_data import UserData
from penstock.keras.engine.weight_tensors import WeightTensors
from penstock.keras.metrics import Mean
from penstock.keras.utils.weighting import scale_loss_for_distribution
from penstock.platform import logging

__all__ = ["Model"]


class Model(
    TrainingLoops, ExecutionMode, ReportedMetrics, WeightTensors, TrainableState, UserData, Network
):
    """A network with a loss and an optimizer.

    Args:
      inputs: `Input` tensor, or a list of them.
      outputs: tensor that layers made of them, or a list.

    Subclasses may define `call` instead and give neither.
    """

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
        self.optimizer: Any = None
        self.loss: Any = None
        self.history: Any = None
        self.stop_training = False
        self._is_compiled = False
        self._compile_arguments: dict[str, Any] = {}
        self._endpoints: list[Endpoint] = []
        self._functions: dict[str, Any] = {}
        self._run_eagerly: bool | None = None
        self._experimental_run_tf_function = True
        self._distribution_strategy: Any = None
        self._training_state: Any = None  # that of tasks that train the model together
        self._collected_trainable_weights: list[Any] = []

    _object_identifier = "_tf_keras_model"

    @property
    def _tracking_metadata(self) -> str:
        from penstock.keras.saved_metadata import model_metadata

        own = json.loads(super()._tracking_metadata)
        return json.dumps(own | model_metadata(self, require_config=False), default=json_value)

    # Compiling ----------------------------------------------------------------------------------

    @in_layer_graph
    def compile(
        self,
        optimizer: Any = "rmsprop",
        loss: Any = None,
        metrics: Any = None,
        loss_weights: Any = None,
        sample_weight_mode: Any = None,
        weighted_metrics: Any = None,
        target_tensors: Any = None,
        distribute: Any = None,
        **kwargs: Any,
    ) -> None:
        """Says how the model is trained.

        Args:
          optimizer: name or optimizer (of `tf.train` too).
          loss: name, function or object; for several outputs a list or a dictionary by name.
          metrics: what `fit` and `evaluate` report as well; names, functions or objects.
          loss_weights: the outputs' parts in the total loss.
          sample_weight_mode: "temporal" for a weight per step.
          weighted_metrics: metrics that samples' weights count for.
          target_tensors: tensors to use as labels, instead of arrays.
        """
        self._run_eagerly = kwargs.pop("run_eagerly", None)
        self._experimental_run_tf_function = kwargs.pop("experimental_run_tf_function", True)
        kwargs.pop("cloning", None)
        unknown = set(kwargs) - {"options", "run_metadata", "feed_dict", "fetches"}
        if unknown:
            raise TypeError(f"Invalid keyword argument(s) in `compile`: {sorted(unknown)}")
        if self.run_eagerly and target_tensors is not None:
            raise ValueError(
                "target_tensors argument is not supported when running a model eagerly."
            )
        self._distribution_strategy = strategy_of_scope()
        several = isinstance(optimizer, list | tuple)
        self.optimizer = (
            [optimizers.get(each) for each in optimizer] if several else optimizers.get(optimizer)
        )
        self.optimizer = with_loss_scale(self.optimizer, self._dtype_policy)
        self.loss = loss or {}
        self._function_kwargs = kwargs
        self._compile_arguments = {
            "loss": loss,
            "metrics": metrics,
            "loss_weights": loss_weights,
            "sample_weight_mode": sample_weight_mode,
            "weighted_metrics": weighted_metrics,
            "target_tensors": target_tensors,
        }
        self.loss_weights = loss_weights
        self.sample_weight_mode = sample_weight_mode
        check_strategy(self, self._compile_arguments)
        self._is_compiled = True
        self._compiled_trainable_state = self._get_trainable_state()
        self._endpoints = []
        if self.outputs:
            self._compile_outputs()

    def _compile_outputs(self) -> None:
        given = self._compile_arguments
        names = self.output_names
        check_names(given["loss"], names, "loss")
        check_names(given["metrics"], names, "metrics")
        check_names(given["weighted_metrics"], names, "metrics")
        check_names(given["loss_weights"], names, "loss_weights")
        check_names(given["sample_weight_mode"], names, "sample_weight_mode")
        check_names(given["target_tensors"], names, "target_tensors")
        losses = losses_of(given["loss"], names)
        parts = parts_of(given["loss_weights"], names)
        modes = modes_of(given["sample_weight_mode"], names)
        targets = targets_of(given["target_tensors"], names)
        self._endpoints = []
        for name, output, loss, part, mode, target in zip(
            names, self.outputs, losses, parts, modes, targets, strict=True
        ):
            endpoint = Endpoint(name, output, loss, 1.0 if part is None else part)
            endpoint.sample_weight_mode = mode
            endpoint.add_target(target)
            self._endpoints.append(endpoint)
        taken = {"loss", *self._names_of_added_metrics}
        if len(names) > 1:
            taken.update(endpoint.loss_name for endpoint in self._trained)
        self._add_metrics(given["metrics"], is_weighted=False, taken=taken)
        self._add_metrics(given["weighted_metrics"], is_weighted=True, taken=taken)
        self._output_loss_metrics = (
            [Mean(name=endpoint.loss_name) for endpoint in self._trained]
            if len(self.outputs) > 1
            else []
        )
        self._add_losses()

    @property
    def _trained(self) -> list[Endpoint]:
        return [endpoint for endpoint in self._endpoints if endpoint.is_trained]

    def _add_metrics(self, wanted: Any, is_weighted: bool, taken: set[str]) -> None:
        if not wanted:
            return
        if not isinstance(wanted, (list, tuple, dict)):
            raise TypeError(
                "Type of `metrics` argument not understood. Expected a list or dictionary, found: "
                f"{wanted}"
            )
        names = self.output_names
        if isinstance(wanted, dict):
            per_output = [wanted.get(name) for name in names]
        elif any(isinstance(each, (list, tuple)) for each in wanted):
            if len(wanted) != len(names):
                raise ValueError(
                    "When passing a list of lists as `metrics`, it should have one entry per model "
                    f"output. The model has {len(names)} outputs, but you passed metrics={wanted}"
                )
            per_output = list(wanted)
        else:
            per_output = [list(wanted)] + [copied_metrics(wanted) for _ in names[1:]]
        for endpoint, each in zip(self._endpoints, per_output, strict=True):
            if endpoint.is_trained:
                endpoint.add_metrics(each, is_weighted, prefix=len(names) > 1, taken=taken)

    def _add_losses(self) -> None:
        """Makes the nodes of metrics and losses."""
        self._functions = {}
        self._metric_results: list[tuple[Any, Any]] = []
        self._clear_losses()
        if self.run_eagerly or self._distribution_strategy is not None:
            self._list_metrics()
            return
        for endpoint in self._trained:
            self._metric_results += endpoint.metric_results()
        total: Any = None
        loss_results = []
        with tf.name_scope("loss"):
            for index, endpoint in enumerate(self._trained):
                loss = endpoint.total()
                if self._output_loss_metrics:
                    metric = self._output_loss_metrics[index]
                    loss_results.append((metric, metric(loss)))
                if endpoint.is_mean:
                    loss = scale_loss_for_distribution(loss)
                part = endpoint.loss_weight * loss
                total = part if total is None else total + part
            # Not those of other calls of shared layers.
            own = self.get_losses_for(None) + self.get_losses_for(self.inputs)
            if own:
                added = scale_loss_for_distribution(tf.add_n(own))
                total = added if total is None else total + added
        if total is None:
            raise ValueError("The model cannot be compiled because it has no loss to optimize.")
        self.total_loss = total
        self._metric_results = loss_results + self._metric_results + self._added_metric_results()
        self._collected_trainable_weights = list(self.trainable_weights)

    def _list_metrics(self) -> None:
        """Says which metrics a model has that runs eagerly: their values come with each batch."""
        self.total_loss = None
        own = (*self._output_loss_metrics, *self._compile_metrics_of_outputs)
        known = [(metric, None) for metric in own]
        self._metric_results = known + self._added_metric_results()
        self._collected_trainable_weights = list(self.trainable_weights)

    def _require_compiled(self) -> None:
        if not self._is_compiled:
            raise RuntimeError(
                "You must compile your model before training/testing. Use "
                "`model.compile(optimizer, loss)`."
            )

    def _check_trainable_weights_consistency(self) -> None:
        if len(self._collected_trainable_weights) != len(self.trainable_weights):
            logging.log_first_n(
                logging.WARN,
                "Discrepancy between trainable weights and collected trainable weights, did you "
                "set `model.trainable` without calling `model.compile` after ?",
                1,
            )

    # Inputs of models that have none yet --------------------------------------------------------

    def _set_inputs(self, inputs: Any) -> None:
        """Builds a subclassed or deferred model on inputs like these arrays."""
        flat = tf.nest.flatten(inputs)
        names = sorted(inputs) if isinstance(inputs, dict) else [None] * len(flat)
        arrays = [np.asarray(each) if not hasattr(each, "shape") else each for each in flat]
        arrays = [as_data(each) for each in arrays]
        arrays = [np.expand_dims(a, -1) if _is_vector(a) else a for a in arrays]
        made = [_input_like(array, name) for array, name in zip(arrays, names, strict=True)]
        is_one = len(flat) == 1 and not isinstance(inputs, dict)
        nested = made[0] if is_one else tf.nest.pack_sequence_as(inputs, made)
        if hasattr(self, "_build_on") and not isinstance(inputs, dict):
            dtype = made[0].dtype.base_dtype.name
            self._build_on(tuple(made[0].shape.as_list()), dtype)
            return
        if hasattr(self, "_build_on") and not getattr(self.layers[0], "_is_feature_layer", False):
            raise ValueError(
                "Passing a dictionary input to a Sequential Model which doesn't have FeatureLayer "
                "as the first layer is an error."
            )
        try:
            outputs = self(nested, **self._training_of_graph(self))
        except NotImplementedError:
            if not self.dynamic:
                raise
            outputs = None  # such a model says nothing of its outputs until it runs
        self.inputs = made
        self._nested_inputs = nested
        self.outputs = tf.nest.flatten(outputs)
        self._nested_outputs = outputs
        self.input_names = [tensor._keras_history.layer.name for tensor in made]
        self.output_names = [f"output_{i + 1}" for i in range(len(self.outputs))]
        self.built = True

    @staticmethod
    def _training_of_graph(layer: Any) -> dict[str, Any]:
        """The argument `training` for a layer that is called to find a model's outputs."""
        if is_eager_outside() or "training" not in layer._call_fn_args:
            return {}
        return {"training": K.learning_phase()}

    def _prepare_for(self, x: Any) -> None:
        """Makes inputs and losses if this is the first data that the model sees."""
        if not self.inputs:
            self._set_inputs(x)
        if self._is_compiled and not self._endpoints:
            self._compile_outputs()

    # Functions of the graph ---------------------------------------------------------------------

    @property
    def _feed_endpoints(self) -> list[Endpoint]:
        return [e for e in self._trained if K.is_placeholder(e.target)]

    @property
    def _feed_targets(self) -> list[Any]:
        return [endpoint.target for endpoint in self._feed_endpoints]

    @property
    def _feed_output_names(self) -> list[str]:
        return [endpoint.name for endpoint in self._feed_endpoints]

    @property
    def _feed_output_shapes(self) -> list[Any]:
        return [endpoint.shape for endpoint in self._feed_endpoints]

    @property
    def _feed_loss_fns(self) -> list[Any]:
        return [endpoint.loss for endpoint in self._trained]

    @property
    def loss_functions(self) -> list[Any]:
        """The losses of the outputs; None for one without labels."""
        return [endpoint.loss for endpoint in self._endpoints]

    @property
    def train_function(self) -> Any:
        """What trains on a batch, once it has been made; set it to None to have it made anew."""
        return self._functions.get("train")

    @train_function.setter
    def train_function(self, function: Any) -> None:
        self._set_function("train", function)

    @property
    def test_function(self) -> Any:
        """What computes loss and metrics of a batch, once it has been made."""
        return self._functions.get("test")

    @test_function.setter
    def test_function(self, function: Any) -> None:
        self._set_function("test", function)

    @property
    def predict_function(self) -> Any:
        """What computes the outputs of a batch, once it has been made."""
        return self._functions.get("predict")

    @predict_function.setter
    def predict_function(self, function: Any) -> None:
        self._set_function("predict", function)

    def _set_function(self, mode: str, function: Any) -> None:
        self._functions.pop(mode, None)
        if function is not None:
            self._functions[mode] = function

    @in_layer_graph
    def _function(self, mode: str) -> Any:
        """The function of the graph that trains, tests or predicts a batch."""
        if mode == "train" and self._is_compiled:
            self._check_trainable_weights_consistency()
        if mode not in self._functions and self.run_eagerly:
            self._functions[mode] = EagerStep(self, mode)
        if mode not in self._functions and self._distribution_strategy is not None:
            step = ReplicatedStep(self, self._distribution_strategy, mode)
            self._functions[mode] = step.function()
        if mode not in self._functions:
            make = {
                "train": self._new_train_function,
                "test": self._new_test_function,
                "predict": self._new_predict_function,
            }[mode]
            with self._as_compiled():
                self._functions[mode] = make()
        return self._functions[mode]

    def _make_train_function(self) -> None:
        self._function("train")

    def _make_test_function(self) -> None:
        self._function("test")

    def _make_predict_function(self) -> None:
        self._function("predict")

    def _training_inputs(self) -> list[Any]:
        weights = [e.sample_weight for e in self._trained if e.feeds_weight]
        return [
            *self._feed_inputs,
            *(endpoint.target for endpoint in self._feed_endpoints),
            *weights,
            K.symbolic_learning_phase(),
        ]

    def _training_outputs(self) -> list[Any]:
        return [self.total_loss, *(tensor for _, tensor in self._metric_results)]

    def _new_train_function(self) -> Any:
        self._require_compiled()
        if self.total_loss is None:
            raise ValueError("The model cannot be trained because it has no loss to optimize.")
        inputs = self._training_inputs()
        with tf.name_scope("training"):
            updates = (
                self._optimizer_updates()
                + self.get_updates_for(None)
                + self.get_updates_for(self.inputs)
            )
        return K.function(
            inputs,
            self._training_outputs(),
            updates=updates,
            name="train_function",
            **self._function_kwargs,
        )

    def _optimizers_of(self, pairs: list[Any]) -> list[tuple[Any, list[Any]]]:
        """Optimizers with the pairs of gradients and weights that each of them applies."""
        return [(self.optimizer, pairs)]

    def _optimizer_updates(self) -> list[Any]:
        updates: list[Any] = self.optimizer.get_updates(
            loss=self.total_loss, params=self._collected_trainable_weights
        )
        return updates

    def _new_test_function(self) -> Any:
        self._require_compiled()
        return K.function(
            self._training_inputs(),
            self._training_outputs(),
            updates=self.state_updates,
            name="test_function",
            **self._function_kwargs,
        )

    def _new_predict_function(self) -> Any:
        return K.function(
            [*self._feed_inputs, K.symbolic_learning_phase()],
            self.outputs,
            updates=self.state_updates,
            name="predict_function",
            **getattr(self, "_function_kwargs", {}),
        )

    # Data ---------------------------------------------------------------------------------------

    def _standardized_inputs(self, x: Any) -> list[Any]:
        self._prepare_for(x)
        shapes = [K.int_shape(tensor) for tensor in self._feed_inputs]
        return training_data.as_arrays(x, self._feed_input_names, shapes, "input")

    def _standardized(
        self,
        x: Any,
        y: Any,
        sample_weight: Any = None,
        class_weight: Any = None,
        checks_labels: bool = True,
    ) -> tuple[list[Any], list[Any], list[Any]]:
        """Inputs, labels and weights as lists of arrays."""
        self._require_compiled()
        inputs = self._standardized_inputs(x)
        endpoints = self._feed_endpoints
        names = [endpoint.name for endpoint in endpoints]
        if y is None and endpoints:
            raise ValueError(
                "The model expects labels: give y (or a pair from a generator or dataset)"
            )
        targets = training_data.as_arrays(y, names, [None] * len(names), "target")
        all_names = [endpoint.name for endpoint in self._trained]
        given = training_data.per_output(sample_weight, all_names, "sample_weight")
        classes = class_weights_of(class_weight, all_names)
        weights = []
        if endpoints == self._trained:
            for endpoint, target, weight, by_class in zip(
                self._trained, targets, given, classes, strict=True
            ):
                weights.append(
                    training_data.weights_of_samples(
                        target, weight, by_class, endpoint.sample_weight_mode
                    )
                )
        self._use_weights(weights)
        weights = self._filled_weights(weights, targets)
        training_data.check_lengths(inputs, targets, weights)
        for endpoint, target in zip(endpoints, targets, strict=True):
            if checks_labels:
                endpoint.check_labels(target)
        self._check_batch_sizes(inputs)
        return inputs, targets, weights

    def _check_batch_sizes(self, inputs: list[Any]) -> None:
        if self.stateful and inputs:
            size = K.int_shape(self._feed_inputs[0])[0]
            if size is not None and inputs[0].shape[0] % size:
                raise ValueError(
                    "In a stateful network, you should only pass inputs with a number of samples "
                    f"that can be divided by the batch size. Found: {inputs[0].shape[0]} samples"
                )

    def _use_weights(self, weights: list[Any]) -> None:
        """Makes placeholders for weights, and the losses anew, when weights are first given."""
        new = [
            endpoint
            for endpoint, weight in zip(self._trained, weights, strict=False)
            if weight is not None and endpoint.sample_weight is None
        ]
        for endpoint in new:
            endpoint.add_sample_weight()
        if new:
            self._add_losses()

    def _filled_weights(self, weights: list[Any], targets: list[Any]) -> list[Any]:
        """An array for each placeholder of weights: ones where none are given."""
        filled = []
        for endpoint, weight, target in zip(self._trained, weights, targets, strict=False):
            if not endpoint.feeds_weight:
                continue
            if weight is None:
                is_temporal = endpoint.sample_weight_mode == "temporal"
                shape = target.shape[:2] if is_temporal else target.shape[:1]
                weight = np.ones(shape, dtype=K.floatx())
            filled.append(weight)
        return filled


def _is_vector(value: Any) -> bool:
    is_plain = not isinstance(value, CompositeArray | tf.Tensor | CompositeTensor)
    return is_plain and np.ndim(value) == 1


def _input_like(array: Any, name: str | None) -> Any:
    """An input for arrays like this one; floats are of Keras' own type, inputs their own."""
    from penstock.keras.engine.input_layer import Input

    if hasattr(array, "_keras_history"):
        return array
    if isinstance(array, tf.Tensor):
        return Input(tensor=array, name=name)
    dtype = None if np.issubdtype(array.dtype, np.floating) else array.dtype.name
    if array.dtype.kind in "OSU":
        dtype = "string"
    kind = {}
    if isinstance(array, CompositeArray):
        kind = {"sparse" if array.is_sparse else "ragged": True}
    return Input(shape=tuple(array.shape[1:]), dtype=dtype, name=name, **kind)
