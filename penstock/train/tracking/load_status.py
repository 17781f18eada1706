"""What `tf.train.Checkpoint.restore` returns: how far it got, and how to run it."""

from __future__ import annotations

from typing import Any

from penstock.ir.defaults import executing_eagerly, get_default_graph, get_default_session
from penstock.platform import logging
from penstock.train.tracking.data_structures import TrackableDataStructure
from penstock.train.tracking.graph_view import ObjectGraphView
from penstock.train.tracking.restoration import NameBasedRestoreCoordinator, RestoreCoordinator
from penstock.train.tracking.unused_values import node_paths


def get_session() -> Any:
    """The default session, else the one of `tf.keras.backend`."""
    session = get_default_session()
    if session is None:
        from penstock.keras import backend

        session = backend.get_session()
    return session


class LoadStatus:
    """The state of a restore.

    Operations are made as the objects to restore come to be; `run_restore_ops` runs those that
    are there.
    """

    def __init__(self, graph_view: ObjectGraphView):
        self._graph_view = graph_view
        self._root = graph_view.root  # the view may have a weak reference to it

    def assert_consumed(self) -> LoadStatus:
        """AssertionError unless all objects of program and checkpoint have been matched."""
        raise NotImplementedError

    def assert_existing_objects_matched(self) -> LoadStatus:
        """AssertionError unless all objects of the program are in the checkpoint."""
        raise NotImplementedError

    def assert_nontrivial_match(self) -> LoadStatus:
        """AssertionError if no object but the root has been matched."""
        raise NotImplementedError

    def run_restore_ops(self, session: Any = None) -> None:
        """Restores the variables in a session."""
        raise NotImplementedError

    def initialize_or_restore(self, session: Any = None) -> None:
        """Restores the variables that the checkpoint has, and initializes the others."""
        raise NotImplementedError

    def expect_partial(self) -> LoadStatus:
        """Says that an incomplete match is meant."""
        return self


class CheckpointLoadStatus(LoadStatus):
    """The restore of a checkpoint of `tf.train.Checkpoint`."""

    def __init__(self, checkpoint: RestoreCoordinator, feed_dict: Any, graph_view: ObjectGraphView):
        super().__init__(graph_view)
        self._checkpoint = checkpoint
        self._feed_dict = feed_dict

    def assert_consumed(self) -> LoadStatus:
        self.assert_existing_objects_matched()
        checkpoint = self._checkpoint
        paths = node_paths(checkpoint.object_graph_proto)
        for number, node in enumerate(checkpoint.object_graph_proto.nodes):
            if checkpoint.object_by_proto_id.get(number) is None:
                raise AssertionError(f"Unresolved object in checkpoint {paths[number]}: {node}")
        if checkpoint.slot_restorations:
            raise AssertionError(f"Unresolved slot restorations: {checkpoint.slot_restorations}")
        if checkpoint.unused_attributes:
            unused = "\n".join(
                f"{paths[number]} ({checkpoint.object_by_proto_id[number]}): {names}"
                for number, names in checkpoint.unused_attributes.items()
            )
            raise AssertionError(
                "Unused attributes in these objects (the attributes exist in the checkpoint but "
                f"were not restored):\n{unused}"
            )
        return self

    def _see_all(self) -> None:
        for trackable in self._graph_view.list_objects():
            # An empty container may come or go.
            is_container = isinstance(trackable, TrackableDataStructure)
            if not is_container or trackable._checkpoint_dependencies:
                self._checkpoint.see(trackable)

    def assert_existing_objects_matched(self) -> LoadStatus:
        checkpoint = self._checkpoint
        for number, node in enumerate(checkpoint.object_graph_proto.nodes):
            trackable = checkpoint.object_by_proto_id.get(number)
            if trackable is not None and trackable._update_uid < checkpoint.restore_uid:
                raise AssertionError(f"Object not assigned a value from checkpoint: {node}")
        self._see_all()
        unmatched = checkpoint.objects_without_values()
        if unmatched:
            raise AssertionError(
                "Some Python objects were not bound to checkpointed values, likely due to changes "
                f"in the Python program: {unmatched}"
            )
        return self

    def assert_nontrivial_match(self) -> LoadStatus:
        self._see_all()
        if len(self._checkpoint.object_by_proto_id) > 1:
            return self
        unmatched = self._checkpoint.objects_without_values()
        if unmatched:
            raise AssertionError(
                "Nothing except the root object matched a checkpointed value. Typically this means "
                "that the checkpoint does not match the Python program. The following objects have "
                f"no matching checkpointed value: {unmatched}"
            )
        raise AssertionError(
            f"Nothing to load. No dependencies have been added to {self._root} yet."
        )

    def run_restore_ops(self, session: Any = None) -> None:
        if executing_eagerly():
            return  # they have run
        session = get_session() if session is None else session
        session.run(self._checkpoint.restore_ops, feed_dict=self._feed_dict)

    def initialize_or_restore(self, session: Any = None) -> None:
        if executing_eagerly():
            return
        session = get_session() if session is None else session
        bound = {id(each) for each in self._checkpoint.object_by_proto_id.values()}
        others = [each for each in self._graph_view.list_objects() if id(each) not in bound]
        self.run_restore_ops(session=session)
        session.run(_initializers(others, self._checkpoint.restore_uid))

    def expect_partial(self) -> LoadStatus:
        self._checkpoint.unused_values.is_expected = True
        return self


class InitializationOnlyStatus(LoadStatus):
    """A restore without a checkpoint: it can only initialize."""

    def __init__(self, graph_view: ObjectGraphView, restore_uid: int):
        super().__init__(graph_view)
        self._restore_uid = restore_uid

    def assert_consumed(self) -> LoadStatus:
        raise AssertionError("No checkpoint specified (save_path=None); nothing is being restored.")

    assert_existing_objects_matched = assert_consumed
    assert_nontrivial_match = assert_consumed

    def run_restore_ops(self, session: Any = None) -> None:
        raise AssertionError(
            "No checkpoint specified, so no restore ops are available (save_path=None to "
            "Saver.restore)."
        )

    def initialize_or_restore(self, session: Any = None) -> None:
        if executing_eagerly():
            return
        session = get_session() if session is None else session
        session.run(_initializers(self._graph_view.list_objects(), self._restore_uid))


class NameBasedSaverStatus(LoadStatus):
    """The restore of a checkpoint of `tf.train.Saver`: variables are matched by their names."""

    def __init__(self, checkpoint: NameBasedRestoreCoordinator, graph_view: ObjectGraphView):
        super().__init__(graph_view)
        self._checkpoint = checkpoint
        logging.warning(
            "Restoring a name-based tf.train.Saver checkpoint using the object-based restore API. "
            "This mode uses global names to match variables, and so is somewhat fragile."
        )

    def assert_consumed(self) -> LoadStatus:
        if self._checkpoint.unused_attributes:
            unused = "".join(
                f"\n    {trackable}: {name}"
                for trackable, name in self._checkpoint.unused_attributes
            )
            raise AssertionError(f"Some objects had attributes which were not restored:{unused}")
        for trackable in self._graph_view.list_objects():
            if trackable._update_uid < self._checkpoint.restore_uid:
                raise AssertionError(f"Object not restored: {trackable}")
        return self

    def assert_existing_objects_matched(self) -> LoadStatus:
        return self.assert_consumed()

    def assert_nontrivial_match(self) -> LoadStatus:
        return self.assert_consumed()

    def run_restore_ops(self, session: Any = None) -> None:
        from penstock.train.saver import Saver

        if session is None and not executing_eagerly():
            session = get_session()
        saveables: list[Any] = []
        with get_default_graph().device("/cpu:0"):
            for trackable in self._graph_view.list_objects():
                if trackable._update_uid < self._checkpoint.restore_uid:
                    trackable._ownership.update_uid = self._checkpoint.restore_uid
                    saveables += self._checkpoint.globally_named_object_attributes(trackable)
            if saveables:
                Saver(saveables).restore(session, self._checkpoint.save_path)

    def initialize_or_restore(self, session: Any = None) -> None:
        self.run_restore_ops(session=session)


def streaming_restore(status: LoadStatus, session: Any = None) -> None:
    """Runs restoring operations now, and later ones as soon as they are made."""
    if executing_eagerly():
        return  # they run as they are made
    session = get_session() if session is None else session
    if isinstance(status, NameBasedSaverStatus):
        raise NotImplementedError(
            "Streaming restore not supported from name-based checkpoints when graph building. Use "
            "tf.train.Checkpoint to load name-based checkpoints."
        )
    status.run_restore_ops(session=session)
    if isinstance(status, CheckpointLoadStatus):
        status._checkpoint.new_restore_ops_callback = lambda made: session.run(
            made, feed_dict=status._feed_dict
        )


def _initializers(trackables: list[Any], restore_uid: int) -> list[Any]:
    """The initializers of objects that no later restore has."""
    found = [
        getattr(each, "initializer", None)
        for each in trackables
        if getattr(each, "_update_uid", -1) < restore_uid
    ]
    return [each for each in found if each is not None]
