"""`replicate_model_fn`: a model function whose batch is divided among devices."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import penstock as tf
from penstock.client import device_lib
from penstock.contrib.estimator.tower_optimizer import (
    TowerOptimizer,
    _compute_sum_on_device,
    scaled_loss,
)
from penstock.devices import DeviceSpec
from penstock.estimator.argument_names import fn_args
from penstock.estimator.estimator_spec import EstimatorSpec
from penstock.estimator.export.outputs import (
    ClassificationOutput,
    PredictOutput,
    RegressionOutput,
)
from penstock.estimator.mode_keys import ModeKeys
from penstock.platform import logging
from penstock.train.device_setter import _RoundRobinStrategy

_VARIABLE_OPS = ("Variable", "VariableV2", "VarHandleOp")


class _VariableDistributionMode:
    """Where variables are: all on one device, or each on the next one."""

    SHARED_LOCAL_PARAMETER_SERVER = 1
    SHARED_ROUND_ROBIN = 2


def replicate_model_fn(
    model_fn: Callable[..., Any],
    loss_reduction: Any = tf.losses.Reduction.SUM_BY_NONZERO_WEIGHTS,
    devices: Any = None,
) -> Callable[..., Any]:
    """A model function that runs another one on each device, with a part of the batch.

    Variables are shared. Losses and gradients are added up or averaged, metrics are summed,
    predictions are concatenated; all else is that of one of the towers. Optimizers must be
    wrapped in `TowerOptimizer`.

    Args:
      model_fn: a model function.
      loss_reduction: how losses are put together; `SUM`, or a mean.
      devices: where towers run; without it all GPUs, or the CPU.
    """
    return _replicate_model_fn_with_mode(model_fn, loss_reduction, devices)


def _replicate_model_fn_with_mode(
    model_fn: Callable[..., Any],
    loss_reduction: Any,
    devices: Any = None,
    mode: int = _VariableDistributionMode.SHARED_LOCAL_PARAMETER_SERVER,
) -> Callable[..., Any]:
    if loss_reduction == tf.losses.Reduction.NONE:
        raise ValueError(
            "Tower losses need to be reduced in some way, yet "
            f"{loss_reduction} reduction is specified."
        )
    devices = devices or _get_local_devices("GPU") or _get_local_devices("CPU")
    single_gpu = len(devices) == 1 and "GPU" in devices[0].upper()
    main_device = devices[0] if single_gpu else "/CPU:0"
    round_robin = mode == _VariableDistributionMode.SHARED_ROUND_ROBIN
    variable_devices = devices if round_robin else [main_device]
    logging.info(
        "Replicating the `model_fn` across %s; variables are on %s, results on %s.",
        devices,
        variable_devices,
        main_device,
    )

    def replicated_model_fn(
        features: Any, labels: Any, mode: Any, params: Any = None, config: Any = None
    ) -> Any:
        if len(devices) == 1:
            feature_shards, label_shards = [features], [labels]
        else:
            feature_shards, label_shards = _split_batch(features, labels, len(devices), main_device)
        specs = _get_loss_towers(
            model_fn=model_fn,
            mode=mode,
            features=feature_shards,
            labels=label_shards,
            params=params,
            config=config,
            devices=devices,
            local_ps_devices=variable_devices,
            loss_reduction=loss_reduction,
        )
        if len(devices) == 1:
            return specs[0]
        if mode == ModeKeys.TRAIN:
            return _train_spec(specs, specs[-1].train_op, main_device)
        return {ModeKeys.EVAL: _eval_spec, ModeKeys.PREDICT: _predict_spec}[mode](
            specs, main_device
        )

    return replicated_model_fn


def _get_local_devices(device_type: str) -> list[str]:
    return [
        device.name
        for device in device_lib.list_local_devices()
        if device.device_type == device_type
    ]


# Towers ------------------------------------------------------------------------------------------


def _split_batch(features: Any, labels: Any, number_of_shards: int, device: Any) -> tuple[Any, Any]:
    """The parts of features and labels for each tower, by the first dimension."""

    def parts(value: Any) -> list[Any]:
        if isinstance(value, dict):
            by_name = {name: parts(each) for name, each in value.items()}
            return [
                {name: found[number] for name, found in by_name.items()}
                for number in range(number_of_shards)
            ]
        if isinstance(value, tf.SparseTensor):
            shards: list[Any] = tf.sparse_split(sp_input=value, num_split=number_of_shards, axis=0)
            return shards
        size = tf.convert_to_tensor(value).get_shape()[0]
        if size % number_of_shards != 0:
            raise ValueError(
                f"Batch size {size} needs to be divisible by the number of GPUs, which is "
                f"{number_of_shards}."
            )
        return list(tf.split(value, number_of_shards))

    with tf.name_scope("split_inputs"), tf.device(device):
        return parts(features), None if labels is None else parts(labels)


def _get_loss_towers(
    model_fn: Callable[..., Any],
    mode: Any,
    features: Any,
    labels: Any,
    params: Any,
    config: Any,
    devices: Any,
    local_ps_devices: Any,
    loss_reduction: Any,
    name_scope_pattern: str = "tower_{}",
) -> list[Any]:
    """The EstimatorSpec of the model function on each device; nodes of the first have no prefix."""
    expected = fn_args(model_fn)
    more = {
        name: copy.deepcopy(value)
        for name, value in (("params", params), ("config", config))
        if name in expected
    }
    strategy = _RoundRobinStrategy(num_tasks=len(local_ps_devices))
    towers = TowerOptimizer._graph_state()
    towers.loss_reduction, towers.count = loss_reduction, len(devices)
    specs = []
    for number, device in enumerate(devices):
        name = name_scope_pattern.format(number) if number else ""
        setter = _local_device_setter(device, local_ps_devices, strategy)
        with (
            tf.variable_scope("", reuse=bool(number)) as var_scope,
            tf.name_scope(name) as name_scope,
            towers.tower(number, var_scope, name_scope),
            tf.device(setter),
        ):
            spec = model_fn(
                mode=mode,
                features=features[number],
                labels=labels[number] if labels else None,
                **more,
            )
            if spec.train_op is not None and towers.count > 1 and not towers.optimizer_is_used:
                raise ValueError(
                    "Please wrap optimizers with TowerOptimizer: "
                    f"there are {len(devices)} devices, whose gradients are to be added up."
                )
            loss = scaled_loss(spec.loss, loss_reduction, len(devices))
            specs.append(spec if loss is spec.loss else _with(spec, loss=loss))
    if not towers.calls_are_alike:
        raise ValueError(
            "Each invocation of model_fn was supposed to make the same optimizer calls."
        )
    TowerOptimizer._clear_graph_state()
    return specs


def _local_device_setter(worker_device: Any, ps_devices: Any, ps_strategy: Any) -> Any:
    """A device function: variables on the devices for them, all else on the worker's."""

    def choose(op: Any) -> str:
        kind = getattr(op, "type", None) or op.op  # of an operation, or of a NodeDef
        device = ps_devices[ps_strategy(op)] if kind in _VARIABLE_OPS else worker_device
        spec = DeviceSpec.from_string(device or "")
        spec.merge_from(DeviceSpec.from_string(op.device or ""))
        return spec.to_string()

    return choose


# What towers' results become ---------------------------------------------------------------------


def _with(spec: Any, **changed: Any) -> Any:
    """An EstimatorSpec with other values, which is checked as a new one."""
    return EstimatorSpec(**{name: getattr(spec, name) for name in spec._fields} | changed)


def _total_loss(specs: Any, device: Any, name: str) -> Any:
    return _compute_sum_on_device([spec.loss for spec in specs], device, name)


def _train_spec(
    tower_specs: Any, train_op: Any, aggregation_device: Any, aggregated_loss_name: str = "loss"
) -> Any:
    # Hooks check what was called when gradients were applied: that was in the last tower.
    loss = _total_loss(tower_specs, aggregation_device, aggregated_loss_name)
    return _with(tower_specs[-1], mode=ModeKeys.TRAIN, train_op=train_op, loss=loss)


def _eval_spec(
    tower_specs: Any, aggregation_device: Any, aggregated_loss_name: str = "loss"
) -> Any:
    loss = _total_loss(tower_specs, aggregation_device, aggregated_loss_name)
    updates = [update for spec in tower_specs for _, update in spec.eval_metric_ops.values()]
    with tf.control_dependencies(updates):
        reduced = _reduce_metric_variables(len(tower_specs))
    metrics = {
        name: (value, reduced) for name, (value, _) in tower_specs[0].eval_metric_ops.items()
    }
    return _with(tower_specs[0], mode=ModeKeys.EVAL, loss=loss, eval_metric_ops=metrics)


def _reduce_metric_variables(number_of_towers: int) -> Any:
    """Adds the other towers' counts to those of the first, and sets theirs to zero."""
    if number_of_towers == 1:
        return tf.no_op(name="no_eval_metric_reduction")
    variables = tf.get_collection(tf.GraphKeys.METRIC_VARIABLES)
    each = len(variables) // number_of_towers
    if len(variables) != each * number_of_towers:
        raise ValueError(
            "Different `EstimatorSpec.eval_metric_ops` across `model_fn()` calls: "
            f"{number_of_towers} towers can not have the same part of {len(variables)} variables."
        )
    resets = []
    for position in range(each):
        others = variables[position + each :: each]
        added = tf.assign_add(variables[position], tf.add_n(others))
        with tf.control_dependencies([added]):
            resets += [
                tf.assign(other, tf.zeros(tf.shape(other), dtype=other.dtype.base_dtype))
                for other in others
            ]
    return tf.group(*resets)


def _predict_spec(tower_specs: Any, aggregation_device: Any) -> Any:
    with tf.device(aggregation_device):
        predictions = _concat_tensor_dicts(*[spec.predictions for spec in tower_specs])
        outputs = _lists_by_name(*[spec.export_outputs for spec in tower_specs])
        exported = {name: _merged_output(found) for name, found in outputs.items()}
    return _with(
        tower_specs[0],
        mode=ModeKeys.PREDICT,
        predictions=predictions,
        export_outputs=exported,
    )


def _merged_output(outputs: list[Any]) -> Any:
    first = outputs[0]
    if isinstance(first, PredictOutput):
        return PredictOutput(outputs=_concat_tensor_dicts(*[each.outputs for each in outputs]))
    if isinstance(first, RegressionOutput):
        return RegressionOutput(value=tf.concat([each.value for each in outputs], axis=0))
    scores = classes = None
    if first.scores is not None:
        scores = tf.concat([each.scores for each in outputs], axis=0)
    if first.classes is not None:
        classes = tf.stack([each.classes for each in outputs], axis=0)
    return ClassificationOutput(scores=scores, classes=classes)


def _concat_tensor_dicts(*tensor_dicts: Any) -> dict[str, Any]:
    return {
        name: tf.concat(tensors, axis=0, name=name)
        for name, tensors in _lists_by_name(*tensor_dicts).items()
    }


def _lists_by_name(*dicts: Any) -> dict[str, list[Any]]:
    lists: dict[str, list[Any]] = {}
    for found in dicts:
        for name, value in (found or {}).items():
            lists.setdefault(name, []).append(value)
    return lists
