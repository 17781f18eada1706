"""Hooks that write files while training: checkpoints, summaries, steps per second, timelines."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from typing import Any, Literal

from penstock import proto
from penstock.ir.collections import GraphKeys
from penstock.ir.defaults import get_default_graph
from penstock.platform import gfile, logging
from penstock.summary import SummaryWriterCache
from penstock.train.async_saver import AsyncSaver
from penstock.train.basic_session_run_hooks import global_step_to_read
from penstock.train.checkpoint_interval import CheckpointInterval
from penstock.train.global_step import get_global_step
from penstock.train.graph_files import write_graph
from penstock.train.hook_timers import SecondOrStepTimer
from penstock.train.meta_graph import create_meta_graph_def
from penstock.train.session_run_hook import (
    SessionRunArgs,
    SessionRunContext,
    SessionRunHook,
    SessionRunValues,
)

__all__ = [
    "CheckpointSaverHook",
    "CheckpointSaverListener",
    "ProfilerHook",
    "StepCounterHook",
    "SummarySaverHook",
]

_UNMOVED_STEP_WARNINGS = 5


class CheckpointSaverListener:
    """Is told when a `CheckpointSaverHook` saves; override what you need."""

    def begin(self) -> None:
        """Called before the session exists."""

    def before_save(self, session: Any, global_step_value: int) -> None:
        """Called before a checkpoint is written."""

    def after_save(self, session: Any, global_step_value: int) -> Any:
        """Called after a checkpoint was written; training stops if it returns True."""

    def end(self, session: Any, global_step_value: int) -> None:
        """Called after the last checkpoint."""


class CheckpointSaverHook(SessionRunHook):
    """Saves a checkpoint at the start, every so many steps or seconds, and at the end.

    Args:
      checkpoint_dir: where checkpoints go.
      save_secs: save every so many seconds; "auto": as often as the time that saves take and the
        failures so far make it worth while.
      save_steps: or every so many steps.
      saver: what saves; else `scaffold.saver`, else the graph's only saver.
      checkpoint_basename: the name of checkpoints, before "-STEP".
      scaffold: where to find the saver.
      listeners: who is told of checkpoints.
    """

    def __init__(
        self,
        checkpoint_dir: str,
        save_secs: float | Literal["auto"] | None = None,
        save_steps: int | None = None,
        saver: Any = None,
        checkpoint_basename: str = "model.ckpt",
        scaffold: Any = None,
        listeners: Sequence[CheckpointSaverListener] | None = None,
    ):
        logging.info("Create CheckpointSaverHook.")
        if saver is not None and scaffold is not None:
            raise ValueError("You cannot provide both saver and scaffold.")
        self._saver = saver
        self._checkpoint_dir = checkpoint_dir
        self._save_path = os.path.join(checkpoint_dir, checkpoint_basename)
        self._scaffold = scaffold
        self._interval = CheckpointInterval() if save_secs == "auto" else None
        if save_secs == "auto":
            save_secs = CheckpointInterval().seconds(0.0)
        self._timer = SecondOrStepTimer(every_secs=save_secs, every_steps=save_steps)
        self._listeners = listeners or []
        self._steps_per_run = 1

    def _set_steps_per_run(self, steps_per_run: int) -> None:
        self._steps_per_run = steps_per_run

    def begin(self) -> None:
        self._summary_writer = SummaryWriterCache.get(self._checkpoint_dir)
        self._global_step_tensor = global_step_to_read("CheckpointSaverHook")
        for listener in self._listeners:
            listener.begin()

    def after_create_session(self, session: Any, coord: Any) -> None:
        if self._interval is not None:
            self._interval.session_made(time.monotonic())
        global_step = session.run(self._global_step_tensor)
        # The graph was not complete before: hooks may add to it until the session is made.
        graph = get_default_graph()
        graph_def = graph.as_graph_def(add_shapes=True)
        write_graph(graph_def, self._checkpoint_dir, "graph.pbtxt")
        saver = self._get_saver()
        self._summary_writer.add_graph(graph)
        self._summary_writer.add_meta_graph(
            create_meta_graph_def(graph_def=graph_def, saver_def=saver.saver_def if saver else None)
        )
        self._save(session, global_step)
        self._timer.update_last_triggered_step(global_step)

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs | None:
        return SessionRunArgs(self._global_step_tensor)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        if not self._timer.should_trigger_for_step(run_values.results + self._steps_per_run):
            return
        global_step = run_context.session.run(self._global_step_tensor)
        if not self._timer.should_trigger_for_step(global_step):
            return
        self._timer.update_last_triggered_step(global_step)
        if self._save(run_context.session, global_step):
            run_context.request_stop()

    def end(self, session: Any) -> None:
        last_step = session.run(self._global_step_tensor)
        if last_step != self._timer.last_triggered_step():
            self._save(session, last_step)
        self._wait_for_saver()
        for listener in self._listeners:
            listener.end(session, last_step)

    def _save(self, session: Any, step: int) -> bool:
        """Saves a checkpoint; whether a listener asks to stop."""
        logging.info("Saving checkpoints for %d into %s.", step, self._save_path)
        for listener in self._listeners:
            listener.before_save(session, step)
        began = time.monotonic()
        self._get_saver().save(session, self._save_path, global_step=step)
        self._adapt(time.monotonic() - began)
        log = proto.SessionLog(status=proto.SessionLog.CHECKPOINT, checkpoint_path=self._save_path)
        self._summary_writer.add_session_log(log, step)
        if self._listeners:
            self._wait_for_saver()
        should_stop = False
        for listener in self._listeners:
            if listener.after_save(session, step):
                logging.info(
                    "A CheckpointSaverListener requested that training be stopped. listener: %s",
                    listener,
                )
                should_stop = True
        return should_stop

    def _adapt(self, seconds: float) -> None:
        """Decides when to save next, after a save that took so long."""
        if self._interval is not None:
            self._interval.saved(seconds)
            self._timer._every_secs = self._interval.seconds(time.monotonic())

    def _wait_for_saver(self) -> None:
        """Returns when the last checkpoint is there, which an AsyncSaver may still be writing."""
        saver = self._get_saver()
        if isinstance(saver, AsyncSaver):
            saver.wait()

    def _get_saver(self) -> Any:
        if self._saver is not None:
            return self._saver
        if self._scaffold is not None:
            return self._scaffold.saver
        savers = get_default_graph().get_collection(GraphKeys.SAVERS)
        if not savers:
            raise RuntimeError(
                f"No items in collection {GraphKeys.SAVERS}. Please add a saver to the collection "
                "or provide a saver or scaffold."
            )
        if len(savers) > 1:
            raise RuntimeError(
                f"More than one item in collection {GraphKeys.SAVERS}. Please indicate which one "
                "to use by passing it to the constructor."
            )
        self._saver = savers[0]
        return self._saver


class StepCounterHook(SessionRunHook):
    """Logs steps per second, and writes them as a summary where there is a directory or writer."""

    def __init__(
        self,
        every_n_steps: int | None = 100,
        every_n_secs: float | None = None,
        output_dir: str | None = None,
        summary_writer: Any = None,
    ):
        if (every_n_steps is None) == (every_n_secs is None):
            raise ValueError("exactly one of every_n_steps and every_n_secs should be provided.")
        self._timer = SecondOrStepTimer(every_steps=every_n_steps, every_secs=every_n_secs)
        self._summary_writer = summary_writer
        self._output_dir = output_dir
        self._last_global_step: int | None = None
        self._steps_per_run = 1

    def _set_steps_per_run(self, steps_per_run: int) -> None:
        self._steps_per_run = steps_per_run

    def begin(self) -> None:
        if self._summary_writer is None and self._output_dir:
            self._summary_writer = SummaryWriterCache.get(self._output_dir)
        self._global_step_tensor = global_step_to_read("StepCounterHook")
        self._summary_tag = f"{get_global_step().op.name}/sec"

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs | None:
        return SessionRunArgs(self._global_step_tensor)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        stale_step = run_values.results
        if self._timer.should_trigger_for_step(stale_step + self._steps_per_run):
            global_step = run_context.session.run(self._global_step_tensor)
            if self._timer.should_trigger_for_step(global_step):
                elapsed_secs, elapsed_steps = self._timer.update_last_triggered_step(global_step)
                if elapsed_secs is not None and elapsed_steps is not None:
                    self._log_and_record(elapsed_steps, elapsed_secs, global_step)
        if stale_step == self._last_global_step:
            logging.log_first_n(
                logging.WARN,
                "It seems that global step (tf.train.get_global_step) has not been increased. "
                "Current value (could be stable): %s vs previous value: %s. You could increase "
                "the global step by passing tf.train.get_global_step() to "
                "Optimizer.apply_gradients or Optimizer.minimize.",
                _UNMOVED_STEP_WARNINGS,
                stale_step,
                self._last_global_step,
            )
        self._last_global_step = stale_step

    def _log_and_record(self, elapsed_steps: int, elapsed_time: float, global_step: int) -> None:
        rate = elapsed_steps / elapsed_time
        if self._summary_writer is not None:
            value = proto.Summary.Value(tag=self._summary_tag, simple_value=rate)
            self._summary_writer.add_summary(proto.Summary(value=[value]), global_step)
        logging.info("%s: %g", self._summary_tag, rate)


class SummarySaverHook(SessionRunHook):
    """Writes summaries every so many steps or seconds.

    Args:
      save_steps: write every so many steps.
      save_secs: or every so many seconds.
      output_dir: where the event file goes; or
      summary_writer: what writes it.
      scaffold: whose `summary_op` to write; or
      summary_op: a tensor, or a list of them, of serialized summaries.
    """

    def __init__(
        self,
        save_steps: int | None = None,
        save_secs: float | None = None,
        output_dir: str | None = None,
        summary_writer: Any = None,
        scaffold: Any = None,
        summary_op: Any = None,
    ):
        if (scaffold is None) == (summary_op is None):
            raise ValueError("Exactly one of scaffold or summary_op must be provided.")
        self._summary_op = summary_op
        self._summary_writer = summary_writer
        self._output_dir = output_dir
        self._scaffold = scaffold
        self._timer = SecondOrStepTimer(every_secs=save_secs, every_steps=save_steps)

    def begin(self) -> None:
        if self._summary_writer is None and self._output_dir:
            self._summary_writer = SummaryWriterCache.get(self._output_dir)
        self._next_step: int | None = None
        self._global_step_tensor = global_step_to_read("SummarySaverHook")

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs | None:
        self._request_summary = self._next_step is None or self._timer.should_trigger_for_step(
            self._next_step
        )
        requests = {"global_step": self._global_step_tensor}
        if self._request_summary:
            summary_op = self._get_summary_op()
            if summary_op is not None:
                requests["summary"] = summary_op
        return SessionRunArgs(requests)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        writer = self._summary_writer
        if not writer:
            return
        global_step = run_values.results["global_step"] + 1
        if self._next_step is None or self._request_summary:
            global_step = run_context.session.run(self._global_step_tensor)
        if self._next_step is None:
            writer.add_session_log(proto.SessionLog(status=proto.SessionLog.START), global_step)
        if self._request_summary:
            self._timer.update_last_triggered_step(global_step)
            for summary in run_values.results.get("summary", ()):
                writer.add_summary(summary, global_step)
        self._next_step = global_step + 1

    def end(self, session: Any = None) -> None:
        if self._summary_writer:
            self._summary_writer.flush()

    def _get_summary_op(self) -> list[Any] | None:
        summary_op = self._summary_op
        if summary_op is None:
            summary_op = self._scaffold.summary_op
        if summary_op is None or isinstance(summary_op, list):
            return summary_op
        return [summary_op]


class ProfilerHook(SessionRunHook):
    """Traces a step every so many steps or seconds into `timeline-STEP.json`, for Chrome's tracing.

    Args:
      save_steps: trace every so many steps.
      save_secs: or every so many seconds.
      output_dir: where the files go.
      show_dataflow: whether arrows connect producers and consumers of tensors.
      show_memory: whether allocations are shown.
    """

    def __init__(
        self,
        save_steps: int | None = None,
        save_secs: float | None = None,
        output_dir: str = "",
        show_dataflow: bool = True,
        show_memory: bool = False,
    ):
        self._output_file = os.path.join(output_dir, "timeline-{}.json")
        self._file_writer = SummaryWriterCache.get(output_dir)
        self._show_dataflow = show_dataflow
        self._show_memory = show_memory
        self._timer = SecondOrStepTimer(every_secs=save_secs, every_steps=save_steps)

    def begin(self) -> None:
        self._next_step: int | None = None
        self._global_step_tensor = global_step_to_read("ProfilerHook")

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs | None:
        # The first step is not typical: it is compiled before it runs.
        self._request_summary = self._next_step is not None and self._timer.should_trigger_for_step(
            self._next_step
        )
        options = None
        if self._request_summary:
            options = proto.RunOptions(trace_level=proto.RunOptions.FULL_TRACE)
        return SessionRunArgs({"global_step": self._global_step_tensor}, options=options)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        stale_step = run_values.results["global_step"]
        if self._next_step is None:
            self._timer.update_last_triggered_step(stale_step)
        global_step = stale_step + 1
        if self._request_summary:
            global_step = run_context.session.run(self._global_step_tensor)
            self._timer.update_last_triggered_step(global_step)
            metadata = run_values.run_metadata
            self._save(global_step, self._output_file.format(global_step), metadata.step_stats)
            self._file_writer.add_run_metadata(metadata, f"step_{global_step}")
        self._next_step = global_step + 1

    def _save(self, step: int, save_path: str, step_stats: Any) -> None:
        from penstock.tracing.timeline import Timeline

        logging.info("Saving timeline for %d into '%s'.", step, save_path)
        trace = Timeline(step_stats).generate_chrome_trace_format(
            show_dataflow=self._show_dataflow, show_memory=self._show_memory
        )
        with gfile.Open(save_path, "w") as file:
            file.write(trace)
