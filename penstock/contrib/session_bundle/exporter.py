"""Writes models in the form that came before SavedModel: a checkpoint with a meta graph."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from typing import Any

import penstock as tf
from penstock import gfile, logging
from penstock.contrib.session_bundle import constants, gc
from penstock.contrib.session_bundle.manifest_pb2 import AssetFile, Signature, Signatures
from penstock.saved_model.assets import packed

__all__ = [
    "Exporter",
    "classification_signature",
    "generic_signature",
    "gfile_copy_callback",
    "regression_signature",
]


def gfile_copy_callback(files_to_copy: Mapping[Any, Any], export_dir_path: Any) -> None:
    """Copies files, given with their new names, into a directory."""
    directory = os.fsdecode(export_dir_path)
    logging.info("Write assets into: %s using gfile_copy.", directory)
    gfile.MakeDirs(directory)
    for source, name in files_to_copy.items():
        target = os.path.join(directory, os.fsdecode(name))
        logging.info("Copying asset %s to path %s.", source, target)
        gfile.Copy(source, target, overwrite=True)


def regression_signature(input_tensor: Any, output_tensor: Any) -> Any:
    """Says which tensor a regression takes and which it gives."""
    signature = Signature()
    signature.regression_signature.input.tensor_name = input_tensor.name
    signature.regression_signature.output.tensor_name = output_tensor.name
    return signature


def classification_signature(
    input_tensor: Any, classes_tensor: Any = None, scores_tensor: Any = None
) -> Any:
    """Says which tensor a classification takes, and which are the classes and their scores."""
    signature = Signature()
    parts = signature.classification_signature
    parts.input.tensor_name = input_tensor.name
    if classes_tensor is not None:
        parts.classes.tensor_name = classes_tensor.name
    if scores_tensor is not None:
        parts.scores.tensor_name = scores_tensor.name
    return signature


def generic_signature(name_tensor_map: Mapping[str, Any]) -> Any:
    """Gives tensors names of their own."""
    signature = Signature()
    for name, tensor in name_tensor_map.items():
        signature.generic_signature.map[name].tensor_name = tensor.name
    return signature


class Exporter:
    """Exports a model for serving.

    Args:
      saver: The saver of its variables.
    """

    def __init__(self, saver: Any):
        # Exports are deleted by rules of their own, not by the saver.
        saver_def = saver.as_saver_def()
        saver_def.ClearField("max_to_keep")
        self._saver = tf.train.Saver(saver_def=saver_def)
        self._has_init = False
        self._assets_to_copy: dict[Any, Any] = {}
        self._assets_callback: Callable[..., Any] | None = None

    def init(
        self,
        graph_def: Any = None,
        init_op: Any = None,
        clear_devices: bool = False,
        default_graph_signature: Any = None,
        named_graph_signatures: Mapping[str, Any] | None = None,
        assets_collection: Any = None,
        assets_callback: Callable[..., Any] | None = gfile_copy_callback,
    ) -> None:
        """Says what is exported, once.

        Args:
          graph_def: The graph to serve; the default graph if None.
          init_op: The operation that is run before serving.
          clear_devices: Whether nodes lose their devices.
          default_graph_signature: What is served.
          named_graph_signatures: What is served under names.
          assets_collection: Constants that are paths of files to export, too.
          assets_callback: Called with the files and the directory to copy them to.
        """
        assets = []
        for tensor in assets_collection or ():
            path = _constant_path(tensor)
            if not path:
                raise ValueError(f"invalid asset filepath tensor {tensor}")
            self._assets_to_copy[path] = os.path.basename(path)
            assets.append((self._assets_to_copy[path], tensor))
        if self._has_init:
            raise RuntimeError("init should be called only once")
        self._has_init = True
        if graph_def or clear_devices:
            _collect(constants.GRAPH_KEY, _serving_graph(graph_def, clear_devices))
        if init_op:
            if not isinstance(init_op, tf.Operation):
                raise TypeError(f"init_op needs to be an Operation: {init_op}")
            tf.add_to_collection(constants.INIT_OP_KEY, init_op)
        signatures = Signatures()
        if default_graph_signature:
            signatures.default_signature.CopyFrom(default_graph_signature)
        for name, signature in (named_graph_signatures or {}).items():
            signatures.named_signatures[name].CopyFrom(signature)
        _collect(constants.SIGNATURES_KEY, signatures)
        for name, tensor in assets:
            asset = AssetFile(filename=name)
            asset.tensor_binding.tensor_name = tensor.name
            _collect(constants.ASSETS_KEY, asset)
        self._assets_callback = assets_callback

    def export(
        self,
        export_dir_base: str,
        global_step_tensor: Any,
        sess: Any = None,
        exports_to_keep: gc.Keep | None = None,
    ) -> bytes:
        """Writes the model into a directory named by the global step; gives its path.

        Args:
          export_dir_base: Where exports are.
          global_step_tensor: The global step.
          sess: The session with the values of the variables.
          exports_to_keep: Which exports stay; all if None.
        """
        if not self._has_init:
            raise RuntimeError("init must be called first")
        base = export_dir_base.removesuffix("/")
        step = tf.train.global_step(sess, global_step_tensor)
        directory = os.path.join(base, constants.VERSION_FORMAT_SPECIFIER % step)
        if gfile.Exists(directory):
            raise RuntimeError(
                "Overwriting exports can cause corruption and are not allowed. Duplicate export "
                f"dir: {directory}"
            )
        # A server that watches the directory sees a whole export or none.
        unfinished = directory + "-tmp"
        gfile.MakeDirs(unfinished)
        path = os.path.join(unfinished, constants.EXPORT_BASE_NAME)
        self._saver.save(sess, path, meta_graph_suffix=constants.EXPORT_SUFFIX_NAME)
        if self._assets_callback and self._assets_to_copy:
            assets = os.path.join(unfinished, constants.ASSETS_DIRECTORY)
            gfile.MakeDirs(assets)
            self._assets_callback(self._assets_to_copy, assets)
        gfile.Rename(unfinished, directory)
        if exports_to_keep:
            _delete_others(base, exports_to_keep)
        return os.fsencode(directory)


def _collect(key: str, message: Any) -> None:
    tf.add_to_collection(key, packed(message))


def _serving_graph(graph_def: Any, clear_devices: bool) -> Any:
    copy = tf.GraphDef()
    copy.CopyFrom(graph_def or tf.get_default_graph().as_graph_def())
    if clear_devices:
        for node in copy.node:
            node.device = ""
    return copy


def _delete_others(base: str, exports_to_keep: gc.Keep) -> None:
    def with_version(path: gc.Path) -> gc.Path | None:
        match = re.fullmatch(re.escape(base) + r"/(\d{8})", path.path)
        return None if match is None else path._replace(export_version=int(match[1]))

    for path in gc.negation(exports_to_keep)(gc.get_paths(base, parser=with_version)):
        gfile.DeleteRecursively(path.path)


def _constant_path(tensor: Any) -> Any:
    if not isinstance(tensor, tf.Tensor):
        raise TypeError("tensor is not a Tensor")
    if tensor.op.type != "Const":
        raise TypeError("Only constants tensor are supported")
    if tensor.dtype != tf.string:
        raise TypeError("File paths should be string")
    values = tensor.op.get_attr("value").string_val
    if len(values) != 1:
        raise TypeError("Only scalar tensors are supported")
    return values[0]
