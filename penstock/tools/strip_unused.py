"""`strip_unused` as a command: the part of a graph file between given inputs and outputs."""

from __future__ import annotations

from typing import Any

from penstock import dtypes
from penstock.tools import strip_unused_lib
from penstock.tools.command_flags import FlagParser

__all__ = ["main", "run_main"]


def main(unused_args: Any, flags: Any) -> int | None:
    """Strips the graph that flags of the command line name."""
    return strip_unused_lib.strip_unused_from_files(**vars(flags))


def run_main() -> None:
    """Runs the command: `python -m penstock.tools.strip_unused --input_graph=…`."""
    parser = FlagParser(description=__doc__)
    parser.text("input_graph", "GraphDef file to read")
    parser.switch("input_binary", False, "whether it is binary")
    parser.text("output_graph", "file to write")
    parser.switch("output_binary", True, "whether to write it binary")
    parser.text("input_node_names", "the nodes that are fed, with commas between")
    parser.text("output_node_names", "the nodes that are fetched, with commas between")
    parser.number(
        "placeholder_type_enum",
        dtypes.float32.as_datatype_enum,
        "number of the placeholders' DataType",
    )
    parser.run(main)


if __name__ == "__main__":
    run_main()
