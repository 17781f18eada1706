"""`tf.train.warm_start`: variables that begin with the values of an earlier training."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from penstock import errors
from penstock.ir.collections import GraphKeys
from penstock.ir.defaults import get_default_graph
from penstock.ops.variables import Variable
from penstock.platform import logging
from penstock.train.checkpoint_state import latest_checkpoint
from penstock.train.checkpoint_variables import init_from_checkpoint
from penstock.train.saveables import op_list_to_dict
from penstock.train.saver import object_graph_key_mapping

__all__ = ["VocabInfo", "warm_start"]


class _VocabInfo(NamedTuple):
    new_vocab: Any
    new_vocab_size: Any
    num_oov_buckets: Any
    old_vocab: Any
    old_vocab_size: Any = -1
    backup_initializer: Any = None
    axis: int = 0


class VocabInfo(_VocabInfo):
    """How the rows (or columns) of a variable move when its vocabulary changes.

    Args:
      new_vocab: the file of the new vocabulary, one word a line.
      new_vocab_size: how many of its words are used.
      num_oov_buckets: how many rows follow for other words.
      old_vocab: the file of the vocabulary that the checkpoint was trained with.
      old_vocab_size: how many of its words were used; -1 for all.
      backup_initializer: makes the rows of new words; zeros if None.
      axis: 0 if words are rows, 1 if they are columns.
    """

    __slots__ = ()

    def __new__(
        cls,
        new_vocab: Any,
        new_vocab_size: Any,
        num_oov_buckets: Any,
        old_vocab: Any,
        old_vocab_size: Any = -1,
        backup_initializer: Any = None,
        axis: int = 0,
    ) -> VocabInfo:
        if axis not in (0, 1):
            raise ValueError(
                "The only supported values for the axis argument are 0 and 1.  Provided axis: "
                f"{axis}"
            )
        return super().__new__(
            cls,
            new_vocab,
            new_vocab_size,
            num_oov_buckets,
            old_vocab,
            old_vocab_size,
            backup_initializer,
            axis,
        )


def _infer_var_name(var: Any) -> str:
    """The name under which a variable, or the parts of one, would be saved."""
    names = op_list_to_dict(var)
    if len(names) > 1:
        raise TypeError(
            f"`var` = {var} passed as arg violates the constraints.  name_to_var_dict = {names}"
        )
    return next(iter(names))


def _parts(var: Any) -> list[Any]:
    """A variable, a list of its parts or a partitioned variable, as a list of variables."""
    if isinstance(var, Variable):
        return [var]
    if isinstance(var, list) and all(isinstance(part, Variable) for part in var):
        return var
    if hasattr(var, "_get_variable_list"):
        return list(var._get_variable_list())
    raise TypeError(
        "var MUST be one of the following: a Variable, list of Variable or PartitionedVariable, "
        f"but is {type(var)}"
    )


def _get_var_info(var: Any, prev_tensor_name: str | None = None) -> tuple[str, Any]:
    """The name of a variable in the checkpoint, and what to restore it into."""
    parts = _parts(var)
    if not isinstance(var, Variable):
        var = parts
    return prev_tensor_name or _infer_var_name(parts), var


def _checkpoint_file(path: Any) -> Any:
    return latest_checkpoint(path) or path


def _warm_start_var_with_vocab(
    var: Any,
    current_vocab_path: Any,
    current_vocab_size: Any,
    prev_ckpt: Any,
    prev_vocab_path: Any,
    previous_vocab_size: int = -1,
    current_oov_buckets: int = 0,
    prev_tensor_name: str | None = None,
    initializer: Any = None,
    axis: int = 0,
) -> None:
    """Makes the initializer of a matrix read it from a checkpoint, word by word."""
    from penstock.ops.checkpoint_remapping import load_and_remap_matrix_initializer
    from penstock.ops.save_slices import PartitionInfo
    from penstock.ops.variable_updates import assign

    if not (current_vocab_path and current_vocab_size and prev_ckpt and prev_vocab_path):
        raise ValueError(
            "Invalid args: Must provide all of [current_vocab_path, current_vocab_size, prev_ckpt, "
            "prev_vocab_path}."
        )
    parts = _parts(var)
    name = prev_tensor_name or _infer_var_name(parts)
    all_rows = sum(part.get_shape().as_list()[0] for part in parts)
    for part in parts:
        shape = part.get_shape().as_list()
        sides: dict[str, Any]
        if axis == 0:
            sides = {
                "new_row_vocab_size": current_vocab_size,
                "new_col_vocab_size": shape[1],
                "old_row_vocab_size": previous_vocab_size,
                "old_row_vocab_file": prev_vocab_path,
                "new_row_vocab_file": current_vocab_path,
                "num_row_oov_buckets": current_oov_buckets,
            }
        else:
            sides = {
                "new_row_vocab_size": all_rows,
                "new_col_vocab_size": current_vocab_size,
                "old_col_vocab_file": prev_vocab_path,
                "new_col_vocab_file": current_vocab_path,
                "num_col_oov_buckets": current_oov_buckets,
            }
        initial = load_and_remap_matrix_initializer(
            ckpt_path=_checkpoint_file(prev_ckpt),
            old_tensor_name=name,
            initializer=initializer,
            **sides,
        )
        info = part._get_save_slice_info()
        partition = PartitionInfo(info.full_shape, info.var_offset) if info else None
        part._initializer_op = assign(part, initial(shape=shape, partition_info=partition))


def _get_grouped_variables(vars_to_warm_start: Any) -> dict[str, list[Any]]:
    """The variables to start warm by name; a partitioned one as the list of its parts."""
    graph = get_default_graph()
    if vars_to_warm_start is None or isinstance(vars_to_warm_start, str):
        logging.info("Warm-starting variables only in TRAINABLE_VARIABLES.")
        variables = graph.get_collection(GraphKeys.TRAINABLE_VARIABLES, vars_to_warm_start)
    elif not isinstance(vars_to_warm_start, list):
        raise ValueError(
            "`vars_to_warm_start must be a `list` or `str`.  Given type is "
            f"{type(vars_to_warm_start)}"
        )
    elif all(isinstance(each, str) for each in vars_to_warm_start):
        variables = [
            variable
            for scope in vars_to_warm_start
            for variable in graph.get_collection(GraphKeys.GLOBAL_VARIABLES, scope)
        ]
    elif all(isinstance(each, Variable) for each in vars_to_warm_start):
        variables = vars_to_warm_start
    else:
        raise ValueError(
            "If `vars_to_warm_start` is a list, it must be all `Variable` or all `str`.  Given "
            f"types are {[type(each) for each in vars_to_warm_start]}"
        )
    grouped: dict[str, list[Any]] = {}
    for variable in variables:
        grouped.setdefault(_infer_var_name([variable]), []).append(variable)
    return grouped


def _get_object_checkpoint_renames(path: Any, variable_names: Any) -> dict[str, str]:
    """The keys of variables in a checkpoint of objects; empty for one of names."""
    try:
        keys = object_graph_key_mapping(_checkpoint_file(path))
    except errors.NotFoundError:
        return {}
    missing = set(variable_names) - set(keys)
    if missing:
        raise ValueError(
            "Attempting to warm-start from an object-based checkpoint, but found that the "
            "checkpoint did not contain values for all variables. The following variables were "
            f"missing: {missing}"
        )
    return {name: keys[name] for name in variable_names}


def _check_all_used(argument: str, given: Any, grouped: Mapping[str, Any]) -> None:
    unused = set(given) - set(grouped)
    if unused:
        raise ValueError(
            f"You provided the following variables in {argument} that were not used: {unused}.  "
            "Perhaps you misspelled them?  Here is the list of viable variable names: "
            f"{grouped.keys()}"
        )


def warm_start(
    ckpt_to_initialize_from: Any,
    vars_to_warm_start: Any = ".*",
    var_name_to_vocab_info: Mapping[str, VocabInfo] | None = None,
    var_name_to_prev_var_name: Mapping[str, str] | None = None,
) -> None:
    """Makes the initializers of variables restore them from a checkpoint.

    Args:
      ckpt_to_initialize_from: a checkpoint, or a directory with some.
      vars_to_warm_start: a regex of trainable variables (all by default), a list of regexes of any
        variables, a list of variables, or None for those in `var_name_to_vocab_info` alone.
      var_name_to_vocab_info: how vocabularies changed.
      var_name_to_prev_var_name: the names of variables in the checkpoint, where they differ.
    """
    logging.info(f"Warm-starting from: {ckpt_to_initialize_from}")
    grouped = _get_grouped_variables(vars_to_warm_start)
    vocab_infos = var_name_to_vocab_info or {}
    old_names = var_name_to_prev_var_name or _get_object_checkpoint_renames(
        ckpt_to_initialize_from, grouped
    )
    as_they_are: dict[str, Any] = {}
    remapped = 0
    for name, variables in grouped.items():
        old_name, info = old_names.get(name), vocab_infos.get(name)
        if info:
            remapped += 1
            _warm_start_var_with_vocab(
                variables,
                current_vocab_path=info.new_vocab,
                current_vocab_size=info.new_vocab_size,
                prev_ckpt=ckpt_to_initialize_from,
                prev_vocab_path=info.old_vocab,
                previous_vocab_size=info.old_vocab_size,
                current_oov_buckets=info.num_oov_buckets,
                prev_tensor_name=old_name,
                initializer=info.backup_initializer,
                axis=info.axis,
            )
        elif vars_to_warm_start:  # None: only those with a vocabulary
            single = variables[0] if len(variables) == 1 else variables
            stored_name, target = _get_var_info(single, old_name)
            as_they_are[stored_name] = target
    init_from_checkpoint(ckpt_to_initialize_from, as_they_are)
    logging.info("Warm-started %d variables.", remapped + len(as_they_are))
    _check_all_used("var_name_to_prev_var_name", old_names, grouped)
    _check_all_used("var_name_to_vocab_info", vocab_infos, grouped)
