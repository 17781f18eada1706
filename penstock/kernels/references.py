"""Kernels of references passed on as they are."""

from penstock.kernels.registry import direct


def _itself(value):
    return value


direct({"DebugGradientIdentity": _itself}, fresh=False, same=True)
direct({"RefIdentity": _itself, "DebugGradientRefIdentity": _itself}, fresh=False)
