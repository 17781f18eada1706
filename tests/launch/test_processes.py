"""Jobs as processes: prefixed output, restarts, the end of those that serve."""

import sys

from penstock.distributed.launch.job import Job
from penstock.distributed.launch.processes import LocalLauncher, free_addresses

PROGRAM = """
import json, os, pathlib, sys, time
task = json.loads(os.environ["TF_CONFIG"])["task"]
print("hello from", task["type"])
if task["type"] == "ps":
    time.sleep(600)
marker = pathlib.Path(sys.argv[1])
if not marker.exists():
    marker.write_text("failed once")
    sys.exit(7)
"""


def test_a_job_with_a_worker_that_fails_once(tmp_path, capsys):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    addresses = free_addresses(2)
    job = Job({"ps": addresses[:1], "worker": addresses[1:]})
    command = [sys.executable, str(program), str(tmp_path / "marker")]
    launcher = LocalLauncher(job, command, restarts=2)
    assert launcher.run() == 0
    printed = capsys.readouterr()
    assert printed.out.count("[worker 0] hello from worker") == 2
    assert "[ps 0] hello from ps" in printed.out
    assert "worker 0 ended with status 7; it is started again" in printed.err
    assert all(process.poll() is not None for process in launcher._processes.values())


def test_a_job_that_fails(tmp_path, capsys):
    job = Job({"worker": free_addresses(1)})
    command = [sys.executable, "-c", "raise SystemExit(4)"]
    assert LocalLauncher(job, command, restarts=0).run() == 4
    assert "the job has failed" in capsys.readouterr().err
