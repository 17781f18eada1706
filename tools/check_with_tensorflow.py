"""Lets a real TensorFlow read what Penstock writes: graphs, models, checkpoints, events, records.

    python tools/check_with_tensorflow.py [--notes] TF_ENV/bin/python …

Each TF_ENV is an environment with a TensorFlow, 1.15 or 2.x. Penstock writes the files in this
process; TensorFlow reads them in another. With `--notes` the lines replace those of the last run in
docs/compatibility_notes.md, which `make docs` copies into docs/compatibility.md.
"""

from __future__ import annotations

import argparse
import importlib
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import tensorflow_reads

NOTES = Path(__file__).parents[1] / "docs" / "compatibility_notes.md"
HEADING = "## Read by TensorFlow"


def version(python: str) -> str:
    """The version of a Python's TensorFlow."""
    command = "import tensorflow as tf; print(tf.__version__)"
    result = subprocess.run(
        [python, "-W", "ignore", "-c", command], capture_output=True, text=True, check=False
    )
    if result.returncode:
        sys.exit(f"{python} has no TensorFlow: {result.stderr.strip().splitlines()[-1]}")
    return result.stdout.split()[-1]


def lines(python: str) -> list[str]:
    """What the TensorFlow of a Python makes of each kind of file."""
    found = []
    for module in tensorflow_reads.MODULES:
        check = importlib.import_module(f"tensorflow_reads.{module}").check
        with tempfile.TemporaryDirectory() as folder:
            found += check(folder, python)
    return found


def write_notes(section: list[str]) -> None:
    """Replaces the section of the last run in the notes."""
    text = NOTES.read_text()
    made = "\n".join([HEADING, "", *section, ""])
    pattern = re.compile(rf"^{re.escape(HEADING)}\n.*?(?=^## |\Z)", re.DOTALL | re.MULTILINE)
    if pattern.search(text):
        text = pattern.sub(lambda match: f"{made}\n", text)
    else:
        text = f"{text.rstrip()}\n\n{made}"
    NOTES.write_text(f"{text.rstrip()}\n")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("python", nargs="+", help="a Python that has TensorFlow")
    parser.add_argument("--notes", action="store_true", help="write the result into the notes")
    arguments = parser.parse_args()
    section = ["The last output of `tools/check_with_tensorflow.py`: what a real TensorFlow read."]
    failed = 0
    for python in arguments.python:
        found = lines(python)
        bad = sum(line.startswith("FAILED") for line in found)
        summary = f"TensorFlow {version(python)} read {len(found) - bad} of {len(found)}"
        print("\n".join([*found, summary, ""]))
        section += ["", "```", *found, summary, "```"]
        failed += bad
    if arguments.notes:
        write_notes(section)
    return min(failed, 1)


if __name__ == "__main__":
    sys.exit(main())
