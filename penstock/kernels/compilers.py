"""The C++ compiler of this machine, and how it is run beside steps."""

from __future__ import annotations

import ctypes
import logging
import shutil
import subprocess
import tempfile
from pathlib import Path

_log = logging.getLogger("penstock.fusion")


def compiler() -> str | None:
    """The path of a C++ compiler; None where there is none."""
    found = (shutil.which(name) for name in ("g++", "clang++", "c++"))
    return next((path for path in found if path is not None), None)


def with_low_priority(command: list[str]) -> list[str]:
    """A command that gives way to steps, but gets done beside them.

    Kernels' threads look for work without a pause: with the lowest priority a compiler starves as
    long as steps run. On two processors a recurrent network's regions took a minute so, steps 1.5
    times as long meanwhile; more than 200 s with priority 10, and steps thrice as long with 0.
    """
    found = shutil.which("nice")
    return [found, "-n", "3", *command] if found else command


def shared_library(text: str, *options: str) -> ctypes.CDLL | None:
    """The library that C++ source compiles to; None where there is no compiler, or it fails."""
    found = compiler()
    if found is None:
        return None
    with tempfile.TemporaryDirectory(prefix="penstock-native-") as folder:
        source, library = Path(folder, "source.cpp"), Path(folder, "library.so")
        source.write_text(text)
        command = [found, "-O3", *options, "-shared", "-fPIC", "-o", str(library), str(source)]
        made = subprocess.run(with_low_priority(command), capture_output=True, check=False)
        if made.returncode != 0:
            _log.info("C++ is not compiled: %s", made.stderr.decode(errors="replace"))
            return None
        return ctypes.CDLL(str(library))
