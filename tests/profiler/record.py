"""Profiles the model in real TensorFlow and records what it prints and returns.

Run it with a Python that has TensorFlow 2.21, from anywhere:

    python tests/profiler/record.py
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1]))

from tests.profiler.profiled_model import REPORTS, build, report  # noqa: E402


def _print_one(name: str) -> None:
    """Prints one report, then the returned message after a line of its own."""
    import tensorflow.compat.v1 as tf

    tf.disable_v2_behavior()
    build(tf)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "report")
        message = report(tf, name, path)
        written = Path(path).read_text() if os.path.exists(path) else ""
    sys.stdout.flush()
    print("\n<message>" + str(message) + "<file>" + written, end="")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        _print_one(sys.argv[1])
        sys.exit()
    # TensorFlow prints from C++, past Python: a process for each report catches it.
    recorded = {}
    for name in REPORTS:
        command = [sys.executable, __file__, name]
        output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        printed, _, rest = output.partition("\n<message>")
        message, _, file = rest.partition("<file>")
        recorded[name] = {
            "printed": printed.splitlines(),
            "message": message.splitlines(),
            "file": file.splitlines(),
        }
    (HERE / "recorded.json").write_text(json.dumps(recorded, indent=1) + "\n")
