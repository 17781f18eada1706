"""Saving in the background of training: `tf.train.AsyncSaver`."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Any

from penstock import dtypes
from penstock.client.session import Session
from penstock.ir.tensor import Tensor
from penstock.platform import logging
from penstock.proto import SaverDef
from penstock.train import checkpoint_state
from penstock.train.graph_files import write_graph
from penstock.train.saver import Saver

_SAVES = ("SaveV2", "SaveSlices", "Save")
_ARGUMENTS_BEFORE_TENSORS = {"SaveV2": 3, "SaveSlices": 3, "Save": 2}


class AsyncSaver(Saver):
    """A `tf.train.Saver` whose `save` takes a snapshot and returns; a thread writes the files.

    >>> with tf.train.AsyncSaver() as saver:
    ...     for step in range(10000):
    ...         sess.run(train_op)
    ...         if step % 1000 == 0:
    ...             saver.save(sess, "model.ckpt", global_step=step)

    1. The snapshot is one step's copy of everything that is saved: training goes on at once and
       changes nothing in it. It takes as much memory as the variables.
    2. One checkpoint is written at a time: `save` waits for the one before it.
    3. What failed is raised by the next `save`, `restore`, `wait` or `close`.
    4. The state file names a checkpoint only when it is complete.
    5. A program that ends waits for its last checkpoint.

    Checkpoints of the V1 format, and savers with values that can't be copied (states of iterators),
    are written before `save` returns.
    """

    def __init__(self, *args: Any, **kwargs: Any):
        self._thread: threading.Thread | None = None
        self._error: BaseException | None = None
        super().__init__(*args, **kwargs)

    def save(
        self,
        sess: Any,
        save_path: str,
        global_step: Any = None,
        latest_filename: str | None = None,
        meta_graph_suffix: str = "meta",
        write_meta_graph: bool = True,
        write_state: bool = True,
        strip_default_attrs: bool = False,
        save_debug_info: bool = False,
    ) -> str | None:
        """Begins to save, and returns the path that the checkpoint will have; see `Saver.save`."""
        self.wait()
        latest_filename = latest_filename or "checkpoint"
        save_path = os.fspath(save_path)
        prefix = self._checked_prefix(sess, save_path, global_step, latest_filename)
        tensors = [] if self._is_empty else self._saved_tensors(sess.graph)
        if not tensors or self.saver_def.version != SaverDef.V2:
            return super().save(
                sess,
                save_path,
                global_step,
                latest_filename,
                meta_graph_suffix,
                write_meta_graph,
                write_state,
                strip_default_attrs,
                save_debug_info,
            )
        message = None
        if write_meta_graph:
            with sess.graph.as_default():
                message = self.export_meta_graph(strip_default_attrs=strip_default_attrs)
        snapshot = dict(zip(tensors, sess.run(tensors), strict=True))
        session = Session(sess.sess_str, sess.graph, sess._config)

        def write() -> None:
            with session:
                definition = self.saver_def
                feeds = {definition.filename_tensor_name: prefix, **snapshot}
                saved = os.fsdecode(session.run(definition.save_tensor_name, feeds))
            snapshot.clear()
            if message is not None:
                path = checkpoint_state.meta_graph_filename(prefix, meta_graph_suffix)
                write_graph(message, *os.path.split(path), as_text=False)
            if write_state:
                self._write_state(save_path, saved, latest_filename, meta_graph_suffix)

        self._start(write)
        return prefix

    def _saved_tensors(self, graph: Any) -> list[Tensor]:
        """The tensors that the saver's nodes write; none if one of them can't be copied."""
        start = graph.as_graph_element(self.saver_def.save_tensor_name).op
        waiting, seen = [start], {start}
        found: dict[Tensor, None] = {}
        while waiting:
            op = waiting.pop()
            if op.type in _SAVES:
                found.update(dict.fromkeys(op.inputs[_ARGUMENTS_BEFORE_TENSORS[op.type] :]))
                continue
            before = {*op.control_inputs, *(tensor.op for tensor in op.inputs)} - seen
            seen |= before
            waiting += before
        types = {tensor.dtype.base_dtype for tensor in found}
        return [] if types & {dtypes.resource, dtypes.variant} else list(found)

    # The thread -------------------------------------------------------------------------------

    def _start(self, write: Callable[[], None]) -> None:
        def run() -> None:
            try:
                write()
            except BaseException as error:
                logging.error("Saving in the background failed: %s", error)
                self._error = error

        self._thread = threading.Thread(target=run, name="penstock-saver")
        self._thread.start()

    def wait(self) -> None:
        """Returns when the last checkpoint is written; raises what failed."""
        thread, self._thread = self._thread, None
        if thread is not None:
            thread.join()
        error, self._error = self._error, None
        if error is not None:
            raise error

    def close(self) -> None:
        """Waits for the last checkpoint."""
        self.wait()

    def __enter__(self) -> AsyncSaver:
        return self

    def __exit__(self, error_type: Any, error: Any, trace: Any) -> None:
        if error is None:
            self.close()
        elif self._thread is not None:
            # The error of the block is the one to see; the checkpoint is still completed.
            self._thread.join()

    def restore(self, sess: Any, save_path: Any) -> None:
        self.wait()
        super().restore(sess, save_path)

    @property
    def last_checkpoints(self) -> list[str]:
        """The complete checkpoints that were not deleted yet, the latest last."""
        return super().last_checkpoints
