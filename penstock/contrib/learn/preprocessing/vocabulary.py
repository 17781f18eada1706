"""Categories by number."""

from __future__ import annotations

from collections import Counter
from typing import Any


class CategoricalVocabulary:
    """Gives each category a number, in the order in which they are first met; 0 is the unknown.

    Args:
      unknown_token: the name of number 0.
      support_reverse: whether categories can be found by number.
    """

    def __init__(self, unknown_token: str = "<UNK>", support_reverse: bool = True):
        self._unknown_token = unknown_token
        self._mapping: dict[Any, int] = {unknown_token: 0}
        self._support_reverse = support_reverse
        self._reverse_mapping = [unknown_token]
        self._freq: Counter[Any] = Counter()
        self._freeze = False

    def __len__(self) -> int:
        return len(self._mapping)

    def freeze(self, freeze: bool = True) -> None:
        """From now on new categories are unknown; or not any more."""
        self._freeze = freeze

    def get(self, category: Any) -> int:
        """The number of a category; a new one unless the vocabulary is frozen."""
        if category not in self._mapping:
            if self._freeze:
                return 0
            self._mapping[category] = len(self._mapping)
            self._reverse_mapping.append(category)
        return self._mapping[category]

    def add(self, category: Any, count: int = 1) -> None:
        """Counts a category."""
        if self.get(category) > 0:
            self._freq[category] += count

    def trim(self, min_frequency: int, max_frequency: int = -1) -> None:
        """Leaves only categories that are frequent, but not too frequent, most frequent first."""
        by_frequency = sorted(
            self._freq.items(), key=lambda item: (-item[1], isinstance(item[0], str), item[0])
        )
        kept = [
            (category, count)
            for category, count in by_frequency
            if count > min_frequency and not 0 < max_frequency <= count
        ]
        self._reverse_mapping = [self._unknown_token, *(category for category, _ in kept)]
        self._mapping = {category: i for i, category in enumerate(self._reverse_mapping)}
        self._freq = Counter(dict(kept))

    def reverse(self, class_id: int) -> Any:
        """The category of a number."""
        if not self._support_reverse:
            raise ValueError(
                "This vocabulary wasn't initialized with support_reverse to support reverse() "
                "function."
            )
        return self._reverse_mapping[class_id]

    def as_plain(self) -> dict[str, Any]:
        """The vocabulary as plain values, for a file."""
        return {
            "categories": self._reverse_mapping,
            "counts": [self._freq[category] for category in self._reverse_mapping],
            "support_reverse": self._support_reverse,
            "frozen": self._freeze,
        }

    @classmethod
    def from_plain(cls, plain: dict[str, Any]) -> CategoricalVocabulary:
        """The vocabulary that `as_plain` described."""
        categories = plain["categories"]
        made = cls(categories[0], plain["support_reverse"])
        for category, count in zip(categories[1:], plain["counts"][1:], strict=True):
            made.get(category)
            made._freq[category] = count
        made.freeze(plain["frozen"])
        return made
