"""`tf.saved_model.loader`: a SavedModel into a session."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from google.protobuf import text_format
from google.protobuf.message import DecodeError

from penstock import errors
from penstock.ir.defaults import get_default_graph
from penstock.ir.graph import Graph
from penstock.platform import file_io, file_limits, logging
from penstock.proto import POOL, AssetFileDef, SavedModel
from penstock.saved_model import constants
from penstock.saved_model.signature_def_utils import load_op_from_signature_def
from penstock.saved_model.tensor_infos import get_assets_dir, get_variables_path
from penstock.train.saveables import all_saveable_objects
from penstock.train.saved_graphs import _import_meta_graph_with_return_elements
from penstock.train.saver import Saver

__all__ = [
    "SavedModelLoader",
    "contains_saved_model",
    "load",
    "maybe_saved_model_directory",
    "parse_saved_model",
]


def _paths(export_dir: Any) -> tuple[str, str]:
    directory = os.fsdecode(export_dir)
    return (
        os.path.join(directory, constants.SAVED_MODEL_FILENAME_PB),
        os.path.join(directory, constants.SAVED_MODEL_FILENAME_PBTXT),
    )


def maybe_saved_model_directory(export_dir: Any) -> bool:
    """Whether a directory has a SavedModel."""
    return any(map(file_io.file_exists, _paths(export_dir)))


contains_saved_model = maybe_saved_model_directory


def parse_saved_model(export_dir: Any) -> Any:
    """The SavedModel message of a directory; IOError if there is none."""
    binary, text = _paths(export_dir)
    if file_io.file_exists(binary):
        try:
            return SavedModel.FromString(file_io.read_file_to_string(binary, binary_mode=True))
        except (DecodeError, RuntimeError) as error:
            raise OSError(f"Cannot parse file {binary}: {error}.") from None
    if file_io.file_exists(text):
        message = SavedModel()
        try:
            content = file_io.read_file_to_string(text, binary_mode=True).decode()
            text_format.Merge(content, message, descriptor_pool=POOL)
        except (text_format.ParseError, UnicodeDecodeError) as error:
            raise OSError(f"Cannot parse file {text}: {error}.") from None
        return message
    raise OSError(
        f"SavedModel file does not exist at: {os.fsdecode(export_dir)}/"
        f"{{{constants.SAVED_MODEL_FILENAME_PBTXT}|{constants.SAVED_MODEL_FILENAME_PB}}}"
    )


_parse_saved_model = parse_saved_model  # its older name


def get_asset_tensors(
    export_dir: Any, meta_graph_def_to_load: Any, import_scope: str | None = None
) -> dict[str, str]:
    """The paths of the assets by the names of the tensors to feed them to."""
    message = meta_graph_def_to_load
    assets = list(message.asset_file_def)
    if not assets and constants.ASSETS_KEY in message.collection_def:
        packed = message.collection_def[constants.ASSETS_KEY].any_list.value
        assets = [AssetFileDef.FromString(each.value) for each in packed]
    directory = get_assets_dir(export_dir)
    prefix = f"{import_scope}/" if import_scope else ""
    return {
        f"{prefix}{asset.tensor_info.name}": _asset_path(directory, asset.filename)
        for asset in assets
    }


def _asset_path(directory: str, filename: str) -> str:
    """The file of an asset, which lies in the SavedModel: no name leads out of it."""
    path = os.path.join(directory, filename)
    inside = os.path.realpath(directory)
    if os.path.commonpath([inside, os.path.realpath(path)]) != inside:
        raise errors.PermissionDeniedError(
            None, None, f"the asset {filename!r} of the SavedModel lies outside of {directory!r}"
        )
    return path


def _op_of(meta_graph_def: Any, signature: str, keys: Sequence[str], scope: str | None) -> Any:
    """The operation under a signature, or else the only one of the first collection there is."""
    if signature in meta_graph_def.signature_def:
        return load_op_from_signature_def(meta_graph_def.signature_def[signature], signature, scope)
    for key in keys:
        if key in meta_graph_def.collection_def:
            names = meta_graph_def.collection_def[key].node_list.value
            if len(names) != 1:
                raise RuntimeError(f"Expected exactly one SavedModel init op. Found: {names}")
            return get_default_graph().get_collection(key)[0]
    return None


def get_init_op(meta_graph_def: Any, import_scope: str | None = None) -> Any:
    """The operation to run after loading; None if there is none."""
    keys = (constants.MAIN_OP_KEY, constants.LEGACY_INIT_OP_KEY)
    return _op_of(meta_graph_def, constants.INIT_OP_SIGNATURE_KEY, keys, import_scope)


def get_train_op(meta_graph_def: Any, import_scope: str | None = None) -> Any:
    """The training operation; None if there is none."""
    keys = (constants.TRAIN_OP_KEY,)
    return _op_of(meta_graph_def, constants.TRAIN_OP_SIGNATURE_KEY, keys, import_scope)


class SavedModelLoader:
    """Loads the graphs of one SavedModel."""

    def __init__(self, export_dir: Any):
        self._export_dir = os.fsdecode(export_dir)
        self._variables_path = get_variables_path(self._export_dir)
        self._saved_model = parse_saved_model(self._export_dir)

    @property
    def export_dir(self) -> str:
        return self._export_dir

    @property
    def variables_path(self) -> str:
        """The prefix of the checkpoint."""
        return self._variables_path

    @property
    def saved_model(self) -> Any:
        """The SavedModel message."""
        return self._saved_model

    def get_meta_graph_def_from_tags(self, tags: Sequence[str]) -> Any:
        """The MetaGraphDef with exactly these tags; RuntimeError if there is none."""
        available = [set(graph.meta_info_def.tags) for graph in self._saved_model.meta_graphs]
        for message, its_tags in zip(self._saved_model.meta_graphs, available, strict=True):
            if its_tags == set(tags):
                return message
        raise RuntimeError(
            f"MetaGraphDef associated with tags {str(tags).strip('[]')} could not be found in "
            f"SavedModel. The graphs in {self._export_dir} have\navailable_tags: {available}"
        )

    def load_graph(
        self,
        graph: Graph,
        tags: Sequence[str],
        import_scope: str | None = None,
        **saver_kwargs: Any,
    ) -> tuple[Saver | None, Any]:
        """Adds the nodes with these tags to a graph; returns their saver."""
        message = self.get_meta_graph_def_from_tags(tags)
        with graph.as_default():
            return _import_meta_graph_with_return_elements(
                message, import_scope=import_scope, **saver_kwargs
            )

    def restore_variables(
        self, sess: Any, saver: Saver | None, import_scope: str | None = None
    ) -> None:
        """Gives the variables their values."""
        with sess.graph.as_default():
            if saver is None and not all_saveable_objects(scope=import_scope):
                logging.info(
                    "The specified SavedModel has no variables; no checkpoints were restored."
                )
            elif isinstance(saver, Saver):
                saver.restore(sess, self._variables_path)
            else:
                raise ValueError(
                    "No tf.train.Saver object was passed to the function "
                    "SavedModelLoader.restore_variables. Since there are variables in the graph, "
                    "a saver is required."
                )

    def run_init_ops(self, sess: Any, tags: Sequence[str], import_scope: str | None = None) -> None:
        """Runs the main operation, with the paths of the assets fed."""
        message = self.get_meta_graph_def_from_tags(tags)
        with sess.graph.as_default(), file_limits.allowing(self._export_dir):
            init_op = get_init_op(message, import_scope)
            if init_op is not None:
                sess.run(init_op, get_asset_tensors(self._export_dir, message, import_scope))

    def load(
        self,
        sess: Any,
        tags: Sequence[str],
        import_scope: str | None = None,
        **saver_kwargs: Any,
    ) -> Any:
        """Loads the graph with these tags into a session; returns its MetaGraphDef."""
        with sess.graph.as_default():
            saver, _ = self.load_graph(sess.graph, tags, import_scope, **saver_kwargs)
            self.restore_variables(sess, saver, import_scope)
            self.run_init_ops(sess, tags, import_scope)
        return self.get_meta_graph_def_from_tags(tags)


def load(
    sess: Any,
    tags: Sequence[str],
    export_dir: Any,
    import_scope: str | None = None,
    **saver_kwargs: Any,
) -> Any:
    """Loads the graph with these tags from a SavedModel into a session.

    Args:
      sess: the session.
      tags: the tags that the graph was saved with.
      export_dir: the SavedModel's directory.
      import_scope: name scope for the nodes.
      **saver_kwargs: arguments of `tf.train.import_meta_graph`.

    Returns:
      The MetaGraphDef message, with the signatures.
    """
    return SavedModelLoader(export_dir).load(sess, tags, import_scope, **saver_kwargs)
