"""`tensorflow.tools.graph_transforms`: changes of a GraphDef, named in a line of text.

>>> TransformGraph(graph_def, ["input"], ["softmax"], ["strip_unused_nodes", "fold_constants"])
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from penstock import errors
from penstock.platform import logging
from penstock.proto import GraphDef
from penstock.tools.graph_transforms import cleaning, folding, naming, printing, weights
from penstock.tools.graph_transforms.request import Request, requests

__all__ = ["TransformGraph"]

_TRANSFORMS: dict[str, Callable[[Any, Request], Any]] = {
    "add_default_attributes": cleaning.add_default_attributes,
    "backport_concatv2": naming.backport_concatv2,
    "fold_batch_norms": folding.fold_batch_norms,
    "fold_constants": folding.fold_constants,
    "fold_old_batch_norms": folding.fold_old_batch_norms,
    "fuse_resize_and_conv": folding.fuse_resize_and_conv,
    "fuse_resize_pad_and_conv": folding.fuse_resize_and_conv,
    "insert_logging": printing.insert_logging,
    "merge_duplicate_nodes": cleaning.merge_duplicate_nodes,
    "obfuscate_names": naming.obfuscate_names,
    "quantize_weights": weights.quantize_weights,
    "remove_attribute": cleaning.remove_attribute,
    "remove_control_dependencies": cleaning.remove_control_dependencies,
    "remove_device": cleaning.remove_device,
    "remove_nodes": cleaning.remove_nodes,
    "rename_attribute": naming.rename_attribute,
    "rename_op": naming.rename_op,
    "round_weights": weights.round_weights,
    "set_device": cleaning.set_device,
    "sort_by_execution_order": cleaning.sort_by_execution_order,
    "strip_unused_nodes": cleaning.strip_unused_nodes,
}


def TransformGraph(
    input_graph_def: Any, inputs: Sequence[str], outputs: Sequence[str], transforms: Sequence[str]
) -> Any:
    """A GraphDef after a list of transforms.

    Args:
      inputs: names of the nodes that are fed.
      outputs: names of the nodes that are fetched.
      transforms: such as "fold_constants(ignore_errors=true)".
    """
    graph_def = GraphDef()
    graph_def.CopyFrom(input_graph_def)
    for request in requests(" ".join(transforms), list(inputs), list(outputs)):
        if request.name not in _TRANSFORMS:
            raise errors.InvalidArgumentError(
                None, None, f"Transform '{request.name}' not recognized."
            )
        logging.info("Applying %s", request.name)
        graph_def = _transformed(graph_def, request)
    return graph_def


def _transformed(graph_def: Any, request: Request) -> Any:
    try:
        result = _TRANSFORMS[request.name](graph_def, request)
    except errors.OpError as error:
        if not request.flag("ignore_errors", False):
            raise
        logging.error("%s: Ignoring error %s", request.name, error.message)
        return graph_def
    result.library.CopyFrom(graph_def.library)
    result.versions.CopyFrom(graph_def.versions)
    return result
