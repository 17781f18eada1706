"""The tensors of labels and of samples' weights that a model's loss is computed from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from penstock.keras.engine.layer_graph import in_layer_graph


class WeightTensors:
    """What a model tells of its outputs' labels and weights, and how they are replaced."""

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """What the model has that this is mixed into."""

    @property
    def targets(self) -> list[Any]:
        """The tensors of the labels."""
        return [endpoint.target for endpoint in self._endpoints if endpoint.is_trained]

    @property
    def _targets(self) -> list[Any]:
        return self.targets

    @property
    def sample_weights(self) -> list[Any]:
        """The tensors of the samples' weights, None where they aren't used."""
        return [endpoint.sample_weight for endpoint in self._endpoints if endpoint.is_trained]

    @property
    def _feed_sample_weights(self) -> list[Any]:
        return [weight for weight in self.sample_weights if weight is not None]

    @property
    def _sample_weight_modes(self) -> list[Any]:
        return [endpoint.sample_weight_mode for endpoint in self._endpoints]

    @property
    def _loss_weights_list(self) -> list[Any]:
        """The outputs' parts in the total loss."""
        return [endpoint.loss_weight for endpoint in self._endpoints]

    def _prepare_sample_weights(self, sample_weights: Any = None) -> None:
        """Takes tensors as samples' weights, or placeholders where outputs have a mode of them."""
        count = len(self._endpoints)
        given = [None] * count if sample_weights is None else sample_weights
        if len(given) != count:
            raise ValueError(
                "Provided sample weights must have same length as the number of outputs. "
                f"Expected: {count}, got: {len(given)}."
            )
        for endpoint, weight in zip(self._endpoints, given, strict=True):
            endpoint.set_sample_weight(weight)

    def _update_sample_weight_modes(self, sample_weights: Any = None) -> None:
        """Lets all outputs have weights if one has, and none otherwise."""
        used = any(weight is not None for weight in sample_weights or ())
        for endpoint in self._endpoints:
            endpoint.sample_weight_mode = (
                (endpoint.sample_weight_mode or "samplewise") if used else None
            )

    @in_layer_graph
    def _compile_weights_loss_and_weighted_metrics(self, sample_weights: Any = None) -> None:
        """Makes loss and metrics anew, with tensors in the place of the fed weights."""
        if sample_weights is not None:
            self._update_sample_weight_modes(sample_weights)
        self._prepare_sample_weights(sample_weights)
        self._add_losses()
