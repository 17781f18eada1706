"""`tf.estimator.Estimator`: a model function, trained, evaluated, used and exported."""

from __future__ import annotations

import copy
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from typing import Any

import penstock as tf
from penstock import nest
from penstock.estimator import (
    coordinated,
    evaluation_summaries,
    model_export,
    remote_cluster,
    replicated,
    training_session,
)
from penstock.estimator.argument_names import call_with_named, fn_args
from penstock.estimator.cluster_task import TaskType
from penstock.estimator.estimator_checks import (
    check_nothing_overridden,
    check_positive,
    checked_hooks,
    checked_listeners,
    verify_model_fn_args,
)
from penstock.estimator.estimator_spec import LOSS_METRIC_KEY, EstimatorSpec
from penstock.estimator.input_results import parse_input_fn_result
from penstock.estimator.mode_keys import ModeKeys
from penstock.estimator.run_config import RunConfig, get_default_session_config, path_to_str
from penstock.estimator.warm_start_settings import settings_of
from penstock.platform import gfile, logging
from penstock.train.basic_session_run_hooks import StopAtStepHook
from penstock.train.checkpoint_state import latest_checkpoint
from penstock.train.checkpoint_variables import list_variables, load_variable
from penstock.train.device_setter import STANDARD_PS_OPS, replica_device_setter
from penstock.train.evaluation import (
    _evaluate_once,
    _get_or_create_eval_step,
    _StopAfterNEvalsHook,
)
from penstock.train.global_step import (
    GLOBAL_STEP_READ_KEY,
    create_global_step,
    get_global_step,
    get_or_create_global_step_read,
)
from penstock.train.monitored_session import ChiefSessionCreator, MonitoredSession
from penstock.train.scaffold import Scaffold
from penstock.train.warm_starting import warm_start


class Estimator:
    """Trains, evaluates, uses and exports the model that a function builds.

    Each of these builds a new graph: input function, model function, then a session that takes the
    variables from the latest checkpoint of the model's directory.

    Args:
      model_fn: a function of `features`, and if it names them `labels`, `mode`, `params` and
        `config`, that returns an `EstimatorSpec`.
      model_dir: the directory of checkpoints and event files; a temporary one by default.
      config: a `RunConfig`.
      params: what the model function gets as `params`.
      warm_start_from: a checkpoint or a `WarmStartSettings` to take first values from.
    """

    def __init__(
        self,
        model_fn: Callable[..., Any],
        model_dir: Any = None,
        config: RunConfig | None = None,
        params: Any = None,
        warm_start_from: Any = None,
    ):
        check_nothing_overridden(self, Estimator)
        self._config = _with_directory_and_session(config, model_dir)
        self._model_dir = self._config.model_dir
        self._session_config = self._config.session_config
        self._train_distribution = self._config.train_distribute
        self._eval_distribution = self._config.eval_distribute
        logging.info("Using config: %s", str(vars(self._config)))
        self._device_fn = self._config.device_fn or _get_replica_device_setter(self._config)
        if model_fn is None:
            raise ValueError("model_fn must be provided to Estimator.")
        verify_model_fn_args(model_fn, params)
        self._model_fn = model_fn
        self._params = copy.deepcopy(params or {})
        self._warm_start_settings = settings_of(warm_start_from)

    @property
    def model_dir(self) -> Any:
        return self._model_dir

    @property
    def config(self) -> Any:
        return copy.deepcopy(self._config)

    @property
    def params(self) -> Any:
        return copy.deepcopy(self._params)

    @property
    def model_fn(self) -> Callable[..., Any]:
        """The model function with `params` bound: of features, labels, mode and config."""

        def public_model_fn(features: Any, labels: Any, mode: str, config: Any) -> Any:
            return self._call_model_fn(features, labels, mode, config)

        return public_model_fn

    # What was learned ---------------------------------------------------------------------------

    def get_variable_value(self, name: str) -> Any:
        """The value of a variable in the latest checkpoint."""
        self._demand_checkpoint()
        return load_variable(self.model_dir, name)

    def get_variable_names(self) -> list[str]:
        """The names of all variables in the latest checkpoint."""
        self._demand_checkpoint()
        return [name for name, _ in list_variables(self.model_dir)]

    def latest_checkpoint(self) -> Any:
        """The latest checkpoint of the model's directory, or None."""
        return latest_checkpoint(self.model_dir)

    def _demand_checkpoint(self) -> None:
        if not latest_checkpoint(self.model_dir):
            raise ValueError(f"Could not find trained model in model_dir: {self.model_dir}.")

    # Training -----------------------------------------------------------------------------------

    def train(
        self,
        input_fn: Callable[..., Any],
        hooks: Any = None,
        steps: int | None = None,
        max_steps: int | None = None,
        saving_listeners: Any = None,
    ) -> Any:
        """Trains the model, from the latest checkpoint on.

        Args:
          input_fn: returns features and labels, as tensors or as a Dataset of pairs.
          hooks: `SessionRunHook`s.
          steps: how many steps to make; until the input ends by default. Or
          max_steps: up to which global step to train.
          saving_listeners: `CheckpointSaverListener`s.
        """
        if self._config.task_type in (TaskType.EVALUATOR, TaskType.PS):
            raise ValueError(
                "Train has been called wrong configuration. Please use "
                "tf.estimator.train_and_evaluate which calls proper API according to given "
                f"configuration. Current configuration: {self.config}."
            )
        if steps is not None and max_steps is not None:
            raise ValueError("Can not provide both steps and max_steps.")
        check_positive("steps", steps)
        check_positive("max_steps", max_steps)
        if max_steps is not None and max_steps <= saved_global_step(self._model_dir):
            logging.info("Skipping training since max_steps has already saved.")
            return self
        all_hooks = checked_hooks(hooks)
        if steps is not None or max_steps is not None:
            all_hooks.append(StopAtStepHook(steps, max_steps))
        loss = self._train_model(input_fn, all_hooks, checked_listeners(saving_listeners))
        logging.info("Loss for final step: %s.", loss)
        return self

    def _train_model(self, input_fn: Any, hooks: list[Any], saving_listeners: list[Any]) -> Any:
        if remote_cluster.is_remote(self._config):
            return remote_cluster.train(self, input_fn, hooks, saving_listeners)
        if self._config._is_coordinated:
            return coordinated.train(self, input_fn, hooks, saving_listeners)
        if self._train_distribution is not None:
            return self._train_replicas(input_fn, hooks, saving_listeners)
        with tf.Graph().as_default() as graph, graph.device(self._device_fn):
            tf.set_random_seed(self._config.tf_random_seed)
            if self._create_and_assert_global_step(graph) is not None:
                get_or_create_global_step_read(graph)
            features, labels, input_hooks = self._get_features_and_labels_from_input_fn(
                input_fn, ModeKeys.TRAIN
            )
            spec = self._call_model_fn(features, labels, ModeKeys.TRAIN, self.config)
            if not latest_checkpoint(self._model_dir):
                self._warm_start()
            return training_session.run(
                spec, self._config, self._session_config, [*input_hooks, *hooks], saving_listeners
            )

    def _train_replicas(self, input_fn: Any, hooks: list[Any], saving_listeners: list[Any]) -> Any:
        strategy = self._train_distribution
        with tf.Graph().as_default() as graph, strategy.scope():
            tf.set_random_seed(self._config.tf_random_seed)
            step = self._create_and_assert_global_step(graph)
            tf.add_to_collection(GLOBAL_STEP_READ_KEY, strategy.extended.read_var(step))
            spec, input_hooks = replicated.training_spec(
                strategy,
                lambda context: self._call_input_fn(input_fn, ModeKeys.TRAIN, context),
                lambda features, labels: self._call_model_fn(
                    features, labels, ModeKeys.TRAIN, self.config
                ),
            )
            if not latest_checkpoint(self._model_dir):
                self._warm_start()
            return training_session.run(
                spec,
                self._config,
                strategy.update_config_proto(self._session_config),
                [*input_hooks, *hooks],
                saving_listeners,
                strategy.extended,
            )

    # Evaluation ---------------------------------------------------------------------------------

    def eval_dir(self, name: str | None = None) -> str:
        """Where the results of an evaluation of that name are written."""
        return os.path.join(self._model_dir, f"eval_{name}" if name else "eval")

    def evaluate(
        self,
        input_fn: Callable[..., Any],
        steps: int | None = None,
        hooks: Any = None,
        checkpoint_path: Any = None,
        name: str | None = None,
    ) -> dict[str, Any]:
        """The metrics of the model, its loss and its global step, by name.

        Args:
          input_fn: returns features and labels, as tensors or as a Dataset of pairs.
          steps: how many batches to take; until the input ends by default.
          hooks: `SessionRunHook`s.
          checkpoint_path: which checkpoint to evaluate; the latest by default.
          name: tells the results of several evaluations apart.
        """
        all_hooks = checked_hooks(hooks)
        check_positive("steps", steps)
        if self._eval_distribution is not None and remote_cluster.is_remote(self._config):
            told = {"checkpoint_path": checkpoint_path, "name": name}
            return remote_cluster.evaluate(self, input_fn, steps=steps, hooks=hooks, **told)
        if steps is not None:
            all_hooks.append(_StopAfterNEvalsHook(num_evals=steps))
        checkpoint_path = checkpoint_path or self._latest_or_none("evaluate")
        strategy, session_config = self._eval_distribution, self._session_config
        if strategy is not None:
            session_config = strategy.update_config_proto(session_config)
        with tf.Graph().as_default(), nullcontext() if strategy is None else strategy.scope():
            scaffold, update_op, values, all_hooks = self._evaluate_build_graph(
                input_fn, all_hooks, checkpoint_path
            )
            results = _evaluate_once(
                checkpoint_path=checkpoint_path,
                master=self._config.evaluation_master,
                scaffold=scaffold,
                eval_ops=update_op,
                final_ops=values,
                hooks=all_hooks,
                config=session_config,
            )
        evaluation_summaries.write(self.eval_dir(name), results, checkpoint_path)
        return dict(results)

    def _evaluate_build_graph(
        self, input_fn: Any, hooks: list[Any], checkpoint_path: Any
    ) -> tuple[Any, Any, dict[str, Any], list[Any]]:
        tf.set_random_seed(self._config.tf_random_seed)
        graph = tf.get_default_graph()
        self._create_and_assert_global_step(graph)
        spec, update_op, values, input_hooks = self._evaluation_parts(input_fn)
        if not checkpoint_path:
            self._warm_start()
        if tf.GraphKeys.GLOBAL_STEP in values:
            raise ValueError(
                "Metric with name `global_step` is not allowed, because Estimator already defines "
                "a default metric with the same name."
            )
        values[tf.GraphKeys.GLOBAL_STEP] = get_global_step(graph)
        scaffold = spec.scaffold
        if scaffold.local_init_op is not None:
            # The metrics' variables must be initialized too.
            _get_or_create_eval_step()
            scaffold = Scaffold(
                local_init_op=tf.group(scaffold.local_init_op, Scaffold.default_local_init_op()),
                copy_from_scaffold=scaffold,
            )
        return scaffold, update_op, values, [*input_hooks, *hooks, *spec.evaluation_hooks]

    def _evaluation_parts(self, input_fn: Any) -> tuple[Any, Any, dict[str, Any], list[Any]]:
        if self._eval_distribution is not None:
            return replicated.evaluation_parts(
                self._eval_distribution,
                lambda context: self._call_input_fn(input_fn, ModeKeys.EVAL, context),
                lambda features, labels: self._call_model_fn(
                    features, labels, ModeKeys.EVAL, self.config
                ),
                self._metrics_with_loss,
            )
        features, labels, input_hooks = self._get_features_and_labels_from_input_fn(
            input_fn, ModeKeys.EVAL
        )
        spec = self._call_model_fn(features, labels, ModeKeys.EVAL, self.config)
        return spec, *self._metrics_with_loss(spec), input_hooks

    def _metrics_with_loss(self, spec: EstimatorSpec) -> tuple[Any, dict[str, Any]]:
        """One operation that updates all metrics, and their values by name; the loss is there."""
        if LOSS_METRIC_KEY in spec.eval_metric_ops:
            raise ValueError(
                f'Metric with name "{LOSS_METRIC_KEY}" is not allowed, because Estimator already '
                "defines a default metric with the same name."
            )
        spec.eval_metric_ops[LOSS_METRIC_KEY] = tf.metrics.mean(spec.loss)
        return updates_and_values(spec.eval_metric_ops)

    # Prediction ---------------------------------------------------------------------------------

    def predict(
        self,
        input_fn: Callable[..., Any],
        predict_keys: Any = None,
        hooks: Any = None,
        checkpoint_path: Any = None,
        yield_single_examples: bool = True,
    ) -> Iterator[Any]:
        """Yields the predictions for the features of an input, until it ends.

        Args:
          input_fn: returns features, as tensors or as a Dataset; labels are ignored.
          predict_keys: which of the model's predictions to give.
          hooks: `SessionRunHook`s.
          checkpoint_path: which checkpoint to use; the latest by default.
          yield_single_examples: one example at a time, not whole batches.
        """
        all_hooks = checked_hooks(hooks)
        checkpoint_path = checkpoint_path or self._latest_or_none("predict")
        with tf.Graph().as_default() as graph:
            tf.set_random_seed(self._config.tf_random_seed)
            self._create_and_assert_global_step(graph)
            features, input_hooks = self._get_features_from_input_fn(input_fn, ModeKeys.PREDICT)
            spec = self._call_model_fn(features, None, ModeKeys.PREDICT, self.config)
            if not checkpoint_path:
                self._warm_start()
            predictions = _chosen(spec.predictions, predict_keys)
            creator = ChiefSessionCreator(
                checkpoint_filename_with_path=checkpoint_path,
                master=self._config.master,
                scaffold=spec.scaffold,
                config=self._session_config,
            )
            all_hooks = [*input_hooks, *all_hooks, *spec.prediction_hooks]
            with MonitoredSession(session_creator=creator, hooks=all_hooks) as session:
                while not session.should_stop():
                    batch = session.run(predictions)
                    if yield_single_examples:
                        yield from rows_of(batch)
                    else:
                        yield batch

    def _latest_or_none(self, purpose: str) -> Any:
        found = latest_checkpoint(self._model_dir)
        if not found:
            logging.info(
                "Could not find trained model in model_dir: %s, running initialization to %s.",
                self._model_dir,
                purpose,
            )
        return found

    # Export -------------------------------------------------------------------------------------

    def export_saved_model(
        self,
        export_dir_base: Any,
        serving_input_receiver_fn: Any,
        assets_extra: Any = None,
        as_text: bool = False,
        checkpoint_path: Any = None,
        experimental_mode: str = ModeKeys.PREDICT,
    ) -> bytes:
        """Writes a SavedModel into a new directory, and returns its path.

        Args:
          export_dir_base: where the directory is made, named after the time.
          serving_input_receiver_fn: returns a `ServingInputReceiver`.
          assets_extra: files to copy into `assets.extra`, by their path there.
          as_text: write the graph as text.
          checkpoint_path: which checkpoint to export; the latest by default.
          experimental_mode: the mode that the model is built for.
        """
        if not serving_input_receiver_fn:
            raise ValueError("An input_receiver_fn must be defined.")
        return self._export_all_saved_models(
            export_dir_base,
            {experimental_mode: serving_input_receiver_fn},
            assets_extra=assets_extra,
            as_text=as_text,
            checkpoint_path=checkpoint_path,
        )

    def export_savedmodel(
        self,
        export_dir_base: Any,
        serving_input_receiver_fn: Any,
        assets_extra: Any = None,
        as_text: bool = False,
        checkpoint_path: Any = None,
        strip_default_attrs: bool = False,
    ) -> bytes:
        """The older name of `export_saved_model`."""
        if not serving_input_receiver_fn:
            raise ValueError("An input_receiver_fn must be defined.")
        return self._export_all_saved_models(
            export_dir_base,
            {ModeKeys.PREDICT: serving_input_receiver_fn},
            assets_extra=assets_extra,
            as_text=as_text,
            checkpoint_path=checkpoint_path,
            strip_default_attrs=strip_default_attrs,
        )

    def experimental_export_all_saved_models(
        self,
        export_dir_base: Any,
        input_receiver_fn_map: dict[str, Callable[[], Any]],
        assets_extra: Any = None,
        as_text: bool = False,
        checkpoint_path: Any = None,
    ) -> bytes:
        """Writes a SavedModel with a graph for each mode; see `export_saved_model`."""
        return self._export_all_saved_models(
            export_dir_base,
            input_receiver_fn_map,
            assets_extra=assets_extra,
            as_text=as_text,
            checkpoint_path=checkpoint_path,
        )

    def _export_all_saved_models(
        self,
        export_dir_base: Any,
        input_receiver_fn_map: dict[str, Callable[[], Any]],
        assets_extra: Any = None,
        as_text: bool = False,
        checkpoint_path: Any = None,
        strip_default_attrs: bool = True,
    ) -> bytes:
        checkpoint_path = checkpoint_path or self._checkpoint_to_export()
        return model_export.write(
            self,
            export_dir_base,
            input_receiver_fn_map,
            checkpoint_path,
            assets_extra,
            as_text,
            strip_default_attrs,
        )

    def _checkpoint_to_export(self) -> Any:
        found = self.latest_checkpoint()
        if not found and self._warm_start_settings:
            found = self._warm_start_settings.ckpt_to_initialize_from
            if gfile.IsDirectory(found):
                found = latest_checkpoint(found)
        if not found:
            raise ValueError(f"Couldn't find trained model at {self._model_dir}.")
        return found

    # Calling the user's functions ---------------------------------------------------------------

    def _create_global_step(self, graph: Any) -> Any:
        return create_global_step(graph)

    def _create_and_assert_global_step(self, graph: Any) -> Any:
        step = self._create_global_step(graph)
        assert step is get_global_step()
        assert step.dtype.is_integer
        return step

    def _call_input_fn(self, input_fn: Any, mode: str, input_context: Any = None) -> Any:
        known = {} if input_context is None else {"input_context": input_context}
        with tf.device("/cpu:0"):
            return call_with_named(
                input_fn, mode=mode, params=self.params, config=self.config, **known
            )

    def _get_features_and_labels_from_input_fn(self, input_fn: Any, mode: str) -> Any:
        return parse_input_fn_result(self._call_input_fn(input_fn, mode))

    def _get_features_from_input_fn(self, input_fn: Any, mode: str) -> Any:
        features, _, hooks = parse_input_fn_result(self._call_input_fn(input_fn, mode))
        self._validate_features_in_predict_input(features)
        return features, hooks

    def _validate_features_in_predict_input(self, features: Any) -> None:
        tensors = [leaf for leaf in nest.flatten(features) if isinstance(leaf, tf.Tensor)]
        if any(tensor.op.type == "IteratorGetNext" for tensor in tensors):
            return
        if not tf.get_collection(tf.GraphKeys.QUEUE_RUNNERS):
            logging.warning(
                "Input graph does not use tf.data.Dataset or contain a QueueRunner. That means "
                "predict yields forever. This is probably a mistake."
            )

    def _call_model_fn(self, features: Any, labels: Any, mode: str, config: Any) -> Any:
        if labels is not None and "labels" not in fn_args(self._model_fn):
            raise ValueError("model_fn does not take labels, but input_fn returns labels.")
        logging.info("Calling model_fn.")
        spec = call_with_named(
            self._model_fn,
            features=features,
            labels=labels,
            mode=mode,
            params=self.params,
            config=config,
        )
        logging.info("Done calling model_fn.")
        if not isinstance(spec, EstimatorSpec):
            raise ValueError("model_fn should return an EstimatorSpec.")
        return spec

    def _warm_start(self) -> None:
        if self._warm_start_settings:
            logging.info("Warm-starting with WarmStartSettings: %s", (self._warm_start_settings,))
            warm_start(*self._warm_start_settings)


# Parts -------------------------------------------------------------------------------------------


def _with_directory_and_session(config: Any, model_dir: Any) -> Any:
    """A configuration with a model's directory and a session's configuration, whatever is given."""
    if config is None:
        config = RunConfig()
        logging.info("Using default config.")
    if not isinstance(config, RunConfig):
        raise ValueError(f"config must be an instance of `RunConfig`, but provided {config}.")
    if config.session_config is None:
        config = RunConfig.replace(config, session_config=get_default_session_config())
    model_dir = path_to_str(model_dir)
    if model_dir is not None and config.model_dir not in (None, model_dir):
        raise ValueError(
            "`model_dir` are set both in constructor and `RunConfig`, but with different values. "
            f"In constructor: '{model_dir}', in `RunConfig`: '{config.model_dir}' "
        )
    if not model_dir and config.model_dir is None:
        model_dir = tempfile.mkdtemp()
        logging.warn("Using temporary folder as model directory: %s", model_dir)
    return RunConfig.replace(config, model_dir=model_dir) if model_dir else config


def _get_replica_device_setter(config: Any) -> Any:
    if config.num_ps_replicas == 0:
        return None
    task = f"/job:{config.task_type}/task:{config.task_id}"
    return replica_device_setter(
        ps_tasks=config.num_ps_replicas,
        worker_device=task if config.task_type else "/job:worker",
        merge_devices=True,
        ps_ops=list(STANDARD_PS_OPS),
        cluster=config.cluster_spec,
    )


def saved_global_step(checkpoint_dir: Any) -> int:
    """The global step of the latest checkpoint; 0 if there is none."""
    found = latest_checkpoint(checkpoint_dir)
    if not found:
        return 0
    try:
        return int(load_variable(found, tf.GraphKeys.GLOBAL_STEP))
    except (tf.errors.OpError, ValueError):
        return 0


def updates_and_values(metrics: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """One operation that updates all metrics, and their values by name."""
    ordered = sorted(metrics.items())
    update = tf.group(*(pair[1] for _, pair in ordered))
    return update, {name: pair[0] for name, pair in ordered}


def _chosen(predictions: Any, predict_keys: Any) -> Any:
    if not predict_keys:
        return predictions
    if not isinstance(predictions, dict):
        raise ValueError("predict_keys argument is not valid in case of non-dict predictions.")
    chosen = {key: value for key, value in predictions.items() if key in predict_keys}
    if not chosen:
        raise ValueError(
            f"Expected to run at least one output from {predictions.keys()}, provided "
            f"{predict_keys}."
        )
    return chosen


def rows_of(batch: Any) -> Iterator[Any]:
    """The examples of a batch of predictions."""
    if not isinstance(batch, dict):
        yield from batch
        return
    length = None
    for key, value in batch.items():
        length = length or value.shape[0]
        if value.shape[0] != length:
            raise ValueError(
                "Batch length of predictions should be same. "
                f"{key} has different batch length than others."
            )
    for i in range(length or 0):
        yield {key: value[i] for key, value in batch.items()}


# Names inside TensorFlow that programs use.
EstimatorV2 = Estimator
_load_global_step_from_checkpoint_dir = saved_global_step
