"""docs/compatibility.md says what the registry and the API say."""

import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).parents[2]


def test_the_page_is_up_to_date():
    checked = subprocess.run(
        [sys.executable, str(ROOT / "tools" / "compatibility.py"), "--check"],
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    assert checked.returncode == 0, checked.stderr
