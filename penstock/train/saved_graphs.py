"""`tf.train.import_meta_graph` and `export_meta_graph`: graphs with their savers."""

from __future__ import annotations

from typing import Any

from penstock.ir.graph import Graph
from penstock.platform import logging
from penstock.proto import MetaGraphDef
from penstock.train.meta_graph import (
    export_scoped_meta_graph,
    import_scoped_meta_graph_with_return_elements,
    naming_file,
    read_meta_graph_file,
)
from penstock.train.saveables import all_saveable_objects
from penstock.train.saver import Saver

__all__ = ["export_meta_graph", "import_meta_graph"]


def import_meta_graph(
    meta_graph_or_file: Any,
    clear_devices: bool = False,
    import_scope: str | None = None,
    **kwargs: Any,
) -> Saver | None:
    """Adds a MetaGraphDef, or the one in a file, to the default graph; returns its saver.

    Args:
      meta_graph_or_file: a MetaGraphDef message or the name of a file.
      clear_devices: whether to forget where nodes were placed.
      import_scope: name scope for the nodes.
      **kwargs: `input_map` and others of `import_graph_def`.
    """
    return _import_meta_graph_with_return_elements(
        meta_graph_or_file, clear_devices, import_scope, **kwargs
    )[0]


def _import_meta_graph_with_return_elements(
    meta_graph_or_file: Any,
    clear_devices: bool = False,
    import_scope: str | None = None,
    return_elements: Any = None,
    **kwargs: Any,
) -> tuple[Saver | None, Any]:
    if not isinstance(meta_graph_or_file, MetaGraphDef):
        with naming_file(meta_graph_or_file):
            return _import_meta_graph_with_return_elements(
                read_meta_graph_file(meta_graph_or_file),
                clear_devices,
                import_scope,
                return_elements,
                **kwargs,
            )
    message = meta_graph_or_file
    variables, elements = import_scoped_meta_graph_with_return_elements(
        message,
        clear_devices=clear_devices,
        import_scope=import_scope,
        return_elements=return_elements,
        **kwargs,
    )
    return _saver_of(message, import_scope, variables), elements


def _saver_of(message: Any, import_scope: str | None, variables: dict[str, Any]) -> Saver | None:
    if message.HasField("saver_def"):
        # The scope may have been made unique: an imported variable tells what it became.
        scope = import_scope
        for name, variable in variables.items():
            scope = variable.name.removesuffix(name)
            break
        return Saver(saver_def=message.saver_def, name=scope)
    if all_saveable_objects(scope=import_scope):
        return Saver()
    logging.info("Saver not created because there are no variables in the graph to restore")
    return None


def export_meta_graph(
    filename: Any = None,
    meta_info_def: Any = None,
    graph_def: Any = None,
    saver_def: Any = None,
    collection_list: Any = None,
    as_text: bool = False,
    graph: Graph | None = None,
    export_scope: str | None = None,
    clear_devices: bool = False,
    clear_extraneous_savers: bool = False,
    strip_default_attrs: bool = False,
    save_debug_info: bool = False,
    **kwargs: Any,
) -> Any:
    """A graph with its collections as a MetaGraphDef, written to a file if one is named.

    Args:
      filename: file to write.
      meta_info_def: a MetaInfoDef message to start from.
      graph_def: nodes to export instead of the graph's.
      saver_def: the SaverDef of the saver to use with it.
      collection_list: names of the collections to export; all if None.
      as_text: whether to write text.
      graph: the graph; the default one if None.
      export_scope: a name scope to export alone, without its prefix.
      clear_devices: whether to forget where nodes are placed.
      clear_extraneous_savers: whether to leave out the nodes of other savers.
      strip_default_attrs: whether to leave out attrs that have their defaults.
      save_debug_info: not used.
    """
    return export_scoped_meta_graph(
        filename=filename,
        meta_info_def=meta_info_def,
        graph_def=graph_def,
        saver_def=saver_def,
        collection_list=collection_list,
        as_text=as_text,
        graph=graph,
        export_scope=export_scope,
        clear_devices=clear_devices,
        clear_extraneous_savers=clear_extraneous_savers,
        strip_default_attrs=strip_default_attrs,
        save_debug_info=save_debug_info,
        **kwargs,
    )[0]
