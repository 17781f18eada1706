"""Kernels of the old names of ops on batches of matrices, where those of today's ops fit."""

from penstock.kernels.registry import find, kernel

for _name in ("MatrixBandPart", "MatrixDiag", "MatrixDiagPart", "MatrixSetDiag"):
    _today = find(_name, "CPU")
    assert _today is not None, f"the kernel of {_name} must be registered before its old name"
    kernel(f"Batch{_name}", fresh=_today.fresh)(_today.factory)
