"""Queues that are fed, under the names that `tensorflow_estimator` has inside."""

from penstock.estimator.inputs.feed_functions import ArrayFeed as _ArrayFeedFn
from penstock.estimator.inputs.feed_functions import ColumnsFeed as _OrderedDictNumpyFeedFn
from penstock.estimator.inputs.feed_functions import DataFrameFeed as _PandasFeedFn
from penstock.estimator.inputs.feed_functions import GeneratorFeed as _GeneratorFeedFn
from penstock.estimator.inputs.feed_functions import fill_array as _fill_array
from penstock.estimator.inputs.feed_functions import pad_if_needed as _pad_if_needed
from penstock.estimator.inputs.feeding import _FeedingQueueRunner
from penstock.estimator.inputs.feeding import enqueue_data as _enqueue_data

__all__ = [
    "_ArrayFeedFn",
    "_FeedingQueueRunner",
    "_GeneratorFeedFn",
    "_OrderedDictNumpyFeedFn",
    "_PandasFeedFn",
    "_enqueue_data",
    "_fill_array",
    "_pad_if_needed",
]
