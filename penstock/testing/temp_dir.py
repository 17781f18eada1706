"""The directory for the files of a test run."""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import tempfile
from functools import cache


@cache
def get_temp_dir() -> str:
    """A directory for the tests of this process, which is deleted when it ends."""
    parent = os.environ.get("TEST_TMPDIR")
    if parent:
        made = tempfile.mkdtemp(prefix=parent)
    else:
        program = os.path.basename(sys.argv[0] if sys.argv else "") or "tests"
        made = tempfile.mkdtemp(prefix=os.path.splitext(program)[0])
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    return made
