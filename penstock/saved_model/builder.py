"""`tf.saved_model.builder`: graphs, variables and assets as one directory."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from google.protobuf import text_format

from penstock.checkpoint import files
from penstock.ir.collections import GraphKeys
from penstock.ir.defaults import get_default_graph
from penstock.ir.operation import Operation
from penstock.platform import file_io, logging
from penstock.proto import SavedModel
from penstock.saved_model import constants, signature_constants, tag_constants, tensor_infos
from penstock.saved_model.assets import copy_assets_to_destination_dir, describe_assets, packed
from penstock.saved_model.signature_def_utils import op_signature_def, predict_signature_def
from penstock.train.saveables import all_saveable_objects
from penstock.train.saver import Saver

__all__ = ["SavedModelBuilder", "simple_save"]


class _SavedModelBuilder:
    """Writes a SavedModel whose assets and main op are fields and signatures of its graphs."""

    def __init__(self, export_dir: Any):
        self._export_dir = os.fsdecode(export_dir)
        self._saved_model = SavedModel(
            saved_model_schema_version=constants.SAVED_MODEL_SCHEMA_VERSION
        )
        self._has_saved_variables = False
        if not file_io.file_exists(self._export_dir):
            file_io.recursive_create_dir(self._export_dir)
        elif file_io.list_directory(self._export_dir):
            raise AssertionError(
                "Export directory already exists, and isn't empty. Please choose a different "
                "export directory, or delete all the contents of the specified directory: "
                f"{self._export_dir}"
            )

    def add_meta_graph_and_variables(
        self,
        sess: Any,
        tags: Sequence[str],
        signature_def_map: dict[str, Any] | None = None,
        assets_list: Any = None,
        clear_devices: bool = False,
        init_op: Operation | None = None,
        train_op: Any = None,
        strip_default_attrs: bool = False,
        saver: Saver | None = None,
    ) -> None:
        """Adds the default graph and saves the variables; the first graph is added so."""
        self._refuse_second_variables()
        signatures = self._with_operations(signature_def_map, init_op, train_op)
        saver = self._save_variables(sess, saver)
        self._add(saver, tags, signatures, clear_devices, strip_default_attrs, assets_list)

    def add_meta_graph(
        self,
        tags: Sequence[str],
        signature_def_map: dict[str, Any] | None = None,
        assets_list: Any = None,
        clear_devices: bool = False,
        init_op: Operation | None = None,
        train_op: Any = None,
        saver: Saver | None = None,
    ) -> None:
        """Adds the default graph, which uses the variables that are saved already."""
        self._refuse_missing_variables()
        signatures = self._with_operations(signature_def_map, init_op, train_op)
        self._add(saver or self._saver(), tags, signatures, clear_devices, True, assets_list)

    def save(self, as_text: bool = False) -> bytes:
        """Writes the SavedModel message and returns the path of its file."""
        if not file_io.file_exists(self._export_dir):
            file_io.recursive_create_dir(self._export_dir)
        if as_text:
            name = constants.SAVED_MODEL_FILENAME_PBTXT
            content = text_format.MessageToString(self._saved_model).encode()
        else:
            name = constants.SAVED_MODEL_FILENAME_PB
            content = self._saved_model.SerializeToString(deterministic=True)
        path = os.path.join(self._export_dir, name)
        with files.new_file(path) as file:
            file.write(content)
        logging.info("SavedModel written to: %s", path)
        return os.fsencode(path)

    # Parts ------------------------------------------------------------------------------------

    def _refuse_second_variables(self) -> None:
        if self._has_saved_variables:
            raise AssertionError(
                "Graph state including variables and assets has already been saved. Please invoke "
                "`add_meta_graph()` instead."
            )

    def _refuse_missing_variables(self) -> None:
        if not self._has_saved_variables:
            raise AssertionError(
                "Graph state including variables and assets has not been saved yet. Please invoke "
                "`add_meta_graph_and_variables()` first."
            )

    @staticmethod
    def _with_operations(
        signatures: dict[str, Any] | None, init_op: Any, train_op: Any
    ) -> dict[str, Any]:
        signatures = {} if signatures is None else signatures
        _check_signatures(signatures)
        for op, key in (
            (init_op, constants.INIT_OP_SIGNATURE_KEY),
            (train_op, constants.TRAIN_OP_SIGNATURE_KEY),
        ):
            if op is not None:
                signatures[key] = op_signature_def(op, key)
        return signatures

    def _save_variables(self, sess: Any, saver: Saver | None) -> Saver:
        tensor_infos.get_or_create_variables_dir(self._export_dir)
        saver = saver or self._saver()
        path = tensor_infos.get_variables_path(self._export_dir)
        saver.save(sess, path, write_meta_graph=False, write_state=False)
        self._has_saved_variables = True
        return saver

    @staticmethod
    def _saver() -> Saver:
        return Saver(all_saveable_objects(), sharded=True, allow_empty=True)

    def _add(
        self,
        saver: Saver,
        tags: Sequence[str],
        signatures: dict[str, Any] | None,
        clear_devices: bool,
        strip_default_attrs: bool,
        assets: Any = None,
    ) -> None:
        message = saver.export_meta_graph(
            clear_devices=clear_devices, strip_default_attrs=strip_default_attrs
        )
        message.asset_file_def.extend(self._copied_assets(assets))
        message.meta_info_def.tags.extend(tags)
        for key, signature in (signatures or {}).items():
            message.signature_def[key].CopyFrom(signature)
        self._saved_model.meta_graphs.append(message)

    def _copied_assets(self, assets: Any) -> list[Any]:
        """Copies the files that tensors name; an AssetFileDef message for each tensor."""
        if assets is None:
            return []
        messages, to_copy = describe_assets(assets)
        if to_copy:
            copy_assets_to_destination_dir(to_copy, self._export_dir)
        return messages


class SavedModelBuilder(_SavedModelBuilder):
    """Writes a SavedModel: graphs with signatures, the variables that they share, and assets.

    >>> builder = tf.saved_model.Builder("export")
    >>> builder.add_meta_graph_and_variables(sess, ["serve"], signature_def_map={...})
    >>> builder.save()

    Args:
      export_dir: the directory, which must be empty or not there yet.
    """

    def add_meta_graph_and_variables(  # type: ignore[override]
        self,
        sess: Any,
        tags: Sequence[str],
        signature_def_map: dict[str, Any] | None = None,
        assets_collection: Any = None,
        legacy_init_op: Operation | None = None,
        clear_devices: bool = False,
        main_op: Operation | None = None,
        strip_default_attrs: bool = False,
        saver: Saver | None = None,
    ) -> None:
        """Adds the default graph and saves the variables; the first graph is added so.

        Args:
          sess: the session that has the variables.
          tags: what tells this graph from others, e.g. `[tf.saved_model.SERVING]`.
          signature_def_map: SignatureDef messages by name.
          assets_collection: constant tensors with paths of files to copy.
          legacy_init_op: the old name of `main_op`.
          clear_devices: whether to forget where nodes are placed.
          main_op: an operation to run when the model is loaded.
          strip_default_attrs: whether to leave out attrs that have their defaults.
          saver: a saver to use instead of one for all variables.
        """
        self._refuse_second_variables()
        _check_signatures(signature_def_map or {})
        self._add_collections(assets_collection, main_op, legacy_init_op)
        saver = self._save_variables(sess, saver)
        self._add(saver, tags, signature_def_map, clear_devices, strip_default_attrs)

    def add_meta_graph(  # type: ignore[override]
        self,
        tags: Sequence[str],
        signature_def_map: dict[str, Any] | None = None,
        assets_collection: Any = None,
        legacy_init_op: Operation | None = None,
        clear_devices: bool = False,
        main_op: Operation | None = None,
        strip_default_attrs: bool = False,
        saver: Saver | None = None,
    ) -> None:
        """Adds the default graph, which uses the variables that are saved already."""
        self._refuse_missing_variables()
        _check_signatures(signature_def_map or {})
        self._add_collections(assets_collection, main_op, legacy_init_op)
        saver = saver or self._saver()
        self._add(saver, tags, signature_def_map, clear_devices, strip_default_attrs)

    def _add_collections(self, assets: Any, main_op: Any, legacy_init_op: Any) -> None:
        """Adds assets and the main op to the graph's collections, as TensorFlow 1.x keeps them."""
        graph = get_default_graph()
        for message in self._copied_assets(assets):
            graph.add_to_collection(constants.ASSETS_KEY, packed(message))
        main_op = legacy_init_op if main_op is None else main_op
        if main_op is None:
            return
        if not isinstance(main_op, Operation):
            raise TypeError(f"main_op needs to be an Operation: {main_op!r}")
        for key in (constants.MAIN_OP_KEY, constants.LEGACY_INIT_OP_KEY):
            if graph.get_collection(key):
                raise ValueError(
                    f"Graph already contains one or more main ops under the collection {key}."
                )
        graph.add_to_collection(constants.MAIN_OP_KEY, main_op)


def _check_signatures(signatures: dict[str, Any]) -> None:
    for signature in signatures.values():
        for infos in (signature.inputs, signature.outputs):
            for info in infos.values():
                _check_tensor_info(info)
    for key, purpose in (
        (constants.INIT_OP_SIGNATURE_KEY, "initialization"),
        (constants.TRAIN_OP_SIGNATURE_KEY, "the train op"),
    ):
        if key in signatures:
            raise KeyError(
                f'SignatureDef map key "{key}" is reserved for {purpose}. Please use a different '
                "key."
            )


def _check_tensor_info(info: Any) -> None:
    if info is None:
        raise AssertionError(
            "All TensorInfo protos used in the SignatureDefs must have the name and dtype fields "
            "set."
        )
    encoding = info.WhichOneof("encoding")
    if encoding is None:
        raise AssertionError(
            "All TensorInfo protos used in the SignatureDefs must have one of the 'encoding' "
            f"fields (e.g., name or coo_sparse) set: {info}"
        )
    if encoding == "composite_tensor":
        for component in info.composite_tensor.components:
            _check_tensor_info(component)
    elif not info.dtype:
        raise AssertionError(
            f"All TensorInfo protos used in the SignatureDefs must have the dtype field set: {info}"
        )


def simple_save(
    session: Any,
    export_dir: Any,
    inputs: dict[str, Any],
    outputs: dict[str, Any],
    legacy_init_op: Operation | None = None,
) -> None:
    """Saves a model for serving, with one signature of the tensors given."""
    builder = SavedModelBuilder(export_dir)
    signature = predict_signature_def(inputs, outputs)
    builder.add_meta_graph_and_variables(
        session,
        tags=[tag_constants.SERVING],
        signature_def_map={signature_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY: signature},
        assets_collection=get_default_graph().get_collection(GraphKeys.ASSET_FILEPATHS),
        main_op=legacy_init_op,
        clear_devices=True,
    )
    builder.save()
