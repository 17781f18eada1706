"""Runs the pipelines in real TensorFlow and records what they give.

python tests/data_pipelines/record.py           # all, with a Python that has TensorFlow 2.21
python tests/data_pipelines/record.py NAME...   # these, with TensorFlow 1.15 where it differs:
    listed_files_in_random_order shuffled shuffled_and_repeated
    shuffled_and_repeated_in_a_large_buffer shuffled_by_the_graph_seed
python tests/data_pipelines/record.py graphs    # the nodes, with TensorFlow 1.15
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1]))


def main() -> None:
    import tensorflow.compat.v1 as tf

    from tests.data_pipelines.graphs import GRAPHS, nodes
    from tests.data_pipelines.pipelines import PIPELINES, write_files
    from tests.data_pipelines.running import run

    tf.disable_v2_behavior()
    tf.logging.set_verbosity(tf.logging.ERROR)
    chosen = sys.argv[1:]
    if chosen == ["graphs"]:
        _write("recorded_graphs.json", {name: nodes(tf, build) for name, build in GRAPHS.items()})
        return
    recorded = json.loads((HERE / "recorded.json").read_text()) if chosen else {}
    for name in chosen or PIPELINES:
        with tempfile.TemporaryDirectory() as folder:
            write_files(tf, Path(folder))
            recorded[name] = run(tf, PIPELINES[name], Path(folder))
    _write("recorded.json", recorded)


def _write(name: str, recorded: dict[str, object]) -> None:
    """A JSON file with a line for each entry."""
    lines = [f"{json.dumps(name)}: {json.dumps(result)}" for name, result in recorded.items()]
    (HERE / name).write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
