"""Monitors of what tensors are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

import penstock as tf
from penstock.contrib.learn.monitor_base import BaseMonitor, EveryN
from penstock.ir.defaults import get_default_graph
from penstock.platform import logging
from penstock.train.basic_session_run_hooks import NanLossDuringTrainingError


def _extract_output(outputs: Mapping[Any, Any], request: Any) -> Any:
    """What was asked for, by itself or by its name."""
    return outputs[request] if request in outputs else outputs[request.name]


def _listed(names: Mapping[str, Any], outputs: Mapping[Any, Any]) -> str:
    return ", ".join(
        f"{tag} = {_extract_output(outputs, name)!s}"
        for tag, name in names.items()
        if name in outputs
    )


class StopAtStep(BaseMonitor):
    """Stops training after so many steps, or at a step."""

    def __init__(self, num_steps: int | None = None, last_step: int | None = None):
        super().__init__()
        if num_steps is None and last_step is None:
            raise ValueError("One of num_steps or last_step must be specified.")
        if num_steps is not None and last_step is not None:
            raise ValueError("Only one of num_steps or last_step can be specified.")
        self._num_steps = num_steps
        self._last_step = last_step

    @property
    def run_on_all_workers(self) -> bool:
        return True

    def step_begin(self, step: int) -> Sequence[Any]:
        super().step_begin(step)
        if self._last_step is None:
            assert self._num_steps is not None
            self._last_step = step + self._num_steps - 1
        return []

    def step_end(self, step: int, output: Mapping[Any, Any]) -> bool:
        super().step_end(step, output)
        return self._last_step is not None and step >= self._last_step


class PrintTensor(EveryN):
    """Logs tensors.

    Args:
      tensor_names: names of tensors, a list or a dict by tags.
    """

    def __init__(self, tensor_names: Any, every_n: int = 100, first_n: int = 1):
        super().__init__(every_n, first_n)
        if not isinstance(tensor_names, dict):
            tensor_names = {name: name for name in tensor_names}
        self._tensor_names = tensor_names

    def every_n_step_begin(self, step: int) -> Sequence[Any]:
        return list(self._tensor_names.values())

    def every_n_step_end(self, step: int, outputs: Mapping[Any, Any]) -> None:
        logging.info("Step %d: %s", step, _listed(self._tensor_names, outputs))


class LoggingTrainable(EveryN):
    """Logs the variables that are trained, of a scope."""

    def __init__(self, scope: str | None = None, every_n: int = 100, first_n: int = 1):
        super().__init__(every_n, first_n)
        self._scope = scope
        self._names: dict[str, str] = {}

    def every_n_step_begin(self, step: int) -> Sequence[Any]:
        variables = tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES, scope=self._scope)
        self._names = {variable.name: variable.value().name for variable in variables}
        return list(self._names.values())

    def every_n_step_end(self, step: int, outputs: Mapping[Any, Any]) -> None:
        logging.info("Logging Trainable: Step %d: %s", step, _listed(self._names, outputs))


class CaptureVariable(EveryN):
    """Keeps the values of a variable, by steps.

    Args:
      var_name: the name of its tensor.
    """

    def __init__(self, var_name: str, every_n: int = 100, first_n: int = 1):
        super().__init__(every_n, first_n)
        self._var_name = var_name
        self._var_values: dict[int, Any] = {}

    @property
    def values(self) -> dict[int, Any]:
        """The values."""
        return self._var_values

    def every_n_step_begin(self, step: int) -> Sequence[Any]:
        return [self._var_name]

    def every_n_step_end(self, step: int, outputs: Mapping[Any, Any]) -> None:
        self._var_values[step] = _extract_output(outputs, self._var_name)


class NanLoss(EveryN):
    """Stops training when a loss is not a number.

    Args:
      fail_on_nan_loss: whether by an error.
    """

    def __init__(self, loss_tensor: Any, every_n_steps: int = 100, fail_on_nan_loss: bool = True):
        super().__init__(every_n_steps=every_n_steps)
        self._loss_tensor = loss_tensor
        self._fail_on_nan_loss = fail_on_nan_loss

    def every_n_step_begin(self, step: int) -> Sequence[Any]:
        return [self._loss_tensor]

    def every_n_step_end(self, step: int, outputs: Mapping[Any, Any]) -> bool:
        if not np.isnan(_extract_output(outputs, self._loss_tensor)):
            return False
        problem = "Model diverged with loss = NaN."
        if self._fail_on_nan_loss:
            logging.error(problem)
            raise NanLossDuringTrainingError
        logging.warning(problem)
        return True


class GraphDump(BaseMonitor):
    """Keeps nearly all tensors of each step, to be compared with another run.

    Args:
      ignore_ops: types of operations that are left out.
    """

    IGNORE_OPS = (
        "Const",
        "Assign",
        "Identity",
        "Placeholder",
        "RandomUniform",
        "Cast",
        "RestoreSlice",
    )

    def __init__(self, ignore_ops: Iterable[str] | None = None):
        super().__init__()
        self._ignore_ops = tuple(ignore_ops or GraphDump.IGNORE_OPS)
        self._tensors: list[Any] = []
        self._data: dict[int, Any] = {}

    def begin(self, max_steps: int | None = None) -> None:
        super().begin(max_steps=max_steps)
        nodes = [
            op for op in get_default_graph().get_operations() if op.type not in self._ignore_ops
        ]
        for op in nodes:
            logging.info("op=%s name=%s.", op.type, op.name)
        self._tensors = [op.outputs[0] for op in nodes if op.outputs]

    def step_begin(self, step: int) -> Sequence[Any]:
        super().step_begin(step)
        return self._tensors

    def step_end(self, step: int, output: Mapping[Any, Any]) -> None:
        super().step_end(step, output)
        self._data[step] = output

    @property
    def data(self) -> dict[int, Any]:
        """What was kept, by steps."""
        return self._data

    def compare(
        self, other_dump: GraphDump, step: int, atol: float = 1e-6
    ) -> tuple[list[str], dict[str, Any]]:
        """The names whose values are the same in another run, and the differences of others."""
        matched: list[str] = []
        different: dict[str, Any] = {}
        others = other_dump.data.get(step, {})
        for key, value in self.data.get(step, {}).items():
            if not isinstance(key, str):
                continue
            if key not in others:
                raise ValueError(f"{key} missing at step {step}.")
            other = others[key]
            if isinstance(value, str):
                continue
            if isinstance(value, np.ndarray):
                if np.allclose(value, other, atol=atol):
                    matched.append(key)
                else:
                    different[key] = value - other
            elif value != other:
                different[key] = (value, other)
            else:
                matched.append(key)
        return matched, different
