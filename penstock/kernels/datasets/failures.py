"""Failed elements that wait for their turn, also in the saved place of a pipeline."""

from __future__ import annotations

from typing import Any

from penstock import errors


class Failure:
    """Stands for an element that could not be computed."""

    __slots__ = ("error",)

    def __init__(self, error: Exception):
        self.error = error


def saved_element(element: Any) -> Any:
    """An element or a failure as plain data with values in it."""
    if not isinstance(element, Failure):
        return list(element)
    error = element.error
    code = getattr(error, "error_code", errors.UNKNOWN)
    return {"code": code, "message": getattr(error, "message", str(error))}


def restored_element(saved: Any) -> Any:
    if not isinstance(saved, dict):
        return tuple(saved)
    kind: Any = errors.exception_type_from_error_code(saved["code"])
    return Failure(kind(None, None, saved["message"]))
