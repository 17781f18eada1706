"""`tf.keras.utils.Progbar`: how far a loop has come, on the terminal."""

from __future__ import annotations

import math
import sys
import time
from typing import Any

import numpy as np

__all__ = ["Progbar"]


class Progbar:
    """A progress bar with values.

    Args:
      target: number of steps, None if it is unknown.
      verbose: 1 for a bar, 2 for a line at the end, 0 for nothing.
      interval: shortest time between two updates of the bar, in seconds.
      stateful_metrics: names of values to show as they are; others are averaged.
    """

    def __init__(
        self,
        target: int | None,
        width: int = 30,
        verbose: int = 1,
        interval: float = 0.05,
        stateful_metrics: Any = None,
        unit_name: str = "step",
    ):
        self.target = target
        self.width = width
        self.verbose = verbose
        self.interval = interval
        self.unit_name = unit_name
        self.stateful_metrics = set(stateful_metrics or ())
        self._written = 0
        self._seen_so_far = 0
        # Sums and weights of averaged values, in the order in which they first came.
        self._values: dict[str, Any] = {}
        self._start = time.time()
        self._last_update = 0.0

    def add(self, n: int, values: Any = None) -> None:
        """Goes on by `n` steps, with (name, value) pairs."""
        self.update(self._seen_so_far + n, values)

    def update(self, current: int, values: Any = None) -> None:
        """Shows that step `current` is reached, with (name, value) pairs."""
        for name, value in values or []:
            if name in self.stateful_metrics:
                self._values[name] = value
            else:
                steps = max(current - self._seen_so_far, 1)
                total, count = self._values.get(name, (0.0, 0))
                self._values[name] = (total + value * steps, count + steps)
        self._seen_so_far = current
        now = time.time()
        is_done = self.target is not None and current >= self.target
        if self.verbose == 1:
            if now - self._last_update < self.interval and not is_done:
                return
            self._write(self._bar(current) + self._timing(current, now) + self._shown(), is_done)
            self._last_update = now
        elif self.verbose == 2 and is_done:
            timing = f"{self._count(current)} - {now - self._start:.0f}s"
            self._write(timing + self._shown(), True)

    def _count(self, current: int) -> str:
        if self.target is None:
            return f"{current:>7}/Unknown"
        return f"{current:>{int(math.log10(max(self.target, 1))) + 1}}/{self.target}"

    def _bar(self, current: int) -> str:
        if self.target is None:
            return self._count(current)
        filled = int(self.width * current / max(self.target, 1))
        bar = "=" * max(filled - 1, 0)
        if filled > 0:
            bar += ">" if current < self.target else "="
        return f"{self._count(current)} [{bar}{'.' * (self.width - filled)}]"

    def _timing(self, current: int, now: float) -> str:
        per_unit = (now - self._start) / current if current else 0.0
        if self.target is not None and current < self.target:
            left = per_unit * (self.target - current)
            if left > 3600:
                text = f"{left // 3600:.0f}:{left % 3600 // 60:02.0f}:{left % 60:02.0f}"
            elif left > 60:
                text = f"{left // 60:.0f}:{left % 60:02.0f}"
            else:
                text = f"{left:.0f}s"
            return f" - ETA: {text}"
        if per_unit >= 1 or per_unit == 0:
            each = f"{per_unit:.0f}s"
        elif per_unit >= 1e-3:
            each = f"{per_unit * 1e3:.0f}ms"
        else:
            each = f"{per_unit * 1e6:.0f}us"
        return f" - {now - self._start:.0f}s {each}/{self.unit_name}"

    def _shown(self) -> str:
        text = ""
        for name, value in self._values.items():
            if isinstance(value, tuple):
                value = value[0] / max(1, value[1])
            if isinstance(value, (float, np.ndarray)):
                value = float(np.mean(value))
            is_number = isinstance(value, (int, float, np.generic))
            shown = (
                value
                if not is_number
                else f"{value:.4f}"
                if abs(value) > 1e-3
                else (f"{value:.4e}")
            )
            text += f" - {name}: {shown}"
        return text

    def _write(self, text: str, is_done: bool) -> None:
        if self.verbose == 1:
            text = "\r" + text.ljust(self._written)
            self._written = len(text)
        sys.stdout.write(text + ("\n" if is_done else ""))
        sys.stdout.flush()
