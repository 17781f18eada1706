"""What runs: for each op type its implementation on ATen, or on the host.

Importing this package imports torch and registers every kernel; the first session does so.
"""

from importlib import import_module

_FAMILIES = (
    "constants",
    "control",
    "control_flow",
    "debugging",
    "script",
)

for _family in _FAMILIES:
    import_module(f"{__name__}.{_family}")
