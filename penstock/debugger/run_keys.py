"""`debug.lib.common`: names for what a run is fed and what it fetches."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

GRPC_URL_PREFIX = "grpc://"


class RunKey(NamedTuple):
    """What tells runs of a session apart."""

    feed_names: list[str]
    fetch_names: list[str]


def get_graph_element_name(elem: Any) -> str:
    """The name of a tensor or operation; a name stays as it is."""
    return str(getattr(elem, "name", elem))


def get_flattened_names(feeds_or_fetches: Any) -> list[str]:
    """The names in lists, tuples and the values of dictionaries, in order."""
    if isinstance(feeds_or_fetches, dict):
        feeds_or_fetches = list(feeds_or_fetches.values())
    if not isinstance(feeds_or_fetches, (list, tuple)):
        return [get_graph_element_name(feeds_or_fetches)]
    return [name for each in feeds_or_fetches for name in get_flattened_names(each)]


def get_run_key(feed_dict: Any, fetches: Any) -> str:
    """The RunKey of a run, as JSON."""
    return json.dumps(RunKey(get_flattened_names(feed_dict), get_flattened_names(fetches)))
