"""A training run's files, and a TensorBoard that shows them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.tensorboard import board, training_run


@pytest.fixture(scope="module")
def logdir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("logs")
    training_run.write(made)
    return made


@pytest.fixture(scope="module")
def shown(logdir: Path) -> Iterator[board.Board]:
    with board.started(logdir) as running:
        board.wait_for(
            lambda: running.ask("plugin/graphs/info").get(training_run.RUN, {}).get("tags"),
            "trace in TensorBoard",
        )
        yield running
