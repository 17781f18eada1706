"""Kernels of references passed on as they are."""

from penstock.kernels.registry import direct, passed_on


def _itself(value):
    return value


direct({"DebugGradientIdentity": passed_on}, fresh=False)
direct({"RefIdentity": _itself, "DebugGradientRefIdentity": _itself}, fresh=False)
