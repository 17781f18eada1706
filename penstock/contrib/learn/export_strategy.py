"""`tf.contrib.learn.ExportStrategy`: how an `Experiment` exports its model."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from functools import partial
from typing import Any

from penstock.estimator.argument_names import call_with_named
from penstock.estimator.estimator import Estimator as CoreEstimator


class ExportStrategy(namedtuple("ExportStrategy", ["name", "export_fn", "strip_default_attrs"])):
    """A name, and a function of an estimator and a directory that exports."""

    __slots__ = ()

    def __new__(
        cls, name: str, export_fn: Callable[..., Any], strip_default_attrs: bool | None = None
    ) -> ExportStrategy:
        return super().__new__(cls, name, export_fn, strip_default_attrs)

    def export(
        self,
        estimator: Any,
        export_path: Any,
        checkpoint_path: Any = None,
        eval_result: Any = None,
    ) -> Any:
        """Exports; the function gets the checkpoint and the metrics if it names them."""
        names = {"checkpoint_path": checkpoint_path, "eval_result": eval_result}
        if self.strip_default_attrs is not None:
            names["strip_default_attrs"] = self.strip_default_attrs
        return call_with_named(partial(self.export_fn, estimator, export_path), **names)


def make_export_strategy(
    serving_input_fn: Callable[[], Any],
    default_output_alternative_key: str | None = None,
    assets_extra: Any = None,
    as_text: bool = False,
    exports_to_keep: int | None = 5,
    strip_default_attrs: bool | None = None,
) -> ExportStrategy:
    """An `ExportStrategy` that writes SavedModels, and keeps the latest.

    Args:
      serving_input_fn: gives a `ServingInputReceiver` or `InputFnOps`.
      assets_extra: files to copy into `assets.extra`, by their path there.
      as_text: write the graph as text.
      exports_to_keep: how many exports to keep; all if None.
    """

    def export_fn(
        estimator: Any,
        export_dir_base: Any,
        checkpoint_path: Any = None,
        strip_default_attrs: bool = False,
    ) -> Any:
        options: dict[str, Any] = {}
        if not isinstance(estimator, CoreEstimator):
            options["default_output_alternative_key"] = default_output_alternative_key
        elif default_output_alternative_key is not None:
            raise ValueError(
                "default_output_alternative_key is not supported in core Estimator. Given: "
                f"{default_output_alternative_key}"
            )
        written = estimator.export_savedmodel(
            export_dir_base,
            serving_input_fn,
            assets_extra=assets_extra,
            as_text=as_text,
            checkpoint_path=checkpoint_path,
            strip_default_attrs=strip_default_attrs,
            **options,
        )
        # Not above: the package of utilities holds strategies, too.
        from penstock.contrib.learn.utils.saved_models import garbage_collect_exports

        garbage_collect_exports(export_dir_base, exports_to_keep)
        return written

    return ExportStrategy("Servo", export_fn, strip_default_attrs)
