"""`tf.train.Scaffold`: the nodes that a training session needs besides the model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock import summary
from penstock.ir.collections import GraphKeys
from penstock.ir.defaults import get_default_graph
from penstock.ops import resources
from penstock.ops.control import group
from penstock.ops.joining import concat
from penstock.ops.lookup_tables import tables_initializer
from penstock.ops.variable_collections import (
    global_variables,
    global_variables_initializer,
    local_variables_initializer,
    report_uninitialized_variables,
)
from penstock.platform import logging
from penstock.train import saver as saver_lib

__all__ = ["Scaffold"]


def _default_init_op() -> Any:
    return group(
        global_variables_initializer(),
        resources.initialize_resources(resources.shared_resources()),
    )


def _default_ready_op() -> Any:
    return concat([report_uninitialized_variables(), resources.report_uninitialized_resources()], 0)


def _default_ready_for_local_init_op() -> Any:
    return concat(
        [
            report_uninitialized_variables(global_variables()),
            resources.report_uninitialized_resources(resources.shared_resources()),
        ],
        0,
    )


class Scaffold:
    """Operations to initialize, check, summarize and save a model.

    What is not given is taken from the graph's collections, and else made by `finalize()`.

    Args:
      init_op: initializes the global variables.
      init_feed_dict: what `init_op` is fed with.
      init_fn: called as `init_fn(scaffold, session)` after `init_op`.
      ready_op: a vector of the names of uninitialized variables.
      ready_for_local_init_op: the same for what `local_init_op` needs.
      local_init_op: initializes local variables and tables.
      summary_op: a serialized summary of all there is.
      saver: a `tf.train.Saver`.
      copy_from_scaffold: a scaffold whose parts are used where none are given.
    """

    def __init__(
        self,
        init_op: Any = None,
        init_feed_dict: Any = None,
        init_fn: Callable[[Scaffold, Any], Any] | None = None,
        ready_op: Any = None,
        ready_for_local_init_op: Any = None,
        local_init_op: Any = None,
        summary_op: Any = None,
        saver: Any = None,
        copy_from_scaffold: Scaffold | None = None,
    ):
        if copy_from_scaffold is not None and not isinstance(copy_from_scaffold, Scaffold):
            raise TypeError("copy_from_scaffold is not a Scaffold instance.")

        def given_or_copied(part: Any, attribute: str) -> Any:
            return getattr(copy_from_scaffold, attribute, None) if part is None else part

        self._user_init_fn = given_or_copied(init_fn, "_user_init_fn")
        self._init_op = given_or_copied(init_op, "init_op")
        self._init_feed_dict = given_or_copied(init_feed_dict, "init_feed_dict")
        self._ready_op = given_or_copied(ready_op, "ready_op")
        self._ready_for_local_init_op = given_or_copied(
            ready_for_local_init_op, "ready_for_local_init_op"
        )
        self._local_init_op = given_or_copied(local_init_op, "local_init_op")
        self._summary_op = given_or_copied(summary_op, "summary_op")
        self._saver = given_or_copied(saver, "saver")

    def finalize(self) -> Scaffold:
        """Makes what is missing and finalizes the graph."""
        keys = GraphKeys
        defaults: list[tuple[str, str, Callable[[], Any]]] = [
            ("init_op", keys.INIT_OP, _default_init_op),
            ("ready_op", keys.READY_OP, _default_ready_op),
            (
                "ready_for_local_init_op",
                keys.READY_FOR_LOCAL_INIT_OP,
                _default_ready_for_local_init_op,
            ),
            ("local_init_op", keys.LOCAL_INIT_OP, Scaffold.default_local_init_op),
            ("summary_op", keys.SUMMARY_OP, summary.merge_all),
        ]
        for part, key, make in defaults:
            if getattr(self, f"_{part}") is None:
                setattr(self, f"_{part}", Scaffold.get_or_default(part, key, make))
        if self._saver is None:
            self._saver = saver_lib._get_saver_or_default()
        self._saver.build()
        get_default_graph().finalize()
        logging.info("Graph was finalized.")
        return self

    @property
    def init_fn(self) -> Callable[[Any], Any] | None:
        """The function given to the constructor, of the session alone."""
        function = self._user_init_fn
        return (lambda session: function(self, session)) if function else None

    @property
    def init_op(self) -> Any:
        return self._init_op

    @property
    def ready_op(self) -> Any:
        return self._ready_op

    @property
    def ready_for_local_init_op(self) -> Any:
        return self._ready_for_local_init_op

    @property
    def local_init_op(self) -> Any:
        return self._local_init_op

    @property
    def summary_op(self) -> Any:
        return self._summary_op

    @property
    def saver(self) -> Any:
        return self._saver

    @property
    def init_feed_dict(self) -> Any:
        return self._init_feed_dict

    @staticmethod
    def get_or_default(
        arg_name: str, collection_key: str, default_constructor: Callable[[], Any]
    ) -> Any:
        """The only member of a collection; where there is none, one is made and added."""
        graph = get_default_graph()
        members = graph.get_collection(collection_key)
        if len(members) > 1:
            raise RuntimeError(
                f'More than one item in the collection "{collection_key}". Please indicate which '
                "one to use by passing it to the tf.Scaffold constructor as:  "
                f"tf.Scaffold({arg_name}=item to use)"
            )
        if members:
            return members[0]
        made = default_constructor()
        if made is not None:
            graph.add_to_collection(collection_key, made)
        return made

    @staticmethod
    def default_local_init_op() -> Any:
        """Initializes local variables, tables and local resources."""
        return group(
            local_variables_initializer(),
            tables_initializer(),
            resources.initialize_resources(resources.local_resources()),
        )
