"""Batch renormalization: the part of batch normalization that uses averages while training."""

from __future__ import annotations

from typing import Any

from penstock.ir.defaults import get_default_graph
from penstock.layers.smart_cond import smart_cond
from penstock.ops.binary import maximum, minimum
from penstock.ops.elementwise import sqrt
from penstock.ops.filling import ones_like, zeros_like
from penstock.ops.identity import identity, stop_gradient


class Renormalization:
    """Corrections from a batch's statistics to moving averages of them.

    Args:
      layer: the batch normalization that it belongs to, which makes the variables.
      clipping: limits of the corrections: "rmin", "rmax", "dmax".
      momentum: how much of a moving average stays at an update.
    """

    KEYS = ("rmax", "rmin", "dmax")

    def __init__(self, layer: Any, clipping: dict[str, Any], momentum: float):
        if set(clipping) - set(self.KEYS):
            raise ValueError(f"renorm_clipping {clipping} contains keys not in {list(self.KEYS)}")
        self._layer = layer
        self._clipping = clipping
        self._momentum = momentum

    def build(self, shape: list[int]) -> None:
        """Makes the averages, as attributes of the layer."""
        layer = self._layer

        def initial_stddev(*args: Any, **kwargs: Any) -> Any:
            return sqrt(layer.moving_variance_initializer(*args, **kwargs))

        colocate_with = get_default_graph().colocate_with
        with colocate_with(layer.moving_variance):
            layer.moving_stddev = layer._add_statistic("moving_stddev", shape, initial_stddev)
        with colocate_with(layer.moving_mean):
            initializer = layer.moving_mean_initializer
            layer.renorm_mean = layer._add_statistic("renorm_mean", shape, initializer)
        with colocate_with(layer.moving_stddev):
            layer.renorm_stddev = layer._add_statistic("renorm_stddev", shape, initial_stddev)

    def corrections(self, mean: Any, variance: Any, training: Any) -> tuple[Any, Any, Any, Any]:
        """Scale and shift to correct by, and the statistics once the averages are updated."""
        layer = self._layer
        graph = get_default_graph()
        stddev = sqrt(variance + layer.epsilon)
        renorm_stddev = maximum(layer.renorm_stddev, sqrt(layer.epsilon))
        r = stddev / renorm_stddev
        d = (mean - layer.renorm_mean) / renorm_stddev
        with graph.control_dependencies([r, d]):  # they use the averages before the update
            mean = identity(mean)
            stddev = identity(stddev)
        r, d = self._clipped(r, d)
        r = smart_cond(training, lambda: r, lambda: ones_like(r))
        d = smart_cond(training, lambda: d, lambda: zeros_like(d))
        updates = [
            self._update(layer.renorm_mean, mean, training),
            self._update(layer.renorm_stddev, stddev, training),
        ]
        with graph.control_dependencies(updates):
            out_mean = identity(mean)
            out_variance = identity(variance)
        r, d = stop_gradient(r, name="renorm_r"), stop_gradient(d, name="renorm_d")
        return r, d, out_mean, out_variance

    def _clipped(self, r: Any, d: Any) -> tuple[Any, Any]:
        rmin, rmax, dmax = (self._clipping.get(key) for key in ("rmin", "rmax", "dmax"))
        if rmin is not None:
            r = maximum(r, rmin)
        if rmax is not None:
            r = minimum(r, rmax)
        if dmax is not None:
            d = minimum(maximum(d, -dmax), dmax)
        return r, d

    def _update(self, variable: Any, value: Any, training: Any) -> Any:
        value = identity(value)
        return smart_cond(
            training,
            lambda: self._layer._assign_moving_average(variable, value, self._momentum),
            lambda: identity(variable),
        )
