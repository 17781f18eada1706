"""When a hook acts: every so many steps or seconds, or never."""

from __future__ import annotations

import time

__all__ = ["NeverTriggerTimer", "SecondOrStepTimer"]


class _HookTimer:
    """Decides at which steps a hook acts."""

    def reset(self) -> None:
        """Forgets earlier triggers."""

    def should_trigger_for_step(self, step: int) -> bool:
        """Whether the hook is to act at this step."""
        raise NotImplementedError

    def update_last_triggered_step(self, step: int) -> tuple[float | None, int | None]:
        """Notes that the hook acted; returns the seconds and steps since it last did."""
        raise NotImplementedError

    def last_triggered_step(self) -> int | None:
        """The step at which the hook last acted."""
        raise NotImplementedError


class SecondOrStepTimer(_HookTimer):
    """Triggers at the first step, then every `every_secs` seconds or every `every_steps` steps."""

    def __init__(self, every_secs: float | None = None, every_steps: int | None = None):
        if every_secs is None and every_steps is None:
            raise ValueError("Either every_secs or every_steps should be provided.")
        if every_secs is not None and every_steps is not None:
            raise ValueError("Can not provide both every_secs and every_steps.")
        self._every_secs = every_secs
        self._every_steps = every_steps
        self.reset()

    def reset(self) -> None:
        self._last_triggered_step: int | None = None
        self._last_triggered_time: float | None = None

    def should_trigger_for_step(self, step: int) -> bool:
        last_step, last_time = self._last_triggered_step, self._last_triggered_time
        if last_step is None or last_time is None:
            return True
        if step == last_step:
            return False
        if self._every_secs is not None:
            return time.time() >= last_time + self._every_secs
        assert self._every_steps is not None
        return bool(step >= last_step + self._every_steps)

    def update_last_triggered_step(self, step: int) -> tuple[float | None, int | None]:
        now = time.time()
        elapsed: tuple[float | None, int | None] = (None, None)
        if self._last_triggered_time is not None and self._last_triggered_step is not None:
            elapsed = now - self._last_triggered_time, step - self._last_triggered_step
        self._last_triggered_time, self._last_triggered_step = now, step
        return elapsed

    def last_triggered_step(self) -> int | None:
        return self._last_triggered_step


class NeverTriggerTimer(_HookTimer):
    """A timer that never triggers."""

    def should_trigger_for_step(self, step: int) -> bool:
        return False

    def update_last_triggered_step(self, step: int) -> tuple[float | None, int | None]:
        return None, None

    def last_triggered_step(self) -> int | None:
        return None
