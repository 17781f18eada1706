"""What is in a checkpoint, and variables that start with values from one."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from typing import Any

from penstock.checkpoint.reader import CheckpointReader, NewCheckpointReader
from penstock.ir.defaults import get_default_graph
from penstock.ops.checkpoint_files import restore_v2
from penstock.ops.partitioned_variables import PartitionedVariable
from penstock.ops.variable_scope import default_store
from penstock.ops.variables import Variable
from penstock.platform import file_io, logging
from penstock.train.checkpoint_state import latest_checkpoint
from penstock.train.replicas import between_replicas
from penstock.train.saveables import op_list_to_dict, saveable_objects_for_op

__all__ = [
    "checkpoints_iterator",
    "init_from_checkpoint",
    "list_variables",
    "load_checkpoint",
    "load_variable",
]

# Looking --------------------------------------------------------------------------------------


def _prefix_of(ckpt_dir_or_file: Any) -> str | None:
    """The latest checkpoint of a directory, or the checkpoint itself."""
    path = os.fsdecode(ckpt_dir_or_file)
    return latest_checkpoint(path) if file_io.is_directory(path) else path


def load_checkpoint(ckpt_dir_or_file: Any) -> CheckpointReader:
    """A reader of a checkpoint, or of the latest one of a directory."""
    prefix = _prefix_of(ckpt_dir_or_file)
    if prefix is None:
        raise ValueError(
            f"Couldn't find 'checkpoint' file or checkpoints in given directory {ckpt_dir_or_file}"
        )
    return NewCheckpointReader(prefix)


def load_variable(ckpt_dir_or_file: Any, name: str) -> Any:
    """The value of a variable in a checkpoint."""
    return load_checkpoint(ckpt_dir_or_file).get_tensor(name.removesuffix(":0"))


def list_variables(ckpt_dir_or_file: Any) -> list[tuple[str, list[int]]]:
    """The names and shapes of the variables in a checkpoint."""
    return sorted(load_checkpoint(ckpt_dir_or_file).get_variable_to_shape_map().items())


def wait_for_new_checkpoint(
    checkpoint_dir: Any,
    last_checkpoint: str | None = None,
    seconds_to_sleep: float = 1,
    timeout: float | None = None,
) -> str | None:
    """Waits for another checkpoint than `last_checkpoint`; None if `timeout` seconds pass."""
    logging.info("Waiting for new checkpoint at %s", checkpoint_dir)
    stop = None if timeout is None else time.time() + timeout
    while True:
        path = latest_checkpoint(checkpoint_dir)
        if path is not None and path != last_checkpoint:
            logging.info("Found new checkpoint at %s", path)
            return path
        if stop is not None and time.time() + seconds_to_sleep > stop:
            return None
        time.sleep(seconds_to_sleep)


def checkpoints_iterator(
    checkpoint_dir: Any,
    min_interval_secs: float = 0,
    timeout: float | None = None,
    timeout_fn: Callable[[], bool] | None = None,
) -> Iterator[str]:
    """New checkpoints of a directory as they appear.

    Args:
      checkpoint_dir: the directory.
      min_interval_secs: least time between two of them.
      timeout: how long to wait for one.
      timeout_fn: asked after a timeout whether to stop; without it, a timeout ends it.
    """
    path: str | None = None
    while True:
        new = wait_for_new_checkpoint(checkpoint_dir, path, timeout=timeout)
        if new is None:
            if timeout_fn is None:
                logging.info("Timed-out waiting for a checkpoint.")
                return
            if timeout_fn():
                return
            continue
        start = time.time()
        path = new
        yield path
        time.sleep(max(0.0, start + min_interval_secs - time.time()))


# Initializing ---------------------------------------------------------------------------------


def init_from_checkpoint(ckpt_dir_or_file: Any, assignment_map: Any) -> None:
    """Makes the initializers of variables restore them from a checkpoint.

    Args:
      ckpt_dir_or_file: the checkpoint, or a directory with some.
      assignment_map: from names in the checkpoint to variables, lists of partitions, or names of
        variables; or from scopes to scopes, both ending in "/".
    """
    between_replicas(lambda: _init_from_checkpoint(ckpt_dir_or_file, assignment_map))


def _init_from_checkpoint(ckpt_dir_or_file: Any, assignment_map: Any) -> None:
    prefix = _prefix_of(ckpt_dir_or_file)
    stored = load_checkpoint(ckpt_dir_or_file).get_variable_to_shape_map()
    entries = assignment_map.items() if hasattr(assignment_map, "items") else assignment_map
    assert prefix is not None
    for name, target in sorted(entries, key=lambda entry: entry[0]):
        variable = _variable_of(target)
        if variable is None:
            _initialize_scope(prefix, name, target, stored)
            continue
        if name not in stored:
            raise ValueError(
                f"Tensor {name} is not found in {ckpt_dir_or_file} checkpoint {stored}"
            )
        if isinstance(variable, Variable) and not variable.shape.is_compatible_with(stored[name]):
            raise ValueError(
                f"Shape of variable {variable.name} ({variable.shape}) doesn't match with shape of "
                f"tensor {name} ({stored[name]}) from checkpoint reader."
            )
        _initialize(variable, prefix, name)


def _variable_of(target: Any) -> Any:
    """The variable, or the list of parts, that an entry of the map means; None for a scope."""
    if isinstance(target, Variable):
        return target
    if isinstance(target, PartitionedVariable):
        return list(target)
    if isinstance(target, (list, tuple)) and all(isinstance(part, Variable) for part in target):
        return list(target)
    known = default_store()._vars
    return known.get(target) or _parts_of(target, known)


def _parts_of(name: str, known: dict[str, Any]) -> list[Any] | None:
    parts: list[Any] = []
    while f"{name}/part_{len(parts)}" in known:
        parts.append(known[f"{name}/part_{len(parts)}"])
    return parts or None


def _initialize_scope(prefix: str, name: str, target: str, stored: dict[str, Any]) -> None:
    """Initializes all variables of a scope from a scope of the checkpoint."""
    scope = target.rpartition("/")[0]
    if not name.endswith("/"):
        raise ValueError(
            f"Assignment map with scope only name {scope} should map to scope only {name}. Should "
            "be 'scope/': 'other_scope/'."
        )
    known = default_store()._vars
    inside = {
        each.partition("/part_")[0] for each in known if not scope or each.startswith(f"{scope}/")
    }
    for variable_name in sorted(inside):
        relative = variable_name[len(scope) :].lstrip("/") if scope else variable_name
        full_name = (relative if name == "/" else name + relative).removesuffix("/")
        if full_name not in stored:
            raise ValueError(
                f"Tensor {full_name} ({relative} in {name}) is not found in {prefix} checkpoint"
            )
        variable = known.get(variable_name) or _parts_of(variable_name, known)
        _initialize(variable, prefix, full_name)


def _initialize(variable: Any, prefix: str, name: str) -> None:
    if not isinstance(variable, list):
        _set_initializer(variable, prefix, name, "")
        return
    wholes = {part._get_save_slice_info().full_name for part in variable}
    if len(wholes) > 1:
        raise ValueError(f"Slices must all be from the same tensor: {' != '.join(sorted(wholes))}")
    for part in variable:
        _set_initializer(part, prefix, name, part._get_save_slice_info().spec)


def _set_initializer(variable: Any, prefix: str, name: str, slice_spec: str) -> None:
    graph = get_default_graph()
    with graph.device(variable.device), graph.device("/cpu:0"):
        value = restore_v2(
            prefix, [name], [slice_spec], [variable.dtype.base_dtype], "checkpoint_initializer"
        )[0]
        found = [
            saveable
            for key, op in op_list_to_dict([variable]).items()
            for saveable in saveable_objects_for_op(op, key)
        ]
    (saveable,) = found
    variable._initializer_op = _operation(saveable.restore([value], None))
    value.set_shape(variable.shape)
    variable._initial_value = value


def _operation(restored: Any) -> Any:
    return getattr(restored, "op", restored)
