"""`tf.contrib.learn.monitors.ExportMonitor`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import penstock as tf
from penstock import logging
from penstock.contrib.learn.monitor_base import EveryN
from penstock.estimator.estimator import Estimator as CoreEstimator


class ExportMonitor(EveryN):
    """Exports the model every so many steps, and at the end; see `Estimator.export`."""

    def __init__(
        self,
        every_n_steps: int,
        export_dir: Any,
        input_fn: Any = None,
        input_feature_key: str | None = None,
        exports_to_keep: int | None = 5,
        signature_fn: Any = None,
        default_batch_size: int | None = 1,
    ):
        super().__init__(every_n_steps=every_n_steps)
        self._export_dir = export_dir
        self._input_fn = input_fn
        self._input_feature_key = input_feature_key
        self._exports_to_keep = exports_to_keep
        self._signature_fn = signature_fn
        self._default_batch_size = default_batch_size
        self._last_export_dir: Any = None

    @property
    def export_dir(self) -> Any:
        return self._export_dir

    @property
    def exports_to_keep(self) -> int | None:
        return self._exports_to_keep

    @property
    def signature_fn(self) -> Any:
        return self._signature_fn

    @property
    def last_export_dir(self) -> Any:
        """The directory of the latest export; None before the first."""
        return self._last_export_dir

    def every_n_step_end(self, step: int, outputs: Mapping[Any, Any]) -> bool | None:
        super().every_n_step_end(step, outputs)
        self._export()
        return None

    def end(self, session: Any = None) -> None:
        super().end(session=session)
        if tf.train.latest_checkpoint(self._estimator.model_dir) is None:
            logging.info("Skipping export at the end since model has not been saved yet.")
            return
        self._export()

    def _export(self) -> None:
        if isinstance(self._estimator, CoreEstimator):
            raise ValueError(
                "ExportMonitor does not support `tf.estimator.Estimator. `. Please pass an "
                "ExportStrategy to Experiment instead."
            )
        try:
            self._last_export_dir = self._estimator.export(
                self.export_dir,
                exports_to_keep=self.exports_to_keep,
                signature_fn=self.signature_fn,
                input_fn=self._input_fn,
                default_batch_size=self._default_batch_size,
                input_feature_key=self._input_feature_key,
                use_deprecated_input_fn=self._input_fn is None,
            )
        except RuntimeError:
            logging.info("This checkpoint has been exported before.")
