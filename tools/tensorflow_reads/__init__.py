"""What a real TensorFlow makes of the files that Penstock writes: one module per kind of file.

A module has two halves and a function that joins them:

- `write(folder)` writes files with Penstock;
- `READERS` names functions `(tf, folder) -> str` that read them with TensorFlow 1.x's API, raise if
  something is wrong and return what they saw;
- `check(folder, python) -> list[str]` writes, has the TensorFlow of that Python read, and returns a
  line for each reader, which begins with "ok" or "FAILED".

The reading half also runs in TensorFlow 1.15's Python 3.7, so these modules import Penstock only
inside `write`.
"""

from __future__ import annotations

import os
import subprocess

MODULES = ("graphs", "models", "checkpoints", "events", "records")


def read_with(python: str, module: str, folder: str) -> list[str]:
    """The lines of a module's READERS, run by another Python, which has TensorFlow."""
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": ""}
    environment.pop("PYTHONPATH", None)
    result = subprocess.run(
        [python, "-W", "ignore", "-m", "tensorflow_reads", module.rpartition(".")[2], folder],
        cwd=os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    lines = [line for line in result.stdout.splitlines() if line.startswith(("ok ", "FAILED "))]
    if result.returncode:
        end = result.stderr.strip().splitlines()[-1:] or ["no message"]
        lines.append(f"FAILED  {module}: the reader ended with {result.returncode}: {end[0]}")
    return lines
