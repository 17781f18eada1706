"""`FakeSummaryWriter`: keeps what is written, for tests of code that writes summaries."""

# ruff: noqa: PT009 - the test case is one of unittest's, and belongs to the caller

from __future__ import annotations

from typing import Any, ClassVar

from penstock.proto import Summary
from penstock.summary import file_writer
from penstock.testing.graph_compare import assert_meta_graph_protos_equal


def _check_step(global_step: Any) -> None:
    if global_step is not None and global_step < 0:
        raise ValueError(f"Invalid global_step {global_step}.")


class FakeSummaryWriter:
    """A writer without files, which `install()` puts in the place of `FileWriterCache`'s."""

    _replaced_summary_writer: ClassVar[Any] = None

    @classmethod
    def install(cls) -> None:
        """Makes new writers of `FileWriterCache` fakes."""
        if cls._replaced_summary_writer:
            raise ValueError("FakeSummaryWriter already installed.")
        cls._replaced_summary_writer = file_writer.FileWriter
        file_writer.FileWriter = FakeSummaryWriter  # type: ignore[assignment,misc]

    @classmethod
    def uninstall(cls) -> None:
        """Puts the real writer back."""
        if not cls._replaced_summary_writer:
            raise ValueError("FakeSummaryWriter not installed.")
        file_writer.FileWriter = cls._replaced_summary_writer  # type: ignore[misc]
        cls._replaced_summary_writer = None

    def __init__(self, logdir: str, graph: Any = None):
        self._logdir = logdir
        self._graph = graph
        self._summaries: dict[Any, list[Any]] = {}
        self._added_graphs: list[Any] = []
        self._added_meta_graphs: list[Any] = []
        self._added_session_logs: list[Any] = []
        self._added_run_metadata: dict[str, Any] = {}

    @property
    def summaries(self) -> dict[Any, list[Any]]:
        """The summaries by step."""
        return self._summaries

    def assert_summaries(
        self,
        test_case: Any,
        expected_logdir: str | None = None,
        expected_graph: Any = None,
        expected_summaries: Any = None,
        expected_added_graphs: Any = None,
        expected_added_meta_graphs: Any = None,
        expected_session_logs: Any = None,
    ) -> None:
        """Checks what was written, as far as it is given."""
        if expected_logdir is not None:
            test_case.assertEqual(expected_logdir, self._logdir)
        if expected_graph is not None:
            test_case.assertTrue(expected_graph is self._graph)
        for step, expected in (expected_summaries or {}).items():
            test_case.assertTrue(
                step in self._summaries, msg=f"Missing step {step} from {self._summaries.keys()}."
            )
            actual = {
                value.tag: value.simple_value
                for summary in self._summaries[step]
                for value in summary.value
                if value.tag != "global_step/sec"
            }
            test_case.assertEqual(expected, actual)
        if expected_added_graphs is not None:
            test_case.assertEqual(expected_added_graphs, self._added_graphs)
        if expected_added_meta_graphs is not None:
            test_case.assertEqual(len(expected_added_meta_graphs), len(self._added_meta_graphs))
            pairs = zip(expected_added_meta_graphs, self._added_meta_graphs, strict=True)
            for wanted, written in pairs:
                assert_meta_graph_protos_equal(test_case, wanted, written)
        if expected_session_logs is not None:
            test_case.assertEqual(expected_session_logs, self._added_session_logs)

    def add_summary(self, summ: Any, current_global_step: Any) -> None:
        if isinstance(summ, bytes):
            summ = Summary.FromString(summ)
        self._summaries.setdefault(current_global_step, []).append(summ)

    def add_graph(self, graph: Any, global_step: Any = None, graph_def: Any = None) -> None:
        _check_step(global_step)
        if graph_def is not None:
            raise ValueError(f"Unexpected graph_def {graph_def}.")
        self._added_graphs.append(graph)

    def add_meta_graph(self, meta_graph_def: Any, global_step: Any = None) -> None:
        _check_step(global_step)
        self._added_meta_graphs.append(meta_graph_def)

    def add_session_log(self, session_log: Any, global_step: Any = None) -> None:
        self._added_session_logs.append(session_log)

    def add_run_metadata(self, run_metadata: Any, tag: str, global_step: Any = None) -> None:
        _check_step(global_step)
        self._added_run_metadata[tag] = run_metadata

    def flush(self) -> None:
        """Nothing waits to be written."""

    def reopen(self) -> None:
        """There is no file."""

    def close(self) -> None:
        """There is no file."""
