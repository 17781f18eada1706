"""kill -9 of any task at any time: training goes on, and comes to the right end."""

import os
import random
import re
import time

import numpy as np
import pytest

from tests.cluster.nursery import until
from tests.cluster.programs import OFFSET, TRUTH

TASKS = [("ps", 0), ("ps", 1), ("worker", 0), ("worker", 1)]
# `make soak` asks for more kills in each run, at other times.
KILLS = int(os.environ.get("PENSTOCK_TEST_KILLS", "18"))
SEED = int(os.environ.get("PENSTOCK_TEST_SEED", "1"))


class Job:
    """A training job whose tasks are started again whenever they are killed."""

    def __init__(self, cluster, **settings):
        self._cluster = cluster
        self._settings = settings
        self.folder = cluster.folder / "model"
        self.folder.mkdir()

    def start(self, task):
        self._cluster.start(*task, "train", str(self.folder), self._settings)

    def start_all(self):
        for task in TASKS:
            self.start(task)

    def kill(self, task):
        self._cluster.tasks[task].kill()

    def chief_says(self, pattern):
        return re.findall(pattern, self._cluster.tasks["worker", 0].text, re.MULTILINE)

    def steps(self):
        """How many steps the chief has made so far, whatever has become of them."""
        return len(self.chief_says(r"^step \d+$"))

    def last_step(self):
        return int(self.chief_says(r"^step (\d+)$")[-1])

    def await_steps(self, count):
        goal = self.steps() + count
        until(lambda: self.steps() >= goal, "progress")

    def end_at(self, step):
        """Ends the training at a step, waits until all tasks have gone; the final weights."""
        file = self.folder / "new"
        file.write_text(str(step))
        file.rename(self.folder / "last_step")
        for task in self._cluster.tasks.values():
            assert task.wait() == 0
        weights, offset = self.chief_says("^result (.*) (.*)$")[-1]
        return [np.frombuffer(bytes.fromhex(text), np.float32) for text in (weights, offset)]


@pytest.fixture
def make_job(make_cluster, request):
    made = []

    def make(**settings):
        made.append(make_cluster(ps=2, worker=2))
        return Job(made[-1], **settings)

    yield make
    if request.node.failed:
        print(*[cluster.texts() for cluster in made])


def kill_at_random(job, seed, kills):
    generator = random.Random(seed)
    for _ in range(kills):
        task = generator.choice(TASKS)
        time.sleep(generator.uniform(0.0, 0.2))
        job.kill(task)
        time.sleep(generator.choice([0.0, 0.0, 0.1]))
        job.start(task)
        if generator.random() < 0.7:  # else the next one is killed while this one comes back
            job.await_steps(2)


def check_sessions(job):
    """Every session of the chief began with all that the last checkpoint had."""
    sessions = job.chief_says(r"^session (\d+) (\d+)$")
    assert sessions
    for step, saved in sessions:
        assert int(step) >= int(saved)


def check_result(job):
    """Lets a job train on for as long as it takes to find the answer, and ends it."""
    weights, offset = job.end_at(job.last_step() + 150)
    np.testing.assert_allclose(weights, TRUTH, atol=0.02)
    np.testing.assert_allclose(offset, OFFSET, atol=0.02)


@pytest.mark.parametrize("seed", [SEED, SEED + 1])
def test_asynchronous_training_survives_kills(make_job, seed):
    job = make_job()
    job.start_all()
    job.await_steps(1)
    kill_at_random(job, seed, KILLS)
    job.await_steps(1)
    check_result(job)
    check_sessions(job)


def test_synchronous_training_survives_kills(make_job):
    job = make_job(sync=2, save_steps=10)
    job.start_all()
    job.await_steps(1)
    kill_at_random(job, SEED + 2, KILLS)
    job.await_steps(1)
    check_result(job)
    check_sessions(job)


def test_a_synchronous_run_that_was_killed_ends_as_one_that_was_not(make_job):
    """To the last bit: all that a step depends on is in the checkpoint, or follows from it."""
    settings = {"sync": 2, "tokens": 0, "save_steps": 7}
    whole = make_job(**settings)
    whole.start_all()
    expected = whole.end_at(60)
    resumed = make_job(**settings)
    generator = random.Random(SEED + 3)
    for _ in range(2):
        resumed.start_all()
        resumed.await_steps(generator.randrange(8, 20))
        for task in TASKS:
            resumed.kill(task)
    resumed.start_all()
    found = resumed.end_at(60)
    assert len(resumed.chief_says("^session [1-9]")) == 2
    assert [value.tobytes() for value in found] == [value.tobytes() for value in expected]
