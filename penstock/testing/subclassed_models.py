"""Small models defined by their `call`, for tests: TensorFlow's `model_subclassing_test_util`."""

# mypy: disable-error-code="override"
# A model's `call` takes the arguments that the model wants.

from __future__ import annotations

from typing import Any

from penstock import keras

Dense = keras.layers.Dense


class _Trial(keras.Model):
    """A hidden layer, and dropout and batch normalization if wanted."""

    def __init__(self, use_bn: bool, use_dp: bool):
        super().__init__(name="test_model")
        self.use_bn = use_bn
        self.use_dp = use_dp
        self.dense1 = Dense(32, activation="relu")

    def _add_options(self) -> None:
        if self.use_dp:
            self.dp = keras.layers.Dropout(0.5)
        if self.use_bn:
            self.bn = keras.layers.BatchNormalization()


class SimpleTestModel(_Trial):
    """A classifier with one hidden layer."""

    def __init__(self, use_bn: bool = False, use_dp: bool = False, num_classes: int = 10):
        super().__init__(use_bn, use_dp)
        self.num_classes = num_classes
        self.dense2 = Dense(num_classes, activation="softmax")
        self._add_options()

    def call(self, x: Any) -> Any:
        x = self.dense1(x)
        if self.use_dp:
            x = self.dp(x)
        if self.use_bn:
            x = self.bn(x)
        return self.dense2(x)


class MultiIOTestModel(_Trial):
    """Two inputs that share the hidden layer, and an output for each."""

    def __init__(
        self, use_bn: bool = False, use_dp: bool = False, num_classes: tuple[int, int] = (2, 3)
    ):
        super().__init__(use_bn, use_dp)
        self.num_classes = num_classes
        self.dense2 = Dense(num_classes[0], activation="softmax")
        self.dense3 = Dense(num_classes[1], activation="softmax")
        self._add_options()

    def call(self, inputs: Any) -> Any:
        first, second = (self.dense1(each) for each in inputs)
        if self.use_dp:
            first = self.dp(first)
        if self.use_bn:
            second = self.bn(second)
        return [self.dense2(first), self.dense3(second)]


class SimpleConvTestModel(keras.Model):
    """A classifier of images with one convolution."""

    def __init__(self, num_classes: int = 10):
        super().__init__(name="test_model")
        self.num_classes = num_classes
        self.conv1 = keras.layers.Conv2D(32, (3, 3), activation="relu")
        self.flatten = keras.layers.Flatten()
        self.dense1 = Dense(num_classes, activation="softmax")

    def call(self, x: Any) -> Any:
        return self.dense1(self.flatten(self.conv1(x)))


class _Around(keras.Model):
    """Layers around a model."""

    test_net: Any

    def __init__(self, num_classes: int, name: str):
        super().__init__(name=name)
        self.num_classes = num_classes
        self.dense1 = Dense(32, activation="relu")
        self.dense2 = Dense(num_classes, activation="relu")
        self.bn = keras.layers.BatchNormalization()

    def call(self, inputs: Any) -> Any:
        return self.dense2(self.test_net(self.bn(self.dense1(inputs))))


class NestedTestModel1(_Around):
    """Around a model that is defined by its `call`, too."""

    def __init__(self, num_classes: int = 2):
        super().__init__(num_classes, "nested_model_1")
        self.test_net = SimpleTestModel(num_classes=4, use_bn=True, use_dp=True)


class NestedTestModel2(_Around):
    """Around a model that is defined by its inputs and outputs."""

    def __init__(self, num_classes: int = 2):
        super().__init__(num_classes, "nested_model_2")
        self.test_net = self.get_functional_graph_model(32, 4)

    @staticmethod
    def get_functional_graph_model(input_dim: int, num_classes: int) -> Any:
        """Two connected layers with batch normalization between them."""
        inputs = keras.Input(shape=(input_dim,))
        hidden = keras.layers.BatchNormalization()(Dense(32, activation="relu")(inputs))
        return keras.Model(inputs, Dense(num_classes)(hidden))


class Inner(keras.Model):
    """Two connected layers, then batch normalization."""

    def __init__(self) -> None:
        super().__init__()
        self.dense1 = Dense(32, activation="relu")
        self.dense2 = Dense(5, activation="relu")
        self.bn = keras.layers.BatchNormalization()

    def call(self, inputs: Any) -> Any:
        return self.bn(self.dense2(self.dense1(inputs)))


def get_nested_model_3(input_dim: int, num_classes: int) -> Any:
    """A model by its inputs and outputs around one that is defined by its `call`."""
    inputs = keras.Input(shape=(input_dim,))
    hidden = keras.layers.BatchNormalization()(Dense(32, activation="relu")(inputs))
    return keras.Model(inputs, Dense(num_classes)(Inner()(hidden)), name="nested_model_3")


class CustomCallModel(keras.Model):
    """Whose `call` takes two tensors and further arguments."""

    def __init__(self) -> None:
        super().__init__()
        self.dense1 = Dense(1, activation="relu")
        self.dense2 = Dense(1, activation="softmax")

    def call(
        self, first: Any, second: Any, fiddle_with_output: str = "no", training: bool = True
    ) -> Any:
        combined = self.dense1(first) + self.dense2(second)
        return 10.0 * combined if fiddle_with_output == "yes" else combined


class TrainingNoDefaultModel(keras.Model):
    """Whose `call` must be told whether it trains."""

    def __init__(self) -> None:
        super().__init__()
        self.dense1 = Dense(1)

    def call(self, x: Any, training: Any) -> Any:
        return self.dense1(x)


class TrainingMaskingModel(TrainingNoDefaultModel):
    """Whose `call` takes a mask."""

    def call(self, x: Any, training: Any = False, mask: Any = None) -> Any:
        return self.dense1(x)
