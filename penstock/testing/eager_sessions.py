"""What a test gets in the place of a session while operations run at once."""

from __future__ import annotations

from typing import Any


class FakeEagerSession:
    """Runs nothing: what it is asked for has its value already.

    Args:
      test_case: evaluates it.
    """

    def __init__(self, test_case: Any):
        self._test_case = test_case

    def run(self, fetches: Any, *args: Any, **kwargs: Any) -> Any:
        """The values of tensors; there is nothing to feed."""
        for what, given in (
            ("feed_dict is", kwargs.pop("feed_dict", None)),
            ("Optional args are", args or kwargs),
        ):
            if given:
                raise RuntimeError(
                    f"{what} not supported when eager execution is enabled (in this case, "
                    "sess.run(t) is shorthand for t.numpy()"
                )
        return self._test_case.evaluate(fetches)


class EagerSessionWarner:
    """Refuses to be used as a session."""

    def __getattr__(self, attr: str) -> Any:
        raise AttributeError(
            "Trying to access properties or call methods on the result of self.session(), "
            "self.cached_session(), etc while eager execution is enabled. Adapt the test to work "
            "with eager execution, or run it in a graph."
        )
