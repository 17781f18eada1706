"""A graph file as an event file, for TensorBoard's page of graphs."""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock.proto import GraphDef
from penstock.tools.command_flags import FlagParser
from penstock.tools.graph_files import read_message

__all__ = ["import_to_tensorboard", "main", "run_main"]


def import_to_tensorboard(model_dir: str, log_dir: str) -> None:
    """Writes the graph of a binary GraphDef file to an event file.

    Args:
      model_dir: the GraphDef's file.
      log_dir: the folder of the event file.
    """
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(read_message(model_dir, GraphDef(), binary=True))
        with tf.summary.FileWriter(log_dir) as writer:
            writer.add_graph(graph)
    print(f"Model Imported. Visualize by running: tensorboard --logdir={log_dir}")


def main(unused_args: Any, flags: Any) -> None:
    """Imports what flags of the command line name."""
    import_to_tensorboard(flags.model_dir, flags.log_dir)


def run_main() -> None:
    """Runs the command: `python -m penstock.tools.import_pb_to_tensorboard --model_dir=…`."""
    parser = FlagParser(description=__doc__)
    parser.add_argument("--model_dir", required=True, help="the GraphDef's file")
    parser.add_argument("--log_dir", required=True, help="the folder of the event file")
    parser.run(main)


if __name__ == "__main__":
    run_main()
