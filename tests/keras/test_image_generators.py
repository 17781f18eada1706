"""Batches of changed images; numbers are those of TensorFlow 1.15 (keras-preprocessing 1.1.2)."""

import os

import numpy as np
import pytest

import penstock as tf

image = tf.keras.preprocessing.image
PIXELS = np.arange(9.0).reshape(3, 3, 1)
PICTURES = np.random.RandomState(0).uniform(0, 255, (6, 5, 4, 3)).astype(np.float32)


@pytest.mark.parametrize(
    ("fill_mode", "expected"),
    [
        ("nearest", [[4.453, 3.212, 2.578], [6.143, 7.009, 7.225], [6.893, 7.759, 8.0]]),
        ("constant", [[9.0, 3.212, 2.578], [9.0, 9.0, 7.225], [9.0, 9.0, 9.0]]),
        ("reflect", [[4.846, 3.212, 2.578], [3.792, 6.158, 7.225], [3.645, 6.011, 7.127]]),
        ("wrap", [[5.846, 3.212, 2.578], [2.493, 1.859, 7.225], [1.141, 6.507, 3.873]]),
    ],
)
def test_what_lies_outside(fill_mode, expected):
    options = {"theta": 30, "tx": 1.25, "zx": 1.5, "fill_mode": fill_mode, "cval": 9.0}
    changed = image.apply_affine_transform(PIXELS, **options)
    np.testing.assert_allclose(changed[..., 0], expected, atol=1e-3)


def test_a_seed_gives_the_same_changes_as_in_tensorflow():
    generator = image.ImageDataGenerator(
        rotation_range=20,
        width_shift_range=[1, 2, 3],
        height_shift_range=0.25,
        shear_range=10,
        zoom_range=0.3,
        channel_shift_range=5.0,
        brightness_range=(0.5, 2),
        horizontal_flip=True,
        vertical_flip=True,
    )
    changes = generator.get_random_transform((8, 8, 3), seed=7)
    assert {name: round(float(value), 6) for name, value in changes.items()} == {
        "theta": -16.947668,
        "tx": 1.119675,
        "ty": 1.0,
        "shear": 0.769917,
        "zx": 1.000672,
        "zy": 0.743231,
        "flip_horizontal": 1.0,
        "flip_vertical": 1.0,
        "channel_shift_intensity": 1.7923,
        "brightness": 1.705609,
    }


def test_a_seed_gives_the_same_order_as_in_tensorflow():
    pixels = np.arange(5.0).reshape(5, 1, 1, 1)
    batches = image.ImageDataGenerator().flow(pixels, np.arange(5), batch_size=2, seed=3)
    assert [next(batches)[1].tolist() for _ in range(4)] == [[3, 4], [1, 0], [2], [3, 4]]
    assert batches[1][1].tolist() == [0, 1]
    assert batches.total_batches_seen == 5 and len(batches) == 3


def test_whitening_leaves_no_correlation():
    pictures = np.random.RandomState(1).normal(size=(200, 2, 2, 1)).cumsum(axis=1)
    with pytest.warns(UserWarning, match="overrides setting of `featurewise_center`"):
        generator = image.ImageDataGenerator(zca_whitening=True)
    generator.fit(pictures)
    white = generator.standardize(pictures.astype(np.float32)).reshape(200, 4)
    np.testing.assert_allclose(white.T @ white / 200, np.eye(4), atol=1e-3)


def test_what_is_not_fit_warns():
    generator = image.ImageDataGenerator(featurewise_center=True)
    with pytest.warns(UserWarning, match="hasn't been fit on any training data"):
        generator.standardize(PICTURES[0].copy())


def test_other_inputs_go_with_the_images():
    generator = image.ImageDataGenerator(validation_split=0.5)
    others = [np.arange(6), np.arange(12).reshape(6, 2)]
    labels = np.array([0, 1, 1, 0, 1, 1])
    inputs, chosen = next(
        generator.flow((PICTURES, others), labels, subset="training", shuffle=False)
    )
    assert [part.shape for part in inputs] == [(3, 5, 4, 3), (3,), (3, 2)]
    assert inputs[1].tolist() == [3, 4, 5] and chosen.tolist() == [0, 1, 1]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda flow: flow(PICTURES, np.arange(6), subset="training"),
            "different number of classes",
        ),
        (lambda flow: flow(PICTURES, np.arange(3)), r"`y` \(labels\) should have the same length"),
        (lambda flow: flow(PICTURES, sample_weight=[1]), "`sample_weight` should have the same"),
        (lambda flow: flow((PICTURES, PICTURES[:1])), "All of the arrays in `x` should"),
        (lambda flow: flow(PICTURES[0]), "should have rank 4"),
        (
            lambda flow: image.ImageDataGenerator(zoom_range=(1, 2, 3)),
            "tuple or list of two floats",
        ),
        (lambda flow: image.ImageDataGenerator(brightness_range=1), "tuple or list of two floats"),
        (lambda flow: image.ImageDataGenerator(validation_split=2), "strictly between 0 and 1"),
        (lambda flow: image.ImageDataGenerator(data_format="first"), "`data_format` should be"),
        (lambda flow: image.array_to_img(PICTURES[0], data_format="first"), "Invalid data_format"),
    ],
)
def test_what_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call(image.ImageDataGenerator(validation_split=0.5).flow)


@pytest.fixture
def folder(tmp_path):
    for index, picture in enumerate(PICTURES):
        place = tmp_path / ("cats" if index < 3 else "dogs")
        place.mkdir(exist_ok=True)
        image.save_img(os.fspath(place / f"{index}.png"), picture, scale=False)
    return tmp_path


def test_files_of_a_directory_by_class(folder, tmp_path_factory, capsys):
    saved = tmp_path_factory.mktemp("saved")
    generator = image.ImageDataGenerator(validation_split=0.4)
    batches = generator.flow_from_directory(
        os.fspath(folder),
        target_size=(5, 4),
        shuffle=False,
        subset="training",
        save_to_dir=os.fspath(saved),
        save_prefix="seen",
    )
    assert capsys.readouterr().out == "Found 4 images belonging to 2 classes.\n"
    assert batches.filenames == ["cats/1.png", "cats/2.png", "dogs/4.png", "dogs/5.png"]
    assert batches.image_shape == (5, 4, 3)
    pictures, labels = next(batches)
    np.testing.assert_array_equal(pictures[0], PICTURES[1].astype("uint8"))
    assert labels.tolist() == [[1, 0], [1, 0], [0, 1], [0, 1]]
    assert len(list(saved.glob("seen_*.png"))) == 4
    with pytest.raises(ValueError, match="Invalid color mode"):
        generator.flow_from_directory(os.fspath(folder), color_mode="cmyk")


def test_files_of_a_table(folder, capsys):
    names = ["cats/0.png", "cats/none.png", "dogs/3.png", "dogs/4.png", "dogs/5.png"]
    table = {
        "file": names,
        "kind": ["cat", "cat", ["dog", "big"], "dog", "bird"],
        "age": [1.0, 2.0, 3.0, 4.0, 5.0],
        "weight": [1, 2, 3, 4, 5],
    }
    where = {"directory": os.fspath(folder), "x_col": "file", "target_size": (5, 4)}
    flow = image.ImageDataGenerator().flow_from_dataframe
    with pytest.warns(UserWarning, match="Found 1 invalid image filename"):
        batches = flow(table, y_col="kind", classes=["dog", "cat", "big"], shuffle=False, **where)
    assert capsys.readouterr().out == (
        "Found 3 validated image filenames belonging to 3 classes.\n"
    )
    assert batches.class_indices == {"big": 0, "cat": 1, "dog": 2}
    assert next(batches)[1].tolist() == [[0, 1, 0], [1, 0, 1], [0, 0, 1]]

    raw = flow(
        table,
        y_col=["age"],
        weight_col="weight",
        class_mode="multi_output",
        shuffle=False,
        validate_filenames=False,
        batch_size=1,
        **where,
    )
    _, labels, weights = next(raw)
    assert [part.tolist() for part in labels] == [[1.0]] and weights.tolist() == [1]
    with pytest.raises(TypeError, match="column values must be strings"):
        flow(table, y_col="kind", class_mode="sparse", **where)
    with pytest.raises(ValueError, match="there must be 2 classes"):
        flow({**table, "kind": list("abcde")}, y_col="kind", class_mode="binary", **where)
