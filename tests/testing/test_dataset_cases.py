"""The test cases for datasets notice what is wrong, and are content with what is right."""

import unittest

import numpy as np
import pytest

import penstock as tf
from penstock.data.experimental.files import make_tf_record_dataset
from penstock.testing import dataset_reader_cases as readers
from penstock.testing import dataset_serialization_case as serialization


def run(case: type, body) -> unittest.TestResult:
    """Runs a function as the test of a case."""
    result = unittest.TestResult()
    type("Case", (case,), {"test": body})("test").run(result)
    return result


def problems(result: unittest.TestResult) -> list[str]:
    return [text for _, text in [*result.failures, *result.errors]]


def test_pipelines_that_go_on_after_a_restart():
    def body(case):
        def sparse():
            words = tf.SparseTensor([[0, 1], [2, 0]], [1.0, 2.0], [3, 4])
            return tf.data.Dataset.from_tensor_slices(words)

        case.run_core_tests(lambda: tf.data.Dataset.range(2).map(lambda x: (x, {"y": x * x})), 2)
        case.verify_multiple_breaks(
            lambda: tf.data.Dataset.range(6).shuffle(3, seed=1).repeat(2), 12, num_breaks=4
        )
        case.verify_unused_iterator(sparse, 3)

    assert problems(run(serialization.DatasetSerializationTestBase, body)) == []


def test_a_pipeline_whose_elements_differ_after_a_restart_is_noticed():
    made = iter(range(100))

    def body(case):
        case.verify_run_with_breaks(lambda: tf.data.Dataset.range(next(made), 100), [2], 5)

    (problem,) = problems(run(serialization.DatasetSerializationTestBase, body))
    assert "AssertionError" in problem


def test_matching_looks_inside_structures():
    case = serialization.DatasetSerializationTestBase()
    case.match([np.array([1, 2]), {"a": (3,)}], [np.array([1, 2]), {"a": (3,)}])
    case.does_not_match([np.array([1, 2])], [np.array([1, 3])])
    case.does_not_match({"a": 1}, {"b": 1})


def test_files_of_lines_and_of_records_of_fixed_length():
    def lines(case):
        for compression in (None, "GZIP", "ZLIB"):
            files = case._createFiles(2, 3, crlf=True, compression_type=compression)
            dataset = tf.data.TextLineDataset(files, compression_type=compression)
            wanted = [case._lineText(f, line) for f in range(2) for line in range(3)]
            case.assertDatasetProduces(dataset, expected_output=wanted)
        with pytest.raises(ValueError, match="Unsupported compression_type"):
            case._createFiles(1, 1, compression_type="rar")

    def records(case):
        sizes = case._record_bytes, case._header_bytes, case._footer_bytes
        dataset = tf.data.FixedLengthRecordDataset(case._createFiles(), *sizes)
        wanted = [case._record(f, r) for f in range(2) for r in range(7)]
        case.assertDatasetProduces(dataset, expected_output=wanted)

    assert problems(run(readers.TextLineDatasetTestBase, lines)) == []
    assert problems(run(readers.FixedLengthRecordDatasetTestBase, records)) == []


@pytest.mark.parametrize("drops", [False, True])
def test_batches_of_records_in_turn(drops):
    def body(case):
        dataset = make_tf_record_dataset(
            case.test_filenames,
            batch_size=4,
            parser_fn=lambda record: tf.substr(record, 1, 999),
            num_epochs=1,
            shuffle=False,
            num_parallel_reads=2,
            drop_final_batch=drops,
        )
        outputs = case.getNext(dataset)
        with case.cached_session():
            case._verify_records(outputs, 4, None, 1, 2, drops, True)
            with case.assertRaises(tf.errors.OutOfRangeError):
                case.evaluate(outputs())

    assert problems(run(readers.TFRecordDatasetTestBase, body)) == []


def test_batches_of_examples():
    def body(case):
        with case.cached_session():
            case.outputs = case.getNext(
                case.make_batch_feature(case.test_filenames[1], 2, 3, label_key="label")
            )
            case.verify_records(3, file_index=1, num_epochs=2, label_key_provided=True)
            assert case._sum_keywords(2) == 21

    assert problems(run(readers.MakeBatchedFeaturesDatasetTestBase, body)) == []


def test_datasets_map_only_functions():
    with pytest.raises(ValueError, match="must be callable"):
        tf.data.Dataset.range(3).map(3)
