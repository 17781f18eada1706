"""`tf.train.Checkpoint`: objects to checkpoints and back, by the names of their attributes."""

from __future__ import annotations

import os
import weakref
from typing import Any

from penstock import dtypes, errors
from penstock.checkpoint.reader import NewCheckpointReader
from penstock.ir.defaults import executing_eagerly, get_default_graph
from penstock.ir.tensor import Tensor
from penstock.ir.trackable import OBJECT_GRAPH_PROTO_KEY, NoDependency, Trackable
from penstock.ops.constants import constant
from penstock.ops.control import control_dependencies
from penstock.ops.graph_functions import GraphFunction
from penstock.ops.identity import identity
from penstock.ops.initializers import glorot_uniform_initializer, zeros_initializer
from penstock.ops.variable_creation import create_variable
from penstock.platform import file_io
from penstock.proto import TrackableObjectGraph
from penstock.shapes import TensorShape
from penstock.train import checkpoint_state
from penstock.train.functional_saver import MultiDeviceSaver
from penstock.train.saveables import SaveableObject
from penstock.train.saver_builder import BulkSaverBuilder
from penstock.train.tracking.attributes import AutoTrackable
from penstock.train.tracking.graph_view import ObjectGraphView
from penstock.train.tracking.load_status import (
    CheckpointLoadStatus,
    InitializationOnlyStatus,
    LoadStatus,
    NameBasedSaverStatus,
    get_session,
)
from penstock.train.tracking.restoration import (
    CheckpointPosition,
    NameBasedRestoreCoordinator,
    RestoreCoordinator,
    next_restore_uid,
)
from penstock.train.tracking.saveables import NoRestoreSaveable


class TrackableSaver:
    """Saves and restores what is reachable from an object.

    1. The nodes that save are made anew only where the graph of objects has changed; the message
       that describes it, the file's name and Python state are fed.
    2. The nodes that restore a value are made once.
    """

    def __init__(self, graph_view: ObjectGraphView):
        self._graph_view = graph_view
        self._object_graph_tensor: Any = None
        self._save_prefix: Any = None
        self._restore_prefix: Any = None
        self._save: Any = None
        self._saved_object_graph: Any = None
        self._restore_ops: dict[str, tuple[Any, Any]] = {}

    def save(self, file_prefix: Any, checkpoint_number: Any = None, session: Any = None) -> Any:
        """Saves the objects; returns the path to restore them from, in a function its tensor."""
        prefix = os.fspath(file_prefix)
        if checkpoint_number:
            prefix = f"{prefix}-{checkpoint_number:d}"
        if get_default_graph().building_function:
            return self._save_in_function(prefix)
        if executing_eagerly():
            return self._save_now(prefix)
        session = get_session() if session is None else session
        file_io.recursive_create_dir(os.path.dirname(prefix))
        save, feeds = self._save_nodes()
        return session.run(save, feed_dict={**feeds, self._save_prefix: prefix})

    def _save_now(self, prefix: str) -> str:
        """Saves, in eager mode."""
        file_io.recursive_create_dir(os.path.dirname(prefix))
        saveables, message = self._graph_view.frozen_saveable_objects()
        description = constant(message.SerializeToString(deterministic=True))
        saveables.append(NoRestoreSaveable(description, OBJECT_GRAPH_PROTO_KEY))
        _save_node(constant(prefix), saveables)
        return prefix

    def _save_in_function(self, prefix: str) -> Any:
        file_io.recursive_create_dir(os.path.dirname(prefix))
        path = _string_to_feed(prefix)
        saved = frozen_saver(self._graph_view.root).save(path)
        with get_default_graph().device("/cpu:0"), control_dependencies([saved]):
            return identity(path)

    def _save_nodes(self) -> tuple[Any, dict[Any, Any]]:
        if self._save_prefix is None:
            self._object_graph_tensor = _string_to_feed("")
            self._save_prefix = _string_to_feed("")
        saveables, message, feeds = self._graph_view.serialize_object_graph()
        feeds[self._object_graph_tensor] = message.SerializeToString(deterministic=True)
        if self._saved_object_graph != message:
            saveables.append(NoRestoreSaveable(self._object_graph_tensor, OBJECT_GRAPH_PROTO_KEY))
            self._save = _save_node(self._save_prefix, saveables)
            self._saved_object_graph = message
        return self._save, feeds

    def restore(self, save_path: Any) -> LoadStatus:
        """Makes the nodes that restore the objects; see `Checkpoint.restore`."""
        if save_path is None:
            return InitializationOnlyStatus(self._graph_view, next_restore_uid())
        save_path = os.fsdecode(save_path)
        try:
            message = NewCheckpointReader(save_path).get_tensor(OBJECT_GRAPH_PROTO_KEY)
        except errors.NotFoundError:
            if not checkpoint_state.checkpoint_exists(save_path):
                raise
            names = NameBasedRestoreCoordinator(save_path)
            status = NameBasedSaverStatus(names, self._graph_view)
            if executing_eagerly():
                status.run_restore_ops()
            return status
        if executing_eagerly():
            self._restore_prefix, self._restore_ops = constant(save_path), {}
        if self._restore_prefix is None:
            self._restore_prefix = _string_to_feed("model")
        checkpoint = RestoreCoordinator(
            TrackableObjectGraph.FromString(message),
            save_path,
            self._restore_prefix,
            self._restore_ops,
        )
        CheckpointPosition(checkpoint, 0).restore(self._graph_view.root)
        return CheckpointLoadStatus(checkpoint, {self._restore_prefix: save_path}, self._graph_view)


def _string_to_feed(value: str) -> Any:
    with get_default_graph().device("/cpu:0"):
        return constant(value, dtype=dtypes.string)


def _save_node(prefix: Any, saveables: list[SaveableObject]) -> Any:
    """The node that saves; variables of several devices are saved by each of them."""
    builder = BulkSaverBuilder()
    per_device = builder._GroupByDevices(saveables)
    is_on_one = len({device for device, _ in per_device if device}) < 2
    if is_on_one:
        saved = builder._AddSaveOps(prefix, saveables)
    else:
        saved = builder._AddShardedSaveOps(prefix, per_device)
    with get_default_graph().device("/cpu:0"), control_dependencies([saved]):
        return identity(prefix)


def frozen_saver(root_trackable: Any) -> MultiDeviceSaver:
    """Saves and restores what is reachable from an object now, with Python state as it is now."""
    saveables, message = ObjectGraphView(root_trackable).frozen_saveable_objects()
    description = constant(message.SerializeToString(deterministic=True))
    saveables.append(NoRestoreSaveable(description, OBJECT_GRAPH_PROTO_KEY))
    return MultiDeviceSaver(saveables)


def saver_with_op_caching(obj: Any) -> TrackableSaver:
    """A saver of an object that does not keep the object alive."""
    return TrackableSaver(ObjectGraphView(weakref.ref(obj)))


class Checkpoint(AutoTrackable):
    """Objects that are saved and restored together, by the names of their attributes.

    >>> checkpoint = tf.train.Checkpoint(optimizer=optimizer, model=model)
    >>> status = checkpoint.restore(tf.train.latest_checkpoint(directory))
    >>> status.initialize_or_restore(session)
    >>> checkpoint.save(os.path.join(directory, "ckpt"), session=session)

    Args:
      **kwargs: trackable objects (variables, optimizers, layers, lists, …) by attribute.
    """

    def __init__(self, **kwargs: Any):
        for name, value in sorted(kwargs.items()):
            if not isinstance(value, (Trackable, GraphFunction)):
                raise ValueError(
                    "`Checkpoint` was expecting a trackable object (an object derived from "
                    f"`TrackableBase`), got {value}. If you believe this object should be "
                    "trackable (i.e. it is part of the TensorFlow Python API and manages state), "
                    "please open an issue."
                )
            setattr(self, name, value)
        self._save_counter: Any = None
        self._save_assign_op: Any = None
        self._saver = saver_with_op_caching(self)

    def _maybe_create_save_counter(self) -> None:
        if self._save_counter is None:
            with get_default_graph().device("/cpu:0"):
                counter = add_variable(
                    self, "save_counter", dtype=dtypes.int64, initializer=0, trainable=False
                )
            # It is owned as "save_counter", and not by its private name too.
            self._save_counter = NoDependency(counter)

    @property
    def save_counter(self) -> Any:
        """The variable that counts the calls of `save`, and numbers its checkpoints."""
        self._maybe_create_save_counter()
        return self._save_counter

    def write(self, file_prefix: Any, session: Any = None) -> Any:
        """Writes a checkpoint at a prefix as it is; `save` numbers and records them.

        In the body of a function it makes the node that does so, and returns the path's tensor.
        """
        path = self._saver.save(file_prefix=file_prefix, session=session)
        return path if isinstance(path, Tensor) else os.fsdecode(path)

    def read(self, save_path: Any) -> LoadStatus:
        """Restores what `write` wrote."""
        return self._saver.restore(save_path=save_path)

    def save(self, file_prefix: Any, session: Any = None) -> str:
        """Saves a numbered checkpoint, which `tf.train.latest_checkpoint` finds then.

        Args:
          file_prefix: prefix of the files; "-1", "-2", … is appended.
          session: the session that has the variables; the default one if None.
        """
        prefix = os.fspath(file_prefix)
        number = self._next_number(session)
        path: str = self.write(f"{prefix}-{number:d}", session=session)
        checkpoint_state.update_checkpoint_state_internal(
            save_dir=os.path.dirname(prefix),
            model_checkpoint_path=path,
            all_model_checkpoint_paths=[path],
            save_relative_paths=True,
        )
        return path

    def _next_number(self, session: Any) -> int:
        """The number of a checkpoint that is about to be saved."""
        if executing_eagerly():
            return int(self.save_counter.assign_add(1).numpy())
        session = get_session() if session is None else session
        if self._save_counter is None:
            session.run(self.save_counter.initializer)
        if self._save_assign_op is None:
            with get_default_graph().colocate_with(self.save_counter):
                self._save_assign_op = NoDependency(
                    self.save_counter.assign_add(1, read_value=True)
                )
        return int(session.run(self._save_assign_op))

    def restore(self, save_path: Any) -> LoadStatus:
        """Makes the nodes that give the objects the values of a checkpoint.

        What is not there yet is restored when it comes to be owned. The returned status runs the
        nodes (`run_restore_ops`, `initialize_or_restore`) and checks how much matched.

        Args:
          save_path: the checkpoint's prefix; with None the status can only initialize. It may be
            one of `tf.train.Saver`: variables are matched by name then.
        """
        status = self._saver.restore(save_path=save_path)
        # The checkpoint has the counter: it is made now, so that it is restored with the rest.
        self._maybe_create_save_counter()
        return status


def add_variable(
    trackable: Trackable,
    name: str,
    shape: Any = None,
    dtype: Any = dtypes.float32,
    initializer: Any = None,
    trainable: bool = True,
) -> Any:
    """A variable that an object owns, whatever the variable scope."""
    return trackable._add_variable_with_custom_getter(
        name=name,
        shape=shape,
        dtype=dtype,
        initializer=initializer,
        getter=_new_variable,
        trainable=trainable,
    )


def _new_variable(
    name: str, shape: Any, dtype: Any, initializer: Any = None, **settings: Any
) -> Any:
    dtype = dtypes.as_dtype(dtype).base_dtype
    if initializer is None:
        initializer = glorot_uniform_initializer() if dtype.is_floating else zeros_initializer()
    if not callable(initializer):
        if shape is not None:
            raise ValueError("If initializer is a constant, do not specify shape.")
        initial_value = initializer
    else:
        make = initializer(dtype=dtype) if isinstance(initializer, type) else initializer

        def initial_value() -> Any:
            return make(TensorShape(shape).as_list(), dtype=dtype)

    settings["use_resource"] = True
    return create_variable(initial_value, name=name, dtype=dtype, **settings)


def object_metadata(save_path: Any) -> Any:
    """The TrackableObjectGraph message of a checkpoint."""
    try:
        message = NewCheckpointReader(save_path).get_tensor(OBJECT_GRAPH_PROTO_KEY)
    except errors.NotFoundError:
        raise ValueError(
            f'The specified checkpoint "{save_path}" does not appear to be object-based (it is '
            f'missing the key "{OBJECT_GRAPH_PROTO_KEY}"). Likely it was created with a name-based '
            "saver and does not contain an object dependency graph."
        ) from None
    return TrackableObjectGraph.FromString(message)


def list_objects(root_trackable: Any) -> list[Any]:
    """All objects that are reachable from one."""
    return ObjectGraphView(root_trackable).list_objects()


def gather_initializers(root_trackable: Any) -> list[Any]:
    """The initializers of all objects that are reachable from one."""
    found = [getattr(each, "initializer", None) for each in list_objects(root_trackable)]
    return [each for each in found if each is not None]
