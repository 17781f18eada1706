"""The hook that saves the places of input pipelines beside a model's checkpoints."""

from __future__ import annotations

from typing import Any

from penstock.data.iterator import GLOBAL_ITERATORS
from penstock.data.iterator_saveable import IteratorSaveable
from penstock.ir.defaults import get_default_graph
from penstock.train.checkpoint_state import latest_checkpoint
from penstock.train.recording_hooks import CheckpointSaverHook
from penstock.train.saver import Saver
from penstock.train.session_run_hook import SessionRunArgs, SessionRunHook


class CheckpointInputPipelineHook(SessionRunHook):
    """Saves the places of iterators as often as an estimator saves its model, and goes on there.

    The checkpoints are "input.ckpt-STEP" in the model's folder, those of one worker of many
    "input_TYPE_ID.ckpt-STEP"; a model's checkpoints don't have the iterators.

    Args:
      estimator: the estimator that trains.
    """

    def __init__(self, estimator: Any):
        config = estimator._config
        prefix = "input"
        if config.num_worker_replicas > 1:
            prefix += f"_{config.task_type}_{config.task_id}"
        # Not a base class: an estimator that finds such a hook would not save its model.
        self._checkpoint_saver_hook = CheckpointSaverHook(
            estimator.model_dir,
            save_secs=config.save_checkpoints_secs,
            save_steps=config.save_checkpoints_steps,
            checkpoint_basename=f"{prefix}.ckpt",
        )
        self._latest_filename = f"checkpoint_{prefix}"
        self._first_run = True

    def begin(self) -> None:
        hook = self._checkpoint_saver_hook
        if hook._saver is None and hook._scaffold is None:
            iterators = get_default_graph().get_collection(GLOBAL_ITERATORS)
            saveables = [IteratorSaveable(resource, resource.name) for resource in iterators]
            hook._saver = _PipelineSaver(saveables, self._latest_filename)
        hook.begin()

    def before_run(self, run_context: Any) -> SessionRunArgs | None:
        if self._first_run:
            # Not when the session is made: another hook initializes the iterators then.
            self._first_run = False
            self._begin_at_checkpoint(run_context.session)
        return self._checkpoint_saver_hook.before_run(run_context)

    def _begin_at_checkpoint(self, session: Any) -> None:
        hook = self._checkpoint_saver_hook
        latest = latest_checkpoint(hook._checkpoint_dir, self._latest_filename)
        if latest:
            hook._get_saver().restore(session, latest)
            return
        global_step = session.run(hook._global_step_tensor)
        hook._save(session, global_step)
        hook._timer.update_last_triggered_step(global_step)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        self._checkpoint_saver_hook.after_run(run_context, run_values)

    def end(self, session: Any) -> None:
        self._checkpoint_saver_hook.end(session)


class _PipelineSaver(Saver):
    """A saver whose list of checkpoints has another name than that of models."""

    def __init__(self, saveables: Any, latest_filename: str):
        super().__init__(saveables)
        self._latest_filename = latest_filename

    def save(self, sess: Any, save_path: Any, *args: Any, **kwargs: Any) -> Any:
        if len(args) < 2:
            kwargs.setdefault("latest_filename", self._latest_filename)
        return super().save(sess, save_path, *args, **kwargs)
