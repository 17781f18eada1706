"""What Penstock sets out to reach, as ratios to its peers in the same run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from benchmarks.results import PENSTOCK, Row

FASTEST_PEER = "fastest peer"


@dataclass(frozen=True)
class Target:
    """At most `limit` times another framework's number, or `limit` itself if there is no other."""

    row: str
    limit: float
    against: str | None

    def measured(self, row: Row) -> float | None:
        """The number that the limit is for; None if the run lacks what it takes."""
        if self.against is None:
            return row.cells[PENSTOCK].value if PENSTOCK in row.cells else None
        other = row.fastest_peer() if self.against == FASTEST_PEER else self.against
        return None if other is None else row.ratio_to(other)


TARGETS = (
    Target("null_step", 0.1, "tensorflow"),
    Target("assign_add", 0.1, "tensorflow"),
    Target("mlp", 0.6, "tensorflow"),
    Target("cifar", 1.05, FASTEST_PEER),
    Target("alexnet", 1.05, FASTEST_PEER),
    Target("alexnet_memory", 1.0, "torch"),
    Target("word2vec", 0.6, "tensorflow"),
    Target("counting_loop", 0.5, "tensorflow"),
    Target("ptb_dynamic_rnn", 0.75, "tensorflow"),
    Target("ptb_dynamic_rnn", 1.1, "torch"),
    Target("ptb_while_loop", 0.75, "tensorflow"),
    Target("ptb_while_loop", 1.1, "torch"),
    Target("queue_pair", 0.3, "tensorflow"),
    Target("queue_input", 1.0, "tensorflow"),
    Target("queue_input_several", 1.0, "tensorflow"),
    Target("data_records", 1.0, "tensorflow"),
    Target("data_record_batches", 1.0, "tensorflow"),
    Target("data_images", 1.0, "tensorflow"),
    Target("graph_building", 1.0, "tensorflow"),
    Target("import_time", 500.0, None),
)


def judge(rows: Sequence[Row]) -> list[tuple[Target, Row, float | None]]:
    """The targets for these rows with what was measured, None where a number is missing."""
    by_name: Mapping[str, Row] = {row.name: row for row in rows}
    return [
        (target, by_name[target.row], target.measured(by_name[target.row]))
        for target in TARGETS
        if target.row in by_name
    ]
