"""The `penstock` command."""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Sequence
from typing import Any


def _parser(command: str) -> argparse.ArgumentParser:
    """The parser of the command line; only the tool that is asked for is imported."""
    parser = argparse.ArgumentParser(
        prog="penstock", description="TensorFlow 1.x programs on today's Python and kernels."
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    run = commands.add_parser(
        "run",
        help="run an unmodified TensorFlow 1.x program",
        description="Runs a program with penstock in the place of tensorflow.",
    )
    run.add_argument(
        "--py2", action="store_true", help="convert the program from Python 2, in memory"
    )
    run.add_argument(
        "-m", dest="is_module", action="store_true", help="the program is a module, by its name"
    )
    run.add_argument("script", help="the program's file")
    run.add_argument("arguments", nargs=argparse.REMAINDER, help="the program's own arguments")
    doctor = commands.add_parser(
        "doctor",
        help="list the names of TensorFlow that a program uses and that are missing",
        description="Reads programs, without running them, and lists what they need of TensorFlow.",
    )
    doctor.add_argument("paths", nargs="+", metavar="path", help="a file, or a folder of files")
    board = commands.add_parser(
        "tensorboard",
        help="show event files in TensorBoard",
        description="Starts TensorBoard on a folder of event files.",
    )
    board.add_argument("logdir", help="the folder that tf.summary.FileWriter wrote to")
    board.add_argument(
        "arguments", nargs=argparse.REMAINDER, help="TensorBoard's own arguments, such as --port"
    )
    model = commands.add_parser(
        "saved_model",
        help="show, run or scan a SavedModel",
        description="The commands of TensorFlow's saved_model_cli.",
        add_help=False,
    )
    model.add_argument("arguments", nargs=argparse.REMAINDER, help="show, run or scan, with --help")
    _add_tools(commands, command)
    return parser


def _add_tools(commands: Any, asked: str) -> None:
    """The commands that look inside files and running programs, and those for clusters."""
    for name, help, description in (
        (
            "profile",
            "show where a program's time and memory go",
            "Runs a program, traces steps of its sessions, and shows where time and memory went.",
        ),
        (
            "debug",
            "stop a program's runs at nodes, watch tensors, find NaNs",
            "Runs a program under a debugger that takes commands from standard input or a file.",
        ),
        (
            "inspect",
            "print and search a checkpoint, graph, SavedModel, event file or TFRecord file",
            "Prints what is in a file, whose kind is told by its contents.",
        ),
        (
            "diff",
            "compare two checkpoints",
            "Compares two checkpoints: exit status 0 where they are equal, 1 where they differ.",
        ),
        (
            "certs",
            "make the token and certificates of a cluster",
            "Makes a folder with which the tasks and clients of a cluster know each other.",
        ),
        (
            "launch",
            "start all tasks of a job on a cluster",
            "Starts parameter servers, workers and their companions here as processes, and starts "
            "those that die again; or prints what Slurm or Kubernetes needs for that.",
        ),
    ):
        parser = commands.add_parser(name, help=help, description=description)
        if name == asked:
            _tool(name).add_arguments(parser)


def _tool(name: str) -> Any:
    return importlib.import_module(f"penstock.cli.{name}")


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; the exit status."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    options = _parser(words[0] if words else "").parse_args(words)
    if options.command == "doctor":
        from penstock.cli.doctor import report

        return report(options.paths)
    if options.command == "tensorboard":
        from penstock.cli.tensorboard import start

        return start(options.logdir, options.arguments)
    if options.command == "saved_model":
        from penstock.tools.saved_model_cli import main as saved_model

        return saved_model(options.arguments)
    if options.command in ("profile", "debug", "inspect", "diff", "certs", "launch"):
        status: int = getattr(_tool(options.command), options.command)(options)
        return status
    from penstock.cli.run import run_module, run_program

    if options.is_module:
        return run_module(options.script, options.arguments)
    return run_program(options.script, options.arguments, py2=options.py2)
