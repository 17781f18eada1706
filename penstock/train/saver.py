"""`tf.train.Saver`: variables to checkpoints and back."""

from __future__ import annotations

import math
import numbers
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from penstock import errors
from penstock.checkpoint.reader import NewCheckpointReader
from penstock.client.session import BaseSession
from penstock.ir.collection_protos import register_proto_function
from penstock.ir.collections import GraphKeys
from penstock.ir.defaults import executing_eagerly, get_default_graph
from penstock.ir.naming import within_scope, without_scope
from penstock.ops.constants import constant
from penstock.platform import file_io, file_limits, logging
from penstock.proto import SaverDef, TrackableObjectGraph
from penstock.train import checkpoint_state
from penstock.train.checkpoint_state import (  # noqa: F401 - programs look for them here
    checkpoint_exists,
    generate_checkpoint_state_proto,
    get_checkpoint_mtimes,
    get_checkpoint_state,
    latest_checkpoint,
    remove_checkpoint,
    update_checkpoint_state,
)
from penstock.train.global_step import global_step as global_step_of
from penstock.train.meta_graph import add_collection_def, export_scoped_meta_graph
from penstock.train.restore_shapes import refuse_other_shapes
from penstock.train.saveables import all_saveable_objects, validate_and_slice_inputs
from penstock.train.saver_builder import BaseSaverBuilder, BulkSaverBuilder

_OBJECT_GRAPH_KEY = "_CHECKPOINTABLE_OBJECT_GRAPH"
_DEFAULT_HOURS = 10000.0


class Saver:
    """Saves variables to checkpoints and restores them.

    >>> saver = tf.train.Saver()
    >>> saver.save(sess, "model.ckpt", global_step=1000)
    >>> saver.restore(sess, "model.ckpt-1000")

    Args:
      var_list: variables to save (or SaveableObjects), in a list, or by the names that they have in
        the checkpoint; all global variables if None.
      reshape: whether variables may have other shapes than in the checkpoint.
      sharded: whether each device saves to files of its own.
      max_to_keep: how many recent checkpoints to keep; all if None or 0.
      keep_checkpoint_every_n_hours: keep one for good each so many hours.
      name: name scope of the nodes.
      restore_sequentially: restore variables one after the other.
      saver_def: a SaverDef message of nodes that are in the graph already.
      builder: what adds the nodes.
      defer_build: whether to add the nodes only when `build()` is called.
      allow_empty: whether it may have nothing to save.
      write_version: the format, `SaverDef.V1` or `SaverDef.V2`.
      pad_step_number: whether step numbers in file names have at least 8 digits.
      save_relative_paths: whether the state file names checkpoints relative to its directory.
      filename: the file name that the nodes use if none is fed.
    """

    def __init__(
        self,
        var_list: Any = None,
        reshape: bool = False,
        sharded: bool = False,
        max_to_keep: int | None = 5,
        keep_checkpoint_every_n_hours: float = _DEFAULT_HOURS,
        name: str | None = None,
        restore_sequentially: bool = False,
        saver_def: Any = None,
        builder: BaseSaverBuilder | None = None,
        defer_build: bool = False,
        allow_empty: bool = False,
        write_version: int = SaverDef.V2,
        pad_step_number: bool = False,
        save_relative_paths: bool = False,
        filename: str | None = None,
    ):
        if defer_build and var_list:
            raise ValueError(
                "If `var_list` is provided then build cannot be deferred. Either set "
                "defer_build=False or var_list=None."
            )
        self._var_list = var_list
        self._reshape = reshape
        self._sharded = sharded
        self._max_to_keep = max_to_keep
        self._keep_checkpoint_every_n_hours = keep_checkpoint_every_n_hours
        self._name = name
        self._restore_sequentially = restore_sequentially
        self.saver_def = saver_def
        self._builder = builder
        self._is_built = False
        self._allow_empty = allow_empty
        self._is_empty = False
        self._write_version = write_version
        self._pad_step_number = pad_step_number
        self._filename = filename
        self._last_checkpoints: list[tuple[str, float]] = []
        self._checkpoints_to_be_deleted: list[tuple[str, float]] = []
        self._next_checkpoint_time = math.inf
        self._save_relative_paths = save_relative_paths
        self._object_restore_saver: Saver | None = None
        if not defer_build:
            self.build()
        if self.saver_def:
            self._check_saver_def()
            self._write_version = self.saver_def.version

    # Its nodes --------------------------------------------------------------------------------

    def build(self) -> None:
        """Adds the nodes that save and restore; only needed after `defer_build`."""
        if self._is_built:
            return
        self._is_built = True
        if executing_eagerly():
            self._prepare_eagerly()
            return
        if not self.saver_def:
            self._add_nodes()
            if self._is_empty:
                return
        elif self._name:
            definition = self.saver_def
            for field in ("filename_tensor_name", "save_tensor_name", "restore_op_name"):
                setattr(definition, field, within_scope(getattr(definition, field), self._name))
        self._check_saver_def()
        hours = self.saver_def.keep_checkpoint_every_n_hours
        self._next_checkpoint_time = time.time() + hours * 3600

    def _prepare_eagerly(self) -> None:
        """What `build` does in eager mode: `save` and `restore` run at once."""
        if self._var_list is None:
            raise RuntimeError(
                "When eager execution is enabled, `var_list` must specify a list or dict of "
                "variables to save"
            )
        if self._builder is None:
            self._builder = BulkSaverBuilder(self._write_version)
        self._is_empty = not self._var_list
        self.saver_def = SaverDef(
            filename_tensor_name="",
            save_tensor_name="save",
            restore_op_name="restore",
            max_to_keep=self._max_to_keep or 0,
            keep_checkpoint_every_n_hours=self._keep_checkpoint_every_n_hours,
            version=self._write_version,
        )
        self._next_checkpoint_time = time.time() + self._keep_checkpoint_every_n_hours * 3600

    def _add_nodes(self) -> None:
        if self._builder is None:
            self._builder = BulkSaverBuilder(self._write_version)
        if self._var_list is None:
            self._var_list = all_saveable_objects()
        if not self._var_list:
            if not self._allow_empty:
                raise ValueError("No variables to save")
            self._is_empty = True
            return
        self.saver_def = self._builder._build_internal(
            self._var_list,
            reshape=self._reshape,
            sharded=self._sharded,
            max_to_keep=self._max_to_keep,
            keep_checkpoint_every_n_hours=self._keep_checkpoint_every_n_hours,
            name=self._name,
            restore_sequentially=self._restore_sequentially,
            filename=self._filename,
        )

    def _check_saver_def(self) -> None:
        definition = self.saver_def
        if not isinstance(definition, SaverDef):
            raise ValueError(f"saver_def must be a saver_pb2.SaverDef: {definition}")
        for field in ("save_tensor_name", "restore_op_name"):
            if not getattr(definition, field):
                raise ValueError(f"saver_def must specify the {field}: {definition}")

    # Which checkpoints there are --------------------------------------------------------------

    @property
    def last_checkpoints(self) -> list[str]:
        """The checkpoints that were not deleted yet, the latest last."""
        return [path for path, _ in self._last_checkpoints]

    def set_last_checkpoints(self, last_checkpoints: list[str]) -> None:
        """The old form of `set_last_checkpoints_with_time`."""
        assert isinstance(last_checkpoints, list)
        self._last_checkpoints = [(path, math.inf) for path in last_checkpoints]

    def set_last_checkpoints_with_time(
        self, last_checkpoints_with_time: list[tuple[str, float]]
    ) -> None:
        """Says which checkpoints there are, as pairs of path and time, the latest last."""
        assert isinstance(last_checkpoints_with_time, list)
        self._last_checkpoints = last_checkpoints_with_time

    def recover_last_checkpoints(self, checkpoint_paths: list[str]) -> None:
        """After a restart: takes over the checkpoints of those paths that exist."""
        found = []
        for path in checkpoint_paths:
            times = get_checkpoint_mtimes([path])
            if times:
                found.append((path, times[0]))
        self.set_last_checkpoints_with_time(found)

    def _RecordLastCheckpoint(self, latest_save_path: str) -> None:
        if not self.saver_def.max_to_keep:
            return
        kept = [entry for entry in self._last_checkpoints if entry[0] != latest_save_path]
        kept.append((latest_save_path, time.time()))
        self._last_checkpoints = kept
        if len(kept) > self.saver_def.max_to_keep:
            self._checkpoints_to_be_deleted.append(kept.pop(0))

    def _MaybeDeleteOldCheckpoints(self, meta_graph_suffix: str = "meta") -> None:
        if not self._checkpoints_to_be_deleted:
            return
        path, written = self._checkpoints_to_be_deleted.pop(0)
        if written > self._next_checkpoint_time:
            self._next_checkpoint_time += self.saver_def.keep_checkpoint_every_n_hours * 3600
            return
        try:
            remove_checkpoint(path, self.saver_def.version, meta_graph_suffix)
        except errors.OpError as error:
            logging.warning("Ignoring: %s", error)

    # Saving -----------------------------------------------------------------------------------

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
        """Saves the variables and returns the path to restore them from.

        Args:
          sess: the session that has them.
          save_path: prefix of the files.
          global_step: a number, or a tensor or variable with one, to append to the prefix.
          latest_filename: name of the state file; "checkpoint" if None.
          meta_graph_suffix: suffix of the MetaGraphDef file.
          write_meta_graph: whether to write the graph beside it.
          write_state: whether to update the state file (and delete old checkpoints).
          strip_default_attrs: whether the graph leaves out attrs that have their defaults.
          save_debug_info: not used.
        """
        latest_filename = latest_filename or "checkpoint"
        save_path = os.fspath(save_path)
        prefix = self._checked_prefix(sess, save_path, global_step, latest_filename)
        saved = None
        if not self._is_empty:
            with _missing_parent_explained(save_path):
                saved = self._run_save(sess, prefix)
        if write_meta_graph and not executing_eagerly():
            path = checkpoint_state.meta_graph_filename(prefix, meta_graph_suffix)
            with sess.graph.as_default():
                self.export_meta_graph(
                    path, strip_default_attrs=strip_default_attrs, save_debug_info=save_debug_info
                )
        # Last: what the state file names is there, whole, whenever a program stops.
        if saved is not None and write_state:
            with _missing_parent_explained(save_path):
                self._write_state(save_path, saved, latest_filename, meta_graph_suffix)
        return saved

    def _checked_prefix(
        self, sess: Any, save_path: str, global_step: Any, latest_filename: str
    ) -> str:
        """The prefix to save to, after the checks of the arguments of `save`."""
        if not self._is_built:
            raise RuntimeError("`build()` should be called before save if defer_build==True")
        if self._write_version != SaverDef.V2:
            logging.warning(
                "TensorFlow's V1 checkpoint format has been deprecated. Consider switching to the "
                "more efficient V2 format: `tf.train.Saver(write_version=tf.train.SaverDef.V2)`, "
                "now on by default."
            )
        if os.path.dirname(latest_filename):
            raise ValueError("'latest_filename' must not contain path components")
        prefix = self._prefix(sess, save_path, global_step, latest_filename)
        if not executing_eagerly() and not isinstance(sess, BaseSession):
            raise TypeError(f"'sess' must be a Session; {sess}")
        return prefix

    def _prefix(self, sess: Any, save_path: str, global_step: Any, latest_filename: str) -> str:
        if global_step is not None:
            if not isinstance(global_step, numbers.Integral):
                if executing_eagerly():
                    global_step = int(global_step.numpy())
                else:
                    global_step = global_step_of(sess, global_step)
            return (
                f"{save_path}-{global_step:08d}"
                if self._pad_step_number
                else (f"{save_path}-{global_step:d}")
            )
        if os.path.basename(save_path) == latest_filename and not self._sharded:
            raise ValueError(
                f"'latest_filename' collides with 'save_path': '{latest_filename}' and "
                f"'{save_path}'"
            )
        return save_path

    def _run_save(self, sess: Any, prefix: str) -> str:
        definition = self.saver_def
        if executing_eagerly():
            assert self._builder is not None
            self._builder._AddSaveOps(constant(prefix), validate_and_slice_inputs(self._var_list))
            return prefix
        with file_limits.allowing(os.path.dirname(prefix)):
            saved = sess.run(definition.save_tensor_name, {definition.filename_tensor_name: prefix})
        return os.fsdecode(saved)

    def _write_state(
        self, save_path: str, saved: str, latest_filename: str, meta_graph_suffix: str
    ) -> None:
        self._RecordLastCheckpoint(saved)
        checkpoint_state.update_checkpoint_state_internal(
            save_dir=os.path.dirname(save_path),
            model_checkpoint_path=saved,
            all_model_checkpoint_paths=self.last_checkpoints,
            latest_filename=latest_filename,
            save_relative_paths=self._save_relative_paths,
        )
        self._MaybeDeleteOldCheckpoints(meta_graph_suffix=meta_graph_suffix)

    # Restoring --------------------------------------------------------------------------------

    def restore(self, sess: Any, save_path: Any) -> None:
        """Gives the variables the values of a checkpoint; they need not be initialized before.

        `save_path` is what `save` returned, or `tf.train.latest_checkpoint`.
        """
        if self._is_empty:
            return
        if save_path is None:
            raise ValueError("Can't load save_path when it is None.")
        prefix = os.fsdecode(save_path)
        checkpoint_state.refuse_missing(prefix)
        logging.info("Restoring parameters from %s", prefix)
        definition = self.saver_def
        try:
            if executing_eagerly():
                self._restore_now(prefix)
                return
            if not self._reshape:
                refuse_other_shapes(sess.graph, definition.restore_op_name, prefix)
            with file_limits.allowing(os.path.dirname(prefix)):
                sess.run(definition.restore_op_name, {definition.filename_tensor_name: prefix})
        except errors.NotFoundError as error:
            try:
                keys = object_graph_key_mapping(prefix)
            except errors.NotFoundError:
                raise _explained(
                    error, "a Variable name or other graph key that is missing"
                ) from None
            logging.warning(
                "Restoring an object-based checkpoint using a name-based saver. This may be "
                "somewhat fragile, and will re-build the Saver."
            )
            self._object_restore_saver = saver_from_object_based_checkpoint(
                prefix, self._var_list, self._builder, keys, self._object_restore_saver
            )
            self._object_restore_saver.restore(sess, prefix)
        except errors.InvalidArgumentError as error:
            raise _explained(error, "a mismatch between the current graph and the graph") from None

    def _restore_now(self, prefix: str) -> None:
        """Restores, in eager mode."""
        assert self._builder is not None
        saveables = validate_and_slice_inputs(self._var_list)
        self._builder._AddRestoreOps(
            constant(prefix), saveables, self._restore_sequentially, self._reshape
        )

    # Messages ---------------------------------------------------------------------------------

    def as_saver_def(self) -> Any:
        """The SaverDef message that names the nodes."""
        return self.saver_def

    def to_proto(self, export_scope: str | None = None) -> Any:
        """The SaverDef message; None if the nodes are outside `export_scope`."""
        if export_scope is None:
            return self.saver_def
        fields = ("filename_tensor_name", "save_tensor_name", "restore_op_name")
        if not all(getattr(self.saver_def, field).startswith(export_scope) for field in fields):
            return None
        message = SaverDef()
        message.CopyFrom(self.saver_def)
        for field in fields:
            setattr(message, field, without_scope(getattr(message, field), export_scope))
        return message

    @staticmethod
    def from_proto(saver_def: Any, import_scope: str | None = None) -> Saver:
        """A saver with the nodes that a SaverDef message names."""
        return Saver(saver_def=saver_def, name=import_scope)

    @staticmethod
    def _add_collection_def(meta_graph_def: Any, key: Any, export_scope: str | None = None) -> None:
        add_collection_def(meta_graph_def, key, export_scope=export_scope)

    def export_meta_graph(
        self,
        filename: str | None = None,
        collection_list: Any = None,
        as_text: bool = False,
        export_scope: str | None = None,
        clear_devices: bool = False,
        clear_extraneous_savers: bool = False,
        strip_default_attrs: bool = False,
        save_debug_info: bool = False,
    ) -> Any:
        """The default graph with this saver as a MetaGraphDef; see `tf.train.export_meta_graph`."""
        return export_scoped_meta_graph(
            filename=filename,
            graph_def=get_default_graph().as_graph_def(add_shapes=True),
            saver_def=self.saver_def,
            collection_list=collection_list,
            as_text=as_text,
            export_scope=export_scope,
            clear_devices=clear_devices,
            clear_extraneous_savers=clear_extraneous_savers,
            strip_default_attrs=strip_default_attrs,
        )[0]


@contextmanager
def _missing_parent_explained(save_path: str) -> Iterator[None]:
    """Says which directory is missing, where a file could not be made for that."""
    try:
        yield
    except (errors.FailedPreconditionError, errors.NotFoundError):
        parent = os.path.dirname(save_path)
        if parent and not file_io.is_directory(parent):
            raise ValueError(
                f"Parent directory of {save_path} doesn't exist, can't save."
            ) from None
        raise


def _explained(error: errors.OpError, cause: str) -> errors.OpError:
    message = (
        f"Restoring from checkpoint failed. This is most likely due to {cause} from the "
        "checkpoint. Please ensure that you have not altered the graph expected based on the "
        f"checkpoint. Original error:\n\n{error.message}"
    )
    error_class: Any = type(error)  # one of the canonical ones, which know their code
    return error_class(error.node_def, error.op, message)


register_proto_function(
    GraphKeys.SAVERS,
    proto_type=SaverDef,
    to_proto=Saver.to_proto,
    from_proto=Saver.from_proto,
)


def _get_saver_or_default() -> Saver:
    """The graph's only saver; one for all variables is made if there is none."""
    graph = get_default_graph()
    savers = graph.get_collection(GraphKeys.SAVERS)
    if len(savers) > 1:
        raise RuntimeError(
            f"More than one item in collection {GraphKeys.SAVERS}. Please indicate which one to "
            "use by passing it to the constructor."
        )
    if savers:
        return savers[0]
    saver = Saver(sharded=True, allow_empty=True)
    graph.add_to_collection(GraphKeys.SAVERS, saver)
    return saver


# Checkpoints of tf.train.Checkpoint: keys are paths through objects ---------------------------


def object_graph_key_mapping(checkpoint_path: str) -> dict[str, str]:
    """Variable names to keys, in a checkpoint whose keys are paths through objects."""
    reader = NewCheckpointReader(checkpoint_path)
    graph = TrackableObjectGraph.FromString(reader.get_tensor(_OBJECT_GRAPH_KEY))
    return {
        attribute.full_name: attribute.checkpoint_key
        for node in graph.nodes
        for attribute in node.attributes
    }


def saver_from_object_based_checkpoint(
    checkpoint_path: str,
    var_list: Any = None,
    builder: BaseSaverBuilder | None = None,
    names_to_keys: dict[str, str] | None = None,
    cached_saver: Saver | None = None,
) -> Saver:
    """A saver that restores variables by name from such a checkpoint."""
    if names_to_keys is None:
        try:
            names_to_keys = object_graph_key_mapping(checkpoint_path)
        except errors.NotFoundError:
            raise ValueError(
                f"Checkpoint in {checkpoint_path} not an object-based checkpoint."
            ) from None
    if var_list is None:
        var_list = all_saveable_objects()
    saveables = validate_and_slice_inputs(var_list)
    specs = [spec for saveable in saveables for spec in saveable.specs]
    current = {spec.name for spec in specs}
    missing = current - names_to_keys.keys()
    if missing:
        raise errors.NotFoundError(
            None,
            None,
            f"\n\nExisting variables not in the checkpoint: {', '.join(sorted(missing))}\n\n"
            "Variables names when this checkpoint was written which don't exist now: "
            f"{', '.join(sorted(names_to_keys.keys() - current))}\n\n"
            f"({len(current & names_to_keys.keys())} variable name(s) did match)\n\n"
            "Could not find some variables in the checkpoint (see names above). Saver was "
            "attempting to load an object-based checkpoint using variable names; give "
            "Saver(var_list=...) the variables that it has, by their names in it.",
        )
    for spec in specs:
        spec.name = names_to_keys[spec.name]
    return Saver(saveables) if cached_saver is None else cached_saver
