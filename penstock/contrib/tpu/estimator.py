"""`tf.contrib.tpu.TPUEstimator` without TPUs: an Estimator that tells functions a batch size."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from typing import Any

from penstock.estimator.argument_names import call_with_named, fn_args
from penstock.estimator.estimator import Estimator
from penstock.estimator.estimator_spec import (
    EstimatorSpec,
    checked_hooks,
    checked_loss,
    checked_predictions,
    checked_train_op,
)
from penstock.estimator.export.signatures import get_export_outputs
from penstock.estimator.mode_keys import ModeKeys
from penstock.train.session_run_hook import SessionRunArgs, SessionRunHook

_BATCH_SIZE_KEY = "batch_size"
_RESERVED_PARAMS_KEYS = [_BATCH_SIZE_KEY, "context"]


class _HostCallHook(SessionRunHook):
    """Runs what a model wants to have run on the host with each step."""

    def __init__(self, tensors: Any):
        self._tensors = tensors

    def before_run(self, run_context: Any) -> SessionRunArgs:
        return SessionRunArgs(self._tensors)


def _called(function_and_tensors: Any) -> Any:
    function, tensors = function_and_tensors
    return function(**tensors) if isinstance(tensors, dict) else function(*tensors)


class TPUEstimatorSpec(
    namedtuple(
        "TPUEstimatorSpec",
        [
            "mode",
            "predictions",
            "loss",
            "train_op",
            "eval_metrics",
            "export_outputs",
            "scaffold_fn",
            "host_call",
            "training_hooks",
            "evaluation_hooks",
            "prediction_hooks",
        ],
    )
):
    """What a model function gives to a `TPUEstimator`; see `tf.estimator.EstimatorSpec`.

    Args:
      eval_metrics: a function that makes metrics, and the tensors (a list, or by name) it takes.
      scaffold_fn: makes the `Scaffold`.
      host_call: a function, and the tensors it takes; run with each step.
    """

    __slots__ = ()

    def __new__(
        cls,
        mode: str,
        predictions: Any = None,
        loss: Any = None,
        train_op: Any = None,
        eval_metrics: Any = None,
        export_outputs: Any = None,
        scaffold_fn: Any = None,
        host_call: Any = None,
        training_hooks: Any = None,
        evaluation_hooks: Any = None,
        prediction_hooks: Any = None,
    ) -> TPUEstimatorSpec:
        for name, pair in (("host_call", host_call), ("eval_metrics", eval_metrics)):
            _check_call(name, pair)
        predictions = checked_predictions(predictions, mode)
        if mode == ModeKeys.PREDICT:
            export_outputs = get_export_outputs(export_outputs, predictions)
        return super().__new__(
            cls,
            mode=mode,
            predictions=predictions,
            loss=checked_loss(loss, mode),
            train_op=checked_train_op(train_op, mode),
            eval_metrics=eval_metrics,
            export_outputs=export_outputs,
            scaffold_fn=scaffold_fn,
            host_call=host_call,
            training_hooks=checked_hooks(training_hooks),
            evaluation_hooks=checked_hooks(evaluation_hooks),
            prediction_hooks=checked_hooks(prediction_hooks),
        )

    def as_estimator_spec(self) -> EstimatorSpec:
        """The same as an `EstimatorSpec`, for running without a TPU."""
        metrics = _called(self.eval_metrics) if self.eval_metrics is not None else None
        hooks: list[Any] = []
        if self.host_call is not None:
            hooks.append(_HostCallHook(_called(self.host_call)))
        return EstimatorSpec(
            mode=self.mode,
            predictions=self.predictions,
            loss=self.loss,
            train_op=self.train_op,
            eval_metric_ops=metrics,
            export_outputs=self.export_outputs,
            scaffold=self.scaffold_fn() if self.scaffold_fn else None,
            training_hooks=[*self.training_hooks, *hooks],
            evaluation_hooks=[*self.evaluation_hooks, *hooks],
            prediction_hooks=[*self.prediction_hooks, *hooks],
        )


def _check_call(name: str, pair: Any) -> None:
    if pair is None:
        return
    if not isinstance(pair, tuple | list):
        raise ValueError(f"{name} should be tuple or list")
    if len(pair) != 2:
        raise ValueError(f"{name} should have two elements.")
    if not callable(pair[0]):
        raise TypeError(f"{name}[0] should be callable.")
    if not isinstance(pair[1], tuple | list | dict):
        raise ValueError(f"{name}[1] should be tuple or list, or dict.")


class TPUEstimator(Estimator):
    """An Estimator whose functions find the batch size in `params["batch_size"]`.

    There are no TPUs here: it runs where a `tf.estimator.Estimator` runs, with `use_tpu=False`.

    Args:
      model_fn: a function of `features`, `labels`, `mode` and `params` that returns a
        `TPUEstimatorSpec` or an `EstimatorSpec`.
      model_dir: the directory of checkpoints and event files.
      config: a `tf.contrib.tpu.RunConfig`.
      params: what the functions get as `params`, with "batch_size" added.
      use_tpu: must be False.
      train_batch_size: the batch size of training.
      eval_batch_size: that of evaluation.
      predict_batch_size: that of prediction.
      warm_start_from: a checkpoint or a `WarmStartSettings` to take first values from.
    """

    _may_override = True

    def __init__(
        self,
        model_fn: Callable[..., Any],
        model_dir: Any = None,
        config: Any = None,
        params: Any = None,
        use_tpu: bool = True,
        train_batch_size: int | None = None,
        eval_batch_size: int | None = None,
        predict_batch_size: int | None = None,
        batch_axis: Any = None,
        eval_on_tpu: bool = True,
        export_to_tpu: bool = True,
        export_to_cpu: bool = True,
        warm_start_from: Any = None,
        experimental_export_device_assignment: bool = False,
        embedding_config_spec: Any = None,
    ):
        if use_tpu:
            raise NotImplementedError(
                "TPUEstimator: there are no TPUs here; pass use_tpu=False to run on a CPU or GPU."
            )
        if params is not None and any(key in params for key in _RESERVED_PARAMS_KEYS):
            raise ValueError(
                f"{_RESERVED_PARAMS_KEYS} are reserved keys but existed in params {params}."
            )
        self._batch_sizes = {
            ModeKeys.TRAIN: train_batch_size,
            ModeKeys.EVAL: eval_batch_size,
            ModeKeys.PREDICT: predict_batch_size,
        }
        self._is_exporting = False
        super().__init__(
            model_fn=model_fn,
            model_dir=model_dir,
            config=config,
            params=params or ({} if "params" in fn_args(model_fn) else None),
            warm_start_from=warm_start_from,
        )

    def _params_for(self, mode: str) -> Any:
        params = self.params
        size = self._batch_sizes.get(mode)
        if size is None or self._is_exporting:
            return params
        # `HParams` are no dictionary.
        if hasattr(params, "add_hparam"):
            params.add_hparam(_BATCH_SIZE_KEY, size)
        else:
            params[_BATCH_SIZE_KEY] = size
        return params

    def _call_input_fn(self, input_fn: Any, mode: str, input_context: Any = None) -> Any:
        if self._batch_sizes.get(mode) is not None and "params" not in fn_args(input_fn):
            raise ValueError(
                f"input_fn ({input_fn}) does not include params argument, required by TPUEstimator "
                'to pass batch size as params["batch_size"]'
            )
        return call_with_named(
            input_fn, mode=mode, params=self._params_for(mode), config=self.config
        )

    def _call_model_fn(self, features: Any, labels: Any, mode: str, config: Any) -> Any:
        names = fn_args(self._model_fn)
        if labels is not None and "labels" not in names:
            raise ValueError("model_fn does not take labels, but input_fn returns labels.")
        if self._batch_sizes.get(mode) is not None and "params" not in names:
            raise ValueError(
                f"model_fn ({self._model_fn}) does not include params argument, required by "
                "TPUEstimator to pass batch size as params['batch_size']"
            )
        spec = call_with_named(
            self._model_fn,
            features=features,
            labels=labels,
            mode=mode,
            params=self._params_for(mode),
            config=config,
        )
        if isinstance(spec, TPUEstimatorSpec):
            return spec.as_estimator_spec()
        if not isinstance(spec, EstimatorSpec):
            raise ValueError("model_fn should return an EstimatorSpec.")
        return spec

    def _export_all_saved_models(self, *args: Any, **kwargs: Any) -> bytes:
        # A model that is exported takes batches of any size.
        self._is_exporting = True
        try:
            return super()._export_all_saved_models(*args, **kwargs)
        finally:
            self._is_exporting = False
