"""Kernels of running sums and products along an axis."""

import torch

from penstock import errors
from penstock.kernels.known_inputs import known_list
from penstock.kernels.registry import kernel
from penstock.kernels.unsigned import WIDE_UNSIGNED, in_int64


def _scan(op_type, function, first):
    """Registers a scan; `first` is what precedes the first element if that is left out itself."""

    @kernel(op_type, fresh=True)
    def _(node, env):
        exclusive, reverse = node.attrs["exclusive"], node.attrs["reverse"]

        def scan(x, axis):
            if isinstance(axis, list):
                message = f"ScanOp: axis must be a scalar, not [{len(axis)}]"
                raise errors.InvalidArgumentError(None, None, message)
            if not -x.dim() <= axis < x.dim():
                raise errors.InvalidArgumentError(
                    None,
                    None,
                    f"ScanOp: Expected scan axis in the range [{-x.dim()}, {x.dim()}), but got "
                    f"{axis}",
                )
            if reverse:
                x = x.flip(axis)
            result = shifted(x, axis) if exclusive else function(x, axis)
            return result.flip(axis) if reverse else result

        def shifted(x, axis):
            result = torch.full_like(x, first)
            count = x.shape[axis] - 1
            if count > 0:
                result.narrow(axis, 1, count).copy_(function(x.narrow(axis, 0, count), axis))
            return result

        run = in_int64(scan) if node.attrs["T"] in WIDE_UNSIGNED else scan
        known = known_list(node, env, 1)
        if known is None:
            return lambda x, axis: run(x, axis.tolist())
        return lambda x, _: run(x, known)


_scan("Cumsum", lambda x, axis: torch.cumsum(x, axis, dtype=x.dtype), 0)
_scan("Cumprod", lambda x, axis: torch.cumprod(x, axis, dtype=x.dtype), 1)
_scan("CumulativeLogsumexp", torch.logcumsumexp, -torch.inf)
