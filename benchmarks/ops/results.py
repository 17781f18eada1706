"""What was measured, and the file that keeps it from run to run."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median

SIDES = ("penstock", "tensorflow")


@dataclass(frozen=True)
class Result:
    """An op at one size: seconds of one op in each round, or the reason why there are none."""

    op_type: str
    size: int
    rounds: dict[str, list[float]] = field(default_factory=dict)
    failure: str | None = None

    def seconds(self, side: str) -> float:
        return median(self.rounds[side])

    @property
    def ratio(self) -> float | None:
        """Penstock's time in units of TensorFlow's."""
        return None if self.failure else self.seconds("penstock") / self.seconds("tensorflow")


@dataclass
class Results:
    """The last result of each op and size, and what they were measured with."""

    versions: dict[str, str] = field(default_factory=dict)
    threads: int = 0
    measured: dict[tuple[str, int], Result] = field(default_factory=dict)

    def add(self, result: Result) -> None:
        self.measured[result.op_type, result.size] = result

    def of(self, op_types: Sequence[str]) -> list[Result]:
        return [result for (name, _), result in self.measured.items() if name in op_types]

    @classmethod
    def load(cls, path: Path) -> "Results":
        """The results in a file; none if there is no file."""
        if not path.exists():
            return cls()
        content = json.loads(path.read_text())
        results = cls(content["versions"], content["threads"])
        for entry in content["measured"]:
            results.add(Result(**entry))
        return results

    def save(self, path: Path) -> None:
        measured = [asdict(result) for result in self.measured.values()]
        content = {"versions": self.versions, "threads": self.threads, "measured": measured}
        path.write_text(json.dumps(content))
