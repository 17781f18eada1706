"""What eager operations were asked for: to run in the background, and what becomes of inputs.

They run as they are called, and inputs on other devices are copied, whatever is asked; a program
gets back what it said.
"""

from __future__ import annotations

import threading

from penstock.client.session_defaults import forgotten_with_settings

SYNC, ASYNC = 0, 1
DEVICE_PLACEMENT_EXPLICIT = 0
DEVICE_PLACEMENT_WARN = 1
DEVICE_PLACEMENT_SILENT = 2
DEVICE_PLACEMENT_SILENT_FOR_INT32 = 3


class EagerSettings:
    """The device policy of all threads, and the execution mode of each."""

    def __init__(self, device_policy: int | None = None, execution_mode: int | None = None):
        self.start_with(device_policy, execution_mode)

    def start_with(
        self, device_policy: int | None = None, execution_mode: int | None = None
    ) -> None:
        """Forgets what was set; None stands for what TensorFlow begins with."""
        self.device_policy = DEVICE_PLACEMENT_SILENT if device_policy is None else device_policy
        self._first_execution_mode = SYNC if execution_mode is None else execution_mode
        self._local = threading.local()

    @property
    def execution_mode(self) -> int:
        return int(getattr(self._local, "execution_mode", self._first_execution_mode))

    @execution_mode.setter
    def execution_mode(self, mode: int | None) -> None:
        if mode not in (None, SYNC, ASYNC):
            raise ValueError(f"Execution mode should be None/SYNC/ASYNC. Got {mode}")
        self._local.execution_mode = SYNC if mode is None else mode


#: Those that hold for the operations of the process.
eager_settings = EagerSettings()
forgotten_with_settings(eager_settings.start_with)
