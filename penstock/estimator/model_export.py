"""An Estimator's model as a SavedModel."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import penstock as tf
from penstock.estimator.export import signatures
from penstock.estimator.mode_keys import ModeKeys
from penstock.platform import gfile
from penstock.platform.compat import as_bytes
from penstock.saved_model.builder import SavedModelBuilder
from penstock.train.saver import Saver
from penstock.train.scaffold import Scaffold

_TRAIN_OP_KEY = "saved_model_train_op"


def write(
    estimator: Any,
    export_dir_base: Any,
    receiver_fns: dict[str, Callable[[], Any]],
    checkpoint_path: Any,
    assets_extra: dict[str, Any] | None,
    as_text: bool,
    strip_default_attrs: bool,
) -> bytes:
    """Writes a graph for each mode, with the variables of a checkpoint; gives the directory."""
    modes = [m for m in (ModeKeys.TRAIN, ModeKeys.EVAL, ModeKeys.PREDICT) if receiver_fns.get(m)]
    if not modes:
        raise ValueError(f"No valid modes for exporting found. Got {receiver_fns.keys()}.")
    directory = signatures.get_timestamped_export_dir(export_dir_base)
    temporary = signatures.get_temp_export_dir(directory)
    builder = SavedModelBuilder(temporary)
    for mode in modes:
        _add_graph(
            estimator,
            builder,
            receiver_fns[mode],
            mode,
            checkpoint_path,
            save_variables=mode == modes[0],
            strip_default_attrs=strip_default_attrs,
        )
    builder.save(as_text)
    _copy_extra(assets_extra or {}, os.path.join(temporary, b"assets.extra"))
    gfile.Rename(temporary, directory)
    return directory


def _copy_extra(assets_extra: dict[str, Any], directory: bytes) -> None:
    for relative, source in assets_extra.items():
        target = os.path.join(directory, as_bytes(relative))
        gfile.MakeDirs(os.path.dirname(target))
        gfile.Copy(source, target)


def _add_graph(
    estimator: Any,
    builder: Any,
    receiver_fn: Callable[[], Any],
    mode: str,
    checkpoint_path: Any,
    save_variables: bool,
    strip_default_attrs: bool,
) -> None:
    with tf.Graph().as_default() as graph:
        estimator._create_and_assert_global_step(graph)
        tf.set_random_seed(estimator._config.tf_random_seed)
        receiver = receiver_fn()
        spec = estimator._call_model_fn(
            receiver.features, getattr(receiver, "labels", None), mode, estimator.config
        )
        described = {
            "tags": signatures.EXPORT_TAG_MAP[mode],
            "signature_def_map": _signatures(receiver, spec),
            "assets_collection": tf.get_collection(tf.GraphKeys.ASSET_FILEPATHS),
            "strip_default_attrs": strip_default_attrs,
        }
        with tf.Session(config=estimator._session_config) as session:
            main_op = spec.scaffold.local_init_op
            if main_op is None:
                main_op = Scaffold.default_local_init_op()
            saver = spec.scaffold.saver or Saver(sharded=True)
            _restore(saver, session, checkpoint_path, mode)
            if spec.train_op is not None:
                graph.add_to_collection(_TRAIN_OP_KEY, spec.train_op)
            described.update(main_op=main_op, saver=saver)
            if save_variables:
                builder.add_meta_graph_and_variables(session, **described)
            else:
                builder.add_meta_graph(**described)


def _signatures(receiver: Any, spec: Any) -> dict[str, Any]:
    outputs = signatures.export_outputs_for_mode(
        mode=spec.mode,
        serving_export_outputs=spec.export_outputs,
        predictions=spec.predictions,
        loss=spec.loss,
        metrics=spec.eval_metric_ops,
    )
    return signatures.build_all_signature_defs(
        receiver.receiver_tensors,
        outputs,
        getattr(receiver, "receiver_tensors_alternatives", None),
        serving_only=spec.mode == ModeKeys.PREDICT,
    )


def _restore(saver: Any, session: Any, checkpoint_path: Any, mode: str) -> None:
    try:
        saver.restore(session, checkpoint_path)
    except tf.errors.NotFoundError as error:
        raise ValueError(
            "Could not load all requested variables from checkpoint. Please make sure your "
            "model_fn does not expect variables that were not saved in the checkpoint.\n\n"
            f"Encountered error with mode `{mode}` while restoring checkpoint from: "
            f"`{checkpoint_path}`. Full Traceback:\n\n{error}"
        ) from error
