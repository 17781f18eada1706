"""`tf.contrib.metrics`: metrics with predictions first, and collections of metrics."""

from penstock.contrib import lazy_paths
from penstock.contrib.metrics.accumulated import *
from penstock.contrib.metrics.aggregation import aggregate_metric_map, aggregate_metrics
from penstock.contrib.metrics.at_thresholds import *
from penstock.contrib.metrics.concatenated import *
from penstock.contrib.metrics.correlation import (
    streaming_covariance,
    streaming_pearson_correlation,
)
from penstock.contrib.metrics.histograms import *
from penstock.contrib.metrics.scores import accuracy, f1_score
from penstock.contrib.metrics.streaming import *
from penstock.metrics import precision_at_top_k, recall_at_top_k
from penstock.ops.confusion import confusion_matrix
from penstock.sets import set_difference, set_intersection, set_size, set_union

__getattr__ = lazy_paths.resolver(__name__)
