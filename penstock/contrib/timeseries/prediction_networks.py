"""Networks that predict a window from the one before."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import penstock as tf
from penstock.contrib.rnn import LSTMBlockFusedCell
from penstock.keras import Model, Sequential
from penstock.keras.layers import Dense, Flatten
from penstock.shapes import dimension_value


class FlatPredictionModel(Model):
    """Dense layers that see all of both windows.

    Args:
      hidden_layer_sizes: of layers before that of means and variances.
    """

    def __init__(
        self,
        num_features: int,
        input_window_size: int,
        output_window_size: int,
        hidden_layer_sizes: Sequence[int] | None = None,
    ):
        super().__init__()
        self._input_flatten = Flatten()
        self._output_flatten = Flatten()
        self._hidden_layers = None
        if hidden_layer_sizes:
            layers = [Dense(size, activation=tf.nn.relu) for size in hidden_layer_sizes]
            self._hidden_layers = Sequential(layers)
        units = num_features * output_window_size
        self._mean_transform = Dense(units, name="predicted_mean")
        self._covariance_transform = Dense(units, name="log_sigma_square")
        self._prediction_shape = [-1, output_window_size, num_features]

    def call(  # type: ignore[override]
        self, input_window_features: Any, output_window_features: Any
    ) -> dict[str, Any]:
        parts = []
        if dimension_value(input_window_features.shape[1]) != 0:
            parts.append(self._input_flatten(input_window_features))
        if not parts or dimension_value(output_window_features.shape[2]) != 0:
            parts.append(self._output_flatten(output_window_features))
        activation = parts[0] if len(parts) == 1 else tf.concat(parts, axis=1)
        if self._hidden_layers:
            activation = self._hidden_layers(activation)
        variance = tf.exp(self._covariance_transform(activation))
        return {
            "mean": tf.reshape(self._mean_transform(activation), self._prediction_shape),
            "covariance": tf.reshape(variance, self._prediction_shape),
        }


class LSTMPredictionModel(Model):
    """A recurrent network that reads the first window, and another that writes the second."""

    def __init__(
        self,
        num_features: int,
        input_window_size: int,
        output_window_size: int,
        num_units: int = 128,
    ):
        super().__init__()
        self._encoder = LSTMBlockFusedCell(num_units=num_units, name="encoder")
        self._decoder = LSTMBlockFusedCell(num_units=num_units, name="decoder")
        self._mean_transform = Dense(num_features, name="mean_transform")
        self._covariance_transform = Dense(num_features, name="covariance_transform")

    def call(  # type: ignore[override]
        self, input_window_features: Any, output_window_features: Any
    ) -> dict[str, Any]:
        dtype = input_window_features.dtype
        earlier = tf.transpose(input_window_features, [1, 0, 2])
        later = tf.transpose(output_window_features, [1, 0, 2])
        _, state = self._encoder(earlier, dtype=dtype)
        decoded, _ = self._decoder(later, dtype=dtype, initial_state=state)
        decoded = tf.transpose(decoded, [1, 0, 2])
        return {
            "mean": self._mean_transform(decoded),
            "covariance": tf.exp(self._covariance_transform(decoded)),
        }
