"""What a user's input function returns: tensors or a Dataset, of features and perhaps labels."""

from __future__ import annotations

from typing import Any

from penstock.train.session_run_hook import SessionRunHook


class _DatasetInitializerHook(SessionRunHook):
    """Initializes the iterator of a Dataset when the session is there."""

    def __init__(self, iterator: Any):
        self._iterator = iterator

    def begin(self) -> None:
        self._initializer = self._iterator.initializer

    def after_create_session(self, session: Any, coord: Any) -> None:
        session.run(self._initializer)


def parse_input_fn_result(result: Any) -> tuple[Any, Any, list[SessionRunHook]]:
    """Features, labels (None without), and the hooks that the input needs."""
    hooks: list[SessionRunHook] = []
    if _is_dataset(result):
        iterator = result.make_initializable_iterator()
        hooks.append(_DatasetInitializerHook(iterator))
        result = iterator.get_next()
    return (*parse_iterator_result(result), hooks)


def _is_dataset(result: Any) -> bool:
    from penstock.data import Dataset

    return isinstance(result, Dataset)


def parse_iterator_result(result: Any) -> tuple[Any, Any]:
    """Features and labels (None without)."""
    if not isinstance(result, list | tuple):
        return result, None
    if len(result) != 2:
        raise ValueError("input_fn should return (features, labels) as a len 2 tuple.")
    return result[0], result[1]
