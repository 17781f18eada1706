"""`tf.keras.applications`: what the package `keras_applications` builds of Penstock's layers."""

import importlib
import sys

import pytest

import penstock as tf

_VGG16 = """
def VGG16(include_top=True, weights="imagenet", classes=1000, backend=None, layers=None,
          models=None, utils=None):
    image = layers.Input((4, 4, 3))
    flat = layers.Flatten()(image)
    return models.Model(image, layers.Dense(classes, name="predictions")(flat), name="vgg16")

def preprocess_input(x, data_format=None, backend=None, **kwargs):
    return x - 1.0, backend.image_data_format()
"""


@pytest.fixture
def package(tmp_path, monkeypatch):
    folder = tmp_path / "keras_applications"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "vgg16.py").write_text(_VGG16)
    for name in [each for each in sys.modules if each.split(".")[0] == folder.name]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield
    for name in [each for each in sys.modules if each.split(".")[0] == folder.name]:
        del sys.modules[name]


def test_a_network_is_built_of_penstocks_layers(package):
    with tf.Graph().as_default():
        model = tf.keras.applications.VGG16(weights=None, classes=5)
        assert isinstance(model, tf.keras.Model)
        assert model.count_params() == 48 * 5 + 5
        assert model.layers[-1].name == "predictions"


def test_a_family_is_a_module(package):
    vgg16 = importlib.import_module("penstock.keras.applications.vgg16")
    assert vgg16 is tf.keras.applications.vgg16
    assert vgg16.preprocess_input(3.0) == (2.0, "channels_last")
    assert tf.keras.applications.ResNet50 is tf.keras.applications.resnet.ResNet50


def test_without_the_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "keras_applications", None)
    with pytest.raises(ModuleNotFoundError, match="pip install keras-applications"):
        tf.keras.applications.xception.Xception(weights=None)


def test_the_package_lies_in_the_modules_under_its_own_name(package):
    package_itself = importlib.import_module("keras_applications")
    assert tf.keras.applications.keras_applications is package_itself
    assert tf.keras.applications.vgg16.vgg16 is importlib.import_module("keras_applications.vgg16")
    with pytest.raises(AttributeError, match="vgg17"):
        tf.keras.applications.vgg16.vgg17  # noqa: B018


def test_modules_are_injected_into_networks_of_programs():
    @tf.keras.applications.keras_modules_injection
    def network(width, **modules):
        return width, modules

    width, modules = network(3, layers="own", backend="own")
    assert width == 3
    assert modules["layers"] == "own"
    assert modules["backend"] is tf.keras.backend
    assert sorted(modules) == ["backend", "layers", "models", "utils"]
