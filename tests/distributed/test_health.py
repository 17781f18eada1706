"""The detectors of failures and of the end of a job, without sockets and clocks."""

import logging

import pytest

from penstock.distributed.abandonment import VARIABLE, Abandonment, limit_of_environment
from penstock.distributed.departures import Departures, chief_of
from penstock.distributed.health import Advice, Watch

CHIEF, OTHER, PS = (
    f"/job:{job}/replica:0/task:{i}" for job, i in [("worker", 0), ("worker", 1), ("ps", 0)]
)


# Silence --------------------------------------------------------------------------------------


def test_a_connection_that_answers_is_asked_again_and_again():
    watch = Watch(patience=10.0)
    for now in range(0, 100, 5):
        assert watch.look(now, heard=now - 1) is Advice.ASK


def test_silence_after_a_question_ends_the_patience():
    watch = Watch(patience=10.0)
    assert watch.look(0.0, heard=-100.0) is Advice.ASK  # nobody had asked
    assert watch.look(5.0, heard=-100.0) is Advice.WAIT
    assert watch.look(9.9, heard=-100.0) is Advice.WAIT
    assert watch.look(10.0, heard=-100.0) is Advice.GIVE_UP


def test_any_byte_is_a_sign_of_life():
    watch = Watch(patience=10.0)
    assert watch.look(0.0, heard=0.0) is Advice.ASK
    assert watch.look(9.0, heard=-1.0) is Advice.WAIT
    assert watch.look(15.0, heard=9.5) is Advice.ASK  # a part of a tensor came in between
    assert watch.look(20.0, heard=9.5) is Advice.WAIT
    assert watch.look(25.0, heard=9.5) is Advice.GIVE_UP


# The end of a job -----------------------------------------------------------------------------


class Ends:
    """Counts how often a job is said to be over."""

    def __init__(self, chief=CHIEF):
        self.count = 0
        self._departures = Departures([CHIEF, OTHER, PS], chief, patience=60.0)
        self.opened, self.lost = self._departures.opened, self._departures.lost

    def left(self, *arguments, **named):
        self.count += self._departures.left(*arguments, **named)

    def look(self, now):
        self.count += self._departures.look(now)


def test_the_chief_is_the_first_of_the_jobs_that_lead():
    assert chief_of([PS, CHIEF, OTHER]) == CHIEF
    chief = "/job:chief/replica:0/task:0"
    assert chief_of([PS, CHIEF, chief]) == chief
    assert chief_of([PS]) is None


def test_a_job_is_over_once_when_all_who_opened_sessions_have_left():
    ends = Ends()
    for task in (CHIEF, OTHER):
        ends.opened(task)
    ends.left(CHIEF, 0.0)
    assert ends.count == 0
    ends.left(OTHER, 0.0)
    ends.lost(OTHER, 1.0)  # its connection is closed, too
    ends.look(100.0)
    assert ends.count == 1


def test_without_its_chief_a_job_is_not_over():
    ends = Ends()
    ends.opened(OTHER)
    ends.left(OTHER, 0.0)
    ends.look(1000.0)
    assert ends.count == 0
    nobody = Ends(chief=None)
    nobody.opened(CHIEF)
    nobody.left(CHIEF, 0.0)
    assert nobody.count == 0


def test_a_lost_chief_may_come_back():
    ends = Ends()
    ends.opened(CHIEF)
    ends.lost(CHIEF, 0.0)
    ends.look(1000.0)
    assert ends.count == 0


def test_a_lost_worker_is_waited_for_but_not_without_end():
    ends = Ends()
    for task in (CHIEF, OTHER):
        ends.opened(task)
    ends.lost(OTHER, 0.0)
    ends.left(CHIEF, 0.0)
    ends.look(30.0)
    assert ends.count == 0
    ends.opened(OTHER)  # started again
    ends.look(100.0)
    assert ends.count == 0
    ends.lost(OTHER, 100.0)
    ends.look(161.0)
    assert ends.count == 1


def test_a_chief_that_opens_another_session_is_back():
    ends = Ends()
    for task in (CHIEF, OTHER):
        ends.opened(task)
    ends.left(CHIEF, 0.0)
    ends.opened(CHIEF)
    ends.left(OTHER, 0.0)
    assert ends.count == 0
    ends.left(CHIEF, 0.0)
    assert ends.count == 1


def test_a_worker_that_was_never_seen_may_be_on_its_way():
    ends = Ends()
    ends.opened(CHIEF)
    ends.left(CHIEF, 10.0)
    ends.look(60.0)
    assert ends.count == 0
    ends.opened(OTHER)
    ends.look(100.0)
    assert ends.count == 0
    ends.left(OTHER, 100.0)
    assert ends.count == 1


def test_a_worker_that_only_serves_the_chief_is_not_waited_for():
    ends = Ends()
    ends.opened(CHIEF)
    ends.left(CHIEF, 10.0, used=[OTHER, PS])
    assert ends.count == 1


def test_a_task_that_is_back_is_not_lost_by_its_former_connection():
    ends = Ends()
    for task in (CHIEF, OTHER):
        ends.opened(task, link=f"first of {task}")
    ends.opened(OTHER, link="second")  # its machine had stopped without a word
    ends.lost(OTHER, 5.0, link=f"first of {OTHER}")  # which is noticed late
    ends.left(CHIEF, 10.0)
    ends.look(1000.0)
    assert ends.count == 0
    ends.lost(OTHER, 1000.0, link="second")
    ends.look(1061.0)
    assert ends.count == 1


# Nobody comes back ----------------------------------------------------------------------------


def test_lost_tasks_are_awaited_when_nobody_is_there():
    departures = Departures([CHIEF, OTHER], CHIEF)
    assert departures.awaited(50.0) == ([], 50.0)  # nobody has come so far: nobody was lost
    departures.opened(CHIEF)
    departures.opened(OTHER)
    departures.lost(CHIEF, 100.0)
    assert departures.awaited(150.0) == ([], 0.0)  # the other one still trains
    departures.left(OTHER, 200.0)
    assert departures.awaited(250.0) == ([CHIEF], 50.0)
    departures.opened(CHIEF)
    assert departures.awaited(250.0) == ([], 0.0)
    departures.left(CHIEF, 300.0)
    assert departures.awaited(350.0) == ([], 0.0)  # the job is over


def test_a_task_that_was_left_alone_says_so_ever_more_seldom_and_gives_up(caplog):
    abandonment = Abandonment(limit=1000.0)
    said = []
    for now in range(0, 1000, 10):
        caplog.clear()
        assert abandonment.look([CHIEF], float(now)) is None
        said += [now for record in caplog.records if CHIEF in record.getMessage()]
    assert said == [60, 120, 240, 480, 960]
    assert {record.levelno for record in caplog.records} <= {logging.WARNING}
    assert CHIEF in abandonment.look([CHIEF, OTHER], 1000.0)


def test_a_task_that_is_used_again_waits_anew(caplog):
    abandonment = Abandonment(limit=1000.0)
    for missing, seconds in (([CHIEF], 500.0), ([], 0.0), ([CHIEF], 70.0)):
        assert abandonment.look(missing, seconds) is None
    assert len(caplog.records) == 2


@pytest.mark.parametrize(("text", "seconds"), [(None, 86400.0), ("90", 90.0), ("0", float("inf"))])
def test_when_a_job_is_given_up(monkeypatch, text, seconds):
    monkeypatch.delenv(VARIABLE, raising=False)
    if text is not None:
        monkeypatch.setenv(VARIABLE, text)
    assert limit_of_environment() == seconds
