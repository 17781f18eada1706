"""Which checkpoints a directory has: the state file "checkpoint", and the files themselves."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import Any

from google.protobuf import text_format

from penstock import errors
from penstock.checkpoint import disk, files
from penstock.checkpoint.missing import path_of_one_file
from penstock.platform import file_io, logging
from penstock.platform.file_errors import file_errors
from penstock.platform.paths import local_path
from penstock.proto import CheckpointState, SaverDef

__all__ = [
    "checkpoint_exists",
    "generate_checkpoint_state_proto",
    "get_checkpoint_mtimes",
    "get_checkpoint_state",
    "latest_checkpoint",
    "remove_checkpoint",
    "update_checkpoint_state",
]

# The state file ---------------------------------------------------------------------------------


def _state_path(directory: Any, latest_filename: str | None) -> str:
    return os.path.join(os.fspath(directory), latest_filename or "checkpoint")


_GetCheckpointFilename = _state_path  # its name in TensorFlow


def generate_checkpoint_state_proto(
    save_dir: Any,
    model_checkpoint_path: str,
    all_model_checkpoint_paths: Sequence[str] | None = None,
    all_model_checkpoint_timestamps: Sequence[float] | None = None,
    last_preserved_timestamp: float | None = None,
) -> Any:
    """The state of a directory as a CheckpointState message.

    Args:
      save_dir: the directory.
      model_checkpoint_path: the latest checkpoint.
      all_model_checkpoint_paths: all that were not deleted, the latest last.
      all_model_checkpoint_timestamps: when they were written.
      last_preserved_timestamp: when the last one that is kept for good was written.
    """
    save_dir = os.fspath(save_dir)
    paths = list(all_model_checkpoint_paths or ())
    if not paths or paths[-1] != model_checkpoint_path:
        logging.info(
            "%s is not in all_model_checkpoint_paths. Manually adding it.", model_checkpoint_path
        )
        paths.append(model_checkpoint_path)
    if all_model_checkpoint_timestamps and len(all_model_checkpoint_timestamps) != len(paths):
        raise ValueError(
            "Checkpoint timestamps, if provided, must match checkpoint paths (got paths "
            f"{paths} and timestamps {all_model_checkpoint_timestamps})"
        )
    # Paths of a relative directory are kept relative to it, so that it can be moved.
    if not os.path.isabs(save_dir):
        model_checkpoint_path = _relative(model_checkpoint_path, save_dir, only=os.path.isabs)
        paths = [_relative(path, save_dir, only=os.path.isabs) for path in paths]
    return CheckpointState(
        model_checkpoint_path=model_checkpoint_path,
        all_model_checkpoint_paths=paths,
        all_model_checkpoint_timestamps=all_model_checkpoint_timestamps,
        last_preserved_timestamp=last_preserved_timestamp,
    )


def _relative(path: str, directory: str, *, only: Any) -> str:
    """The path relative to the directory, unless it is of the kind that `only` tells."""
    return path if only(path) else os.path.relpath(path, directory)


def update_checkpoint_state(
    save_dir: Any,
    model_checkpoint_path: str,
    all_model_checkpoint_paths: Sequence[str] | None = None,
    latest_filename: str | None = None,
    all_model_checkpoint_timestamps: Sequence[float] | None = None,
    last_preserved_timestamp: float | None = None,
) -> None:
    """Writes the state file of a directory; see `generate_checkpoint_state_proto`."""
    update_checkpoint_state_internal(
        save_dir,
        model_checkpoint_path,
        all_model_checkpoint_paths,
        latest_filename,
        False,
        all_model_checkpoint_timestamps,
        last_preserved_timestamp,
    )


def update_checkpoint_state_internal(
    save_dir: Any,
    model_checkpoint_path: str,
    all_model_checkpoint_paths: Sequence[str] | None = None,
    latest_filename: str | None = None,
    save_relative_paths: bool = False,
    all_model_checkpoint_timestamps: Sequence[float] | None = None,
    last_preserved_timestamp: float | None = None,
) -> None:
    """Writes the state file, with paths relative to the directory if asked for."""
    save_dir = os.fspath(save_dir)
    path, paths = model_checkpoint_path, list(all_model_checkpoint_paths or ())
    if save_relative_paths:
        path = _relative(path, save_dir, only=_is_relative)
        paths = [_relative(each, save_dir, only=_is_relative) for each in paths]
    state = generate_checkpoint_state_proto(
        save_dir, path, paths, all_model_checkpoint_timestamps, last_preserved_timestamp
    )
    state_path = _state_path(save_dir, latest_filename)
    if state_path == state.model_checkpoint_path:
        raise RuntimeError(
            f"Save path '{model_checkpoint_path}' conflicts with path used for checkpoint state.  "
            "Please use a different save path."
        )
    with files.new_file(state_path) as file:
        file.write(text_format.MessageToString(state).encode())


def _is_relative(path: str) -> bool:
    return not os.path.isabs(path)


def get_checkpoint_state(checkpoint_dir: Any, latest_filename: str | None = None) -> Any:
    """The CheckpointState of a directory; None if there is none, or it can't be read."""
    directory = os.fspath(checkpoint_dir)
    path = _state_path(directory, latest_filename)
    if not file_io.file_exists(path):
        return None
    state = CheckpointState()
    try:
        text_format.Merge(file_io.read_file_to_string(path), state)
    except (errors.OpError, text_format.ParseError, UnicodeDecodeError) as error:
        logging.warning("%s: %s", type(error).__name__, error)
        logging.warning("%s: Checkpoint ignored", path)
        return None
    if not state.model_checkpoint_path:
        raise ValueError(f"Invalid checkpoint state loaded from {directory}")
    state.model_checkpoint_path = os.path.join(directory, state.model_checkpoint_path)
    for index, each in enumerate(state.all_model_checkpoint_paths):
        state.all_model_checkpoint_paths[index] = os.path.join(directory, each)
    return state


def latest_checkpoint(checkpoint_dir: Any, latest_filename: str | None = None) -> str | None:
    """The prefix of a directory's latest checkpoint; None if there is none."""
    state = get_checkpoint_state(checkpoint_dir, latest_filename)
    if state is None:
        return None
    if checkpoint_exists(state.model_checkpoint_path):
        return str(state.model_checkpoint_path)
    logging.error("Couldn't match files for checkpoint %s", state.model_checkpoint_path)
    return None


# The files --------------------------------------------------------------------------------------


def _index_or_file(prefix: str) -> list[str]:
    """The index file of a V2 checkpoint, or the files of a V1 one; a prefix may be a pattern."""
    return file_io.get_matching_files(f"{prefix}.index") or file_io.get_matching_files(prefix)


def checkpoint_exists(checkpoint_prefix: Any) -> bool:
    """Whether there is a checkpoint at a prefix."""
    return bool(_index_or_file(_text(checkpoint_prefix)))


def refuse_missing(checkpoint_prefix: str) -> None:
    """ValueError unless there is a checkpoint at a prefix."""
    mistake = path_of_one_file(checkpoint_prefix)
    if mistake is not None and not file_io.get_matching_files(f"{checkpoint_prefix}.index"):
        raise ValueError(
            f"The passed save_path is not a valid checkpoint: {checkpoint_prefix}: {mistake}"
        )
    if not checkpoint_exists(checkpoint_prefix):
        raise ValueError(f"The passed save_path is not a valid checkpoint: {checkpoint_prefix}")


def get_checkpoint_mtimes(checkpoint_prefixes: Sequence[str]) -> list[float]:
    """When the checkpoints at some prefixes were written; those that are missing are left out."""
    found = [_index_or_file(_text(prefix)) for prefix in checkpoint_prefixes]
    return [file_io.stat(paths[0]).mtime_nsec / 1e9 for paths in found if paths]


def remove_checkpoint(
    checkpoint_prefix: Any,
    checkpoint_format_version: int = SaverDef.V2,
    meta_graph_suffix: str = "meta",
) -> None:
    """Deletes the files of a checkpoint."""
    prefix = _text(checkpoint_prefix)
    _delete_matching(meta_graph_filename(prefix, meta_graph_suffix))
    if checkpoint_format_version == SaverDef.V2:
        # The index first: without it, what is left is no checkpoint.
        _delete_matching(f"{prefix}.index")
        _delete_matching(f"{prefix}.data-?????-of-?????")
    else:
        _delete_matching(prefix)


def _delete_matching(pattern: str) -> None:
    for path in file_io.get_matching_files(pattern):
        with file_errors(path):
            disk.current.remove(local_path(path))


def meta_graph_filename(checkpoint_filename: str, meta_graph_suffix: str = "meta") -> str:
    """The name of the MetaGraphDef file beside a checkpoint, sharded or not."""
    return re.sub(r"-[\d\?]+-of-\d+$", "", checkpoint_filename) + f".{meta_graph_suffix}"


def _text(value: Any) -> str:
    return os.fsdecode(value)
