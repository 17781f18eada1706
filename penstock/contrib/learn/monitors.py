"""`tf.contrib.learn.monitors`: what hooks were called before."""

from __future__ import annotations

from penstock.contrib.learn.export_monitor import ExportMonitor
from penstock.contrib.learn.monitor_base import (
    BaseMonitor,
    EveryN,
    RunHookAdapterForMonitors,
    replace_monitors_with_hooks,
)
from penstock.contrib.learn.monitors_of_training import (
    CheckpointSaver,
    StepCounter,
    SummarySaver,
    ValidationMonitor,
    get_default_monitors,
)
from penstock.contrib.learn.monitors_of_values import (
    CaptureVariable,
    GraphDump,
    LoggingTrainable,
    NanLoss,
    PrintTensor,
    StopAtStep,
    _extract_output,
)
from penstock.train.basic_session_run_hooks import NanLossDuringTrainingError, _as_graph_element

__all__ = [
    "BaseMonitor",
    "CaptureVariable",
    "CheckpointSaver",
    "EveryN",
    "ExportMonitor",
    "GraphDump",
    "LoggingTrainable",
    "NanLoss",
    "NanLossDuringTrainingError",
    "PrintTensor",
    "RunHookAdapterForMonitors",
    "StepCounter",
    "StopAtStep",
    "SummarySaver",
    "ValidationMonitor",
    "_as_graph_element",
    "_extract_output",
    "get_default_monitors",
    "replace_monitors_with_hooks",
]
