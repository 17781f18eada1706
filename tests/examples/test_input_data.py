import gzip
import io
import struct
from pathlib import Path

import numpy as np
import pytest

import penstock as tf
from penstock.examples.tutorials.mnist import bundled, input_data
from penstock.examples.tutorials.mnist.input_data import DataSet

BUNDLED_TRAIN = 1497
TRAIN_SIZE, TEST_SIZE = 12, 4


def idx(array: np.ndarray) -> bytes:
    header = struct.pack(f">BBBB{array.ndim}I", 0, 0, 8, array.ndim, *array.shape)
    return header + array.astype(np.uint8).tobytes()


def write_mnist(directory: Path, compress: bool = True) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    arrays = {
        input_data.TRAIN_IMAGES: rng.integers(0, 256, (TRAIN_SIZE, 28, 28)),
        input_data.TRAIN_LABELS: rng.integers(0, 10, TRAIN_SIZE),
        input_data.TEST_IMAGES: rng.integers(0, 256, (TEST_SIZE, 28, 28)),
        input_data.TEST_LABELS: rng.integers(0, 10, TEST_SIZE),
    }
    for name, array in arrays.items():
        if compress:
            (directory / name).write_bytes(gzip.compress(idx(array)))
        else:
            (directory / name.removesuffix(".gz")).write_bytes(idx(array))
    return arrays


def numbered(size: int, seed: int | None = None) -> DataSet:
    """A set whose i-th image is all i and has the label i."""
    images = np.broadcast_to(np.arange(size, dtype=np.uint8)[:, None, None, None], (size, 2, 2, 1))
    return DataSet(images, np.arange(size), dtype=tf.uint8, seed=seed)


class TestFiles:
    @pytest.mark.parametrize("compress", [True, False])
    def test_reads_mnist_files(self, tmp_path, compress, capsys):
        arrays = write_mnist(tmp_path, compress)
        sets = input_data.read_data_sets(str(tmp_path), validation_size=5)
        images = arrays[input_data.TRAIN_IMAGES].reshape(TRAIN_SIZE, 784) / 255
        assert sets.train.images.dtype == np.float32
        np.testing.assert_allclose(sets.validation.images, images[:5], rtol=1e-6)
        np.testing.assert_allclose(sets.train.images, images[5:], rtol=1e-6)
        np.testing.assert_array_equal(sets.train.labels, arrays[input_data.TRAIN_LABELS][5:])
        np.testing.assert_array_equal(sets.test.labels, arrays[input_data.TEST_LABELS])
        assert [part.num_examples for part in sets] == [TRAIN_SIZE - 5, 5, TEST_SIZE]
        assert capsys.readouterr().out == ""

    def test_options(self, tmp_path):
        arrays = write_mnist(tmp_path)
        sets = input_data.read_data_sets(
            str(tmp_path), one_hot=True, dtype=tf.uint8, reshape=False, validation_size=0
        )
        assert sets.validation.num_examples == 0
        assert sets.train.images.dtype == np.uint8
        np.testing.assert_array_equal(
            sets.train.images, arrays[input_data.TRAIN_IMAGES][..., np.newaxis]
        )
        assert sets.test.labels.shape == (TEST_SIZE, 10)
        np.testing.assert_array_equal(sets.test.labels.sum(axis=1), 1)
        np.testing.assert_array_equal(
            sets.test.labels.argmax(axis=1), arrays[input_data.TEST_LABELS]
        )

    def test_other_dtype_is_refused(self, tmp_path):
        write_mnist(tmp_path)
        with pytest.raises(TypeError, match="expected uint8 or float32"):
            input_data.read_data_sets(str(tmp_path), dtype=tf.int16, validation_size=0)

    @pytest.mark.parametrize("size", [-1, TRAIN_SIZE + 1])
    def test_validation_size_is_checked(self, tmp_path, size):
        write_mnist(tmp_path)
        with pytest.raises(ValueError, match=f"between 0 and {TRAIN_SIZE}. Received: {size}"):
            input_data.read_data_sets(str(tmp_path), validation_size=size)

    def test_some_files_missing(self, tmp_path):
        write_mnist(tmp_path)
        (tmp_path / input_data.TEST_LABELS).unlink()
        with pytest.raises(FileNotFoundError, match=f"^{input_data.TEST_LABELS} not found"):
            input_data.read_data_sets(str(tmp_path))

    def test_another_data_set_is_not_replaced_by_digits(self, tmp_path):
        with pytest.raises(FileNotFoundError, match=r"from http://example\.org/fashion/ first"):
            input_data.read_data_sets(str(tmp_path), source_url="http://example.org/fashion/")

    def test_images_and_labels_must_be_as_many(self, tmp_path):
        write_mnist(tmp_path)
        (tmp_path / input_data.TEST_LABELS).write_bytes(gzip.compress(idx(np.zeros(3))))
        with pytest.raises(ValueError, match=r"as many labels as images"):
            input_data.read_data_sets(str(tmp_path), validation_size=0)


IMAGES = idx(np.zeros((3, 4, 5)))
GZIPPED = gzip.compress(IMAGES)


class TestDamagedFiles:
    @pytest.mark.parametrize(
        ("data", "message"),
        [
            pytest.param(b"", "truncated: expected 4 bytes, got 0", id="empty"),
            pytest.param(IMAGES[:10], "truncated: expected 12 bytes, got 6", id="header cut"),
            pytest.param(IMAGES[:-1], "truncated: expected 60 bytes, got 59", id="data cut"),
            pytest.param(IMAGES + b"\0", "goes on after the 3x4x5 bytes", id="trailing data"),
            pytest.param(GZIPPED[:-20], "truncated or damaged gzip", id="gzip cut"),
            pytest.param(
                GZIPPED[:-8] + bytes([GZIPPED[-8] ^ 1]) + GZIPPED[-7:],
                "truncated or damaged gzip",
                id="gzip checksum",
            ),
            pytest.param(b"<html><body>Not here</body>", "magic number 1013478509", id="a page"),
            pytest.param(idx(np.zeros(3)), "magic number 2049 .* expected 2051", id="labels"),
            pytest.param(
                struct.pack(">4I", 2051, *[2**32 - 1] * 3), "truncated", id="claims 10^28 bytes"
            ),
        ],
    )
    def test_images(self, data, message):
        with pytest.raises(ValueError, match=message):
            input_data.extract_images(io.BytesIO(data))

    def test_error_names_the_file(self, tmp_path):
        write_mnist(tmp_path)
        path = tmp_path / input_data.TRAIN_LABELS
        path.write_bytes(path.read_bytes()[:15])
        with pytest.raises(ValueError, match=input_data.TRAIN_LABELS):
            input_data.read_data_sets(str(tmp_path))

    def test_labels(self):
        labels = input_data.extract_labels(io.BytesIO(idx(np.array([1, 0]))))
        np.testing.assert_array_equal(labels, [1, 0])
        one_hot = input_data.extract_labels(
            io.BytesIO(idx(np.array([1, 0]))), one_hot=True, num_classes=2
        )
        np.testing.assert_array_equal(one_hot, [[0, 1], [1, 0]])

    def test_label_out_of_range(self):
        with pytest.raises(ValueError, match="label 7 is not below num_classes=5"):
            input_data.dense_to_one_hot(np.array([1, 7]), 5)


class TestBundledDigits:
    def test_stand_in_when_there_are_no_files(self, tmp_path, capsys):
        sets = input_data.read_data_sets(str(tmp_path / "absent"), one_hot=True)
        assert [part.num_examples for part in sets] == [1372, 125, 300]
        assert sets.train.images.shape == (1372, 784)
        assert sets.train.labels.shape == (1372, 10)
        (line,) = capsys.readouterr().out.splitlines()
        assert "bundled digits (train 1372, validation 125, test 300)" in line

    @pytest.mark.parametrize(
        ("asked", "given"), [(0, 0), (100, 100), (1496, 1496), (5000, 125), (60000, BUNDLED_TRAIN)]
    )
    def test_validation_size(self, tmp_path, asked, given):
        sets = input_data.read_data_sets(str(tmp_path), validation_size=asked)
        assert sets.validation.num_examples == given
        assert sets.train.num_examples == BUNDLED_TRAIN - given

    def test_validation_size_beyond_mnist(self, tmp_path):
        with pytest.raises(ValueError, match=r"between 0 and 1497\. Received: 60001"):
            input_data.read_data_sets(str(tmp_path), validation_size=60001)

    def test_images_are_laid_out_as_mnist(self):
        train, train_labels, test, test_labels = bundled.load_digits()
        images = np.concatenate([train, test])[..., 0].astype(np.float64)
        labels = np.concatenate([train_labels, test_labels])
        assert np.bincount(labels).tolist() == [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]
        assert images.shape == (1797, 28, 28)
        assert images.max() == 255
        ink = images.sum(axis=(1, 2))
        for axis in (1, 2):
            lines = images.any(axis=3 - axis)
            extent = 28 - np.argmax(lines, 1) - np.argmax(lines[:, ::-1], 1)
            assert extent.max() <= 20
            centre = images.sum(axis=3 - axis) @ np.arange(28) / ink
            assert np.abs(centre - 13.5).max() <= 0.51

    def test_enlarging_keeps_the_picture(self):
        stored = bundled._read("digits-images-idx3-ubyte.gz", rank=3)
        enlarged = bundled._as_mnist(stored)[..., 0]
        # 8x8 pixels became 20x20 of 28x28: as much grey in the mean, up to clipped overshoot.
        grey = enlarged.mean(axis=(1, 2)) * (28 / 20) ** 2 / 255
        np.testing.assert_allclose(grey, stored.mean(axis=(1, 2)) / 16, atol=0.03)


class TestNextBatch:
    def test_in_order_without_shuffle(self):
        data = numbered(5)
        seen = [data.next_batch(2, shuffle=False)[1].tolist() for _ in range(5)]
        assert seen == [[0, 1], [2, 3], [4, 0], [1, 2], [3, 4]]
        # An epoch is complete when a batch reaches into the next, not when its last image is out.
        assert data.epochs_completed == 1
        assert data.next_batch(1, shuffle=False)[1].tolist() == [0]
        assert data.epochs_completed == 2

    def test_epoch_that_ends_with_a_batch(self):
        data = numbered(4, seed=0)
        first = np.concatenate([data.next_batch(2)[1] for _ in range(2)])
        assert sorted(first) == [0, 1, 2, 3]
        assert data.epochs_completed == 0
        second = np.concatenate([data.next_batch(2)[1] for _ in range(2)])
        assert sorted(second) == [0, 1, 2, 3]
        assert data.epochs_completed == 1

    def test_rest_is_joined_with_the_next_epoch(self):
        data = numbered(10, seed=0)
        taken = np.concatenate([data.next_batch(4)[1] for _ in range(5)])
        assert sorted(taken[:10]) == list(range(10))
        assert sorted(taken[10:]) == list(range(10))
        assert taken[:10].tolist() != taken[10:].tolist()
        assert data.epochs_completed == 1

    def test_images_stay_with_their_labels(self):
        data = numbered(7, seed=3)
        for _ in range(6):
            images, labels = data.next_batch(3)
            np.testing.assert_array_equal(images, np.repeat(labels[:, np.newaxis], 4, axis=1))

    def test_first_epoch_is_shuffled_only_at_its_start(self):
        data = numbered(6, seed=0)
        assert data.next_batch(3, shuffle=False)[1].tolist() == [0, 1, 2]
        assert data.next_batch(3)[1].tolist() == [3, 4, 5]

    def test_batch_larger_than_the_set(self):
        data = numbered(4, seed=0)
        images, labels = data.next_batch(10)
        assert images.shape == (10, 4)
        assert sorted(labels[:4]) == sorted(labels[4:8]) == [0, 1, 2, 3]
        assert data.epochs_completed == 2
        rest = data.next_batch(2)[1]
        assert sorted([*labels[8:], *rest]) == [0, 1, 2, 3]

    def test_empty_set(self):
        with pytest.raises(ValueError, match="this one is empty"):
            numbered(0).next_batch(1)

    def test_seed_gives_the_order_of_numpys_shuffles(self):
        data = numbered(8, seed=5)
        generator, expected = np.random.RandomState(5), np.arange(8)
        for _ in range(3):
            order = np.arange(8)
            generator.shuffle(order)
            expected = expected[order]
            np.testing.assert_array_equal(data.next_batch(8)[1], expected)

    def test_graph_seed_is_the_default(self, tmp_path):
        def order(seed: int | None) -> list[int]:
            sets = input_data.read_data_sets(str(tmp_path), seed=seed)
            return sets.train.next_batch(50)[1].tolist()

        with tf.Graph().as_default():
            tf.set_random_seed(11)
            assert order(None) == order(11)
            assert order(None) != order(12)

    def test_a_seed_decides_numpys_later_numbers_too(self):
        def drawn() -> float:
            data = numbered(8, seed=5)
            data.next_batch(8)
            return np.random.rand()  # noqa: NPY002

        assert drawn() == drawn()

    def test_numpys_generator_decides_without_a_seed(self):
        def order() -> list[int]:
            np.random.seed(4)  # noqa: NPY002
            return numbered(20).next_batch(20)[1].tolist()

        assert order() == order() != list(range(20))


class TestFakeData:
    @pytest.mark.parametrize(("one_hot", "label"), [(False, 0), (True, [1] + [0] * 9)])
    def test_batches_are_constant(self, one_hot, label):
        sets = input_data.read_data_sets("", fake_data=True, one_hot=one_hot)
        assert [part.num_examples for part in sets] == [10000] * 3
        images, labels = sets.train.next_batch(2, fake_data=True)
        assert images == [[1] * 784] * 2
        assert labels == [label] * 2
