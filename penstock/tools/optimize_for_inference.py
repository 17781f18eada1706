"""`optimize_for_inference` as a command: a graph file for inference alone."""

from __future__ import annotations

from typing import Any

from penstock import dtypes, gfile
from penstock.proto import GraphDef
from penstock.tools import optimize_for_inference_lib
from penstock.tools.command_flags import FlagParser
from penstock.tools.graph_files import read_message, write_message

__all__ = ["main", "run_main"]


def main(unused_args: Any, flags: Any) -> int:
    """Optimizes the graph that flags of the command line name; the exit status."""
    if not gfile.Exists(flags.input):
        print(f"Input graph file '{flags.input}' does not exist!")
        return -1
    types = [int(number) for number in flags.placeholder_type_enum.split(",")]
    optimized = optimize_for_inference_lib.optimize_for_inference(
        read_message(flags.input, GraphDef(), binary=flags.frozen_graph),
        flags.input_names.split(","),
        flags.output_names.split(","),
        types if len(types) > 1 else types[0],
        flags.toco_compatible,
    )
    write_message(flags.output, optimized, binary=flags.frozen_graph)
    return 0


def run_main() -> None:
    """Runs the command: `python -m penstock.tools.optimize_for_inference --input=…`."""
    parser = FlagParser(description=__doc__)
    parser.text("input", "GraphDef file to read")
    parser.text("output", "file to write")
    parser.text("input_names", "the nodes that are fed, with commas between")
    parser.text("output_names", "the nodes that are fetched, with commas between")
    parser.switch("frozen_graph", True, "whether the files are binary, or text")
    parser.text(
        "placeholder_type_enum",
        "number of the placeholders' DataType, or one for each with commas between",
        str(dtypes.float32.as_datatype_enum),
    )
    parser.switch("toco_compatible", False, "whether not to fuse resizing and convolution")
    parser.run(main)


if __name__ == "__main__":
    run_main()
