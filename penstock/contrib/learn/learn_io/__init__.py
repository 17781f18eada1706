"""`tf.contrib.learn.io`: batches of arrays, tables, generators and files of records."""

from penstock.contrib.lazy_paths import resolver
from penstock.contrib.learn.learn_io.generator_io import generator_input_fn
from penstock.contrib.learn.learn_io.pandas_io import (
    HAS_PANDAS,
    extract_pandas_data,
    extract_pandas_labels,
    extract_pandas_matrix,
    pandas_input_fn,
)
from penstock.contrib.learn.learn_io.record_files import (
    queue_parsed_features,
    read_batch_examples,
    read_batch_features,
    read_batch_record_features,
    read_keyed_batch_examples,
    read_keyed_batch_examples_shared_queue,
    read_keyed_batch_features,
    read_keyed_batch_features_shared_queue,
)
from penstock.estimator.inputs.numpy_io import numpy_input_fn

__all__ = [
    "HAS_PANDAS",
    "extract_pandas_data",
    "extract_pandas_labels",
    "extract_pandas_matrix",
    "generator_input_fn",
    "numpy_input_fn",
    "pandas_input_fn",
    "queue_parsed_features",
    "read_batch_examples",
    "read_batch_features",
    "read_batch_record_features",
    "read_keyed_batch_examples",
    "read_keyed_batch_examples_shared_queue",
    "read_keyed_batch_features",
    "read_keyed_batch_features_shared_queue",
]

__getattr__ = resolver(__name__)
