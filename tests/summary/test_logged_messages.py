"""Log messages that become events of a summary writer."""

from __future__ import annotations

import pathlib
from collections.abc import Iterator

import pytest

import penstock as tf
from penstock.proto import LogMessage
from penstock.summary import logged_messages as log


@pytest.fixture(autouse=True)
def _restored() -> Iterator[None]:
    yield
    log.set_verbosity(log.WARN)
    log._clear_summary_writer()


def test_messages_of_a_level_become_events(tmp_path: pathlib.Path) -> None:
    with tf.summary.FileWriter(str(tmp_path)) as writer:
        log.set_summary_writer(writer)
        log.info("not kept")
        log.error("lost %d", 3)
        log.set_verbosity(log.DEBUG)
        log.debug("seen")
    (path,) = tmp_path.iterdir()
    entries = [event.log_message for event in tf.train.summary_iterator(str(path))][1:]
    assert [(entry.level, entry.message) for entry in entries] == [
        (LogMessage.ERROR, "lost 3"),
        (LogMessage.DEBUGGING, "seen"),
    ]


def test_a_writer_has_to_be_chosen_and_may_be_none() -> None:
    with pytest.raises(RuntimeError, match="set_summary_writer"):
        log.warn("where to?")
    log.set_summary_writer(None)
    log.warn("only logged")


def test_unknown_levels_are_refused() -> None:
    log.set_summary_writer(None)
    with pytest.raises(ValueError, match="verbosity"):
        log.set_verbosity("loud")
    with pytest.raises(ValueError, match="verbosity"):
        log.log("loud", "text")
    assert log.get_verbosity() == log.WARN
