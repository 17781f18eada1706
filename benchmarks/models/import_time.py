"""Importing the framework: a step starts a fresh Python that does it, and waits for its end.

All frameworks have their byte code: installers leave the peers', and Penstock's is written by the
first import, whatever the environment of this process says of that.
"""

import os
import subprocess
import sys
from functools import partial
from typing import Any

from benchmarks.model import Model, Program


def run_python(code: str) -> None:
    environment = {key: os.environ[key] for key in os.environ if key != "PYTHONDONTWRITEBYTECODE"}
    command = [sys.executable, "-c", code]
    subprocess.run(command, check=True, stdout=sys.stderr, env=environment)


def build(statement: str, framework: Any, variant: str) -> Program:
    return Program(step=lambda: run_python(statement), observe=lambda: 0.0)


def build_penstock(framework: Any, variant: str) -> Program:
    """As `build`; fails if importing Penstock brings PyTorch with it."""
    run_python("import sys, penstock; sys.exit('torch' in sys.modules)")
    return build("import penstock", framework, variant)


MODEL = Model(
    title="importing, in a new process",
    steps=1,
    builders={
        "penstock": build_penstock,
        "tensorflow": partial(build, "import tensorflow.compat.v1"),
        "torch": partial(build, "import torch"),
        "jax": partial(build, "import jax"),
    },
    check_steps=0,
)
