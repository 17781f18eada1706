"""Threads below kernels sleep soon in a task of a cluster: others want its processors."""

import os
import subprocess
import sys

import pytest

from penstock.distributed.kernel_waits import shorten_kernel_waits

_WHEN_TORCH_IS_LOADED = """
import os, sys
import penstock as tf

class Watch:
    def find_spec(self, name, path=None, target=None):
        if name == "torch":
            print(os.environ.get("GOMP_SPINCOUNT"))
            os._exit(0)

assert "GOMP_SPINCOUNT" not in os.environ
sys.stdout.reconfigure(line_buffering=True)
sys.meta_path.insert(0, Watch())
tf.train.Server.create_local_server()
"""


def test_openmp_is_told_before_torch_is_loaded() -> None:
    known = {name: text for name, text in os.environ.items() if name != "GOMP_SPINCOUNT"}
    process = subprocess.run(
        [sys.executable, "-c", _WHEN_TORCH_IS_LOADED],
        env=known,
        capture_output=True,
        text=True,
        check=True,
    )
    assert process.stdout == "1000\n"


@pytest.mark.parametrize(
    "chosen", [{"GOMP_SPINCOUNT": "300000"}, {"OMP_WAIT_POLICY": "ACTIVE"}], ids=str
)
def test_what_the_user_has_chosen_stays(
    chosen: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GOMP_SPINCOUNT", raising=False)
    monkeypatch.delenv("OMP_WAIT_POLICY", raising=False)
    for name, text in chosen.items():
        monkeypatch.setenv(name, text)
    shorten_kernel_waits()
    found = {
        name: os.environ[name]
        for name in ("GOMP_SPINCOUNT", "OMP_WAIT_POLICY")
        if name in os.environ
    }
    assert found == chosen
