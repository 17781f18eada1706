"""What programs give to a model's methods, as lists in the model's own order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from penstock.keras.engine.data_checks import check_steps_argument
from penstock.keras.engine.layer_graph import in_layer_graph


class UserData:
    """The method of a model that puts data in order."""

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """What the model has that this is mixed into."""

    @in_layer_graph
    def _standardize_user_data(
        self,
        x: Any,
        y: Any = None,
        sample_weight: Any = None,
        class_weight: Any = None,
        batch_size: int | None = None,
        check_steps: bool = False,
        steps_name: str = "steps",
        steps: int | None = None,
        validation_split: float = 0,
        shuffle: bool = False,
        extract_tensors_from_dataset: bool = False,
    ) -> tuple[list[Any], list[Any], list[Any] | None]:
        """Inputs, labels and weights as lists; no labels and no weights (None) for inputs alone.

        Args:
          check_steps: whether a number of `steps` beside arrays is warned of.
        """
        if check_steps:
            check_steps_argument(x, steps, steps_name)
        if y is None and not (self._is_compiled and self._feed_endpoints):
            return self._standardized_inputs(x), [], None
        inputs, labels, weights = self._standardized(x, y, sample_weight, class_weight)
        return inputs, labels, weights or None
