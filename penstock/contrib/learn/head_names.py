"""Names that tests and programs know heads and their losses by."""

from penstock.contrib.learn.head import _MultiHead
from penstock.contrib.learn.head import binary_svm_head as _binary_svm_head
from penstock.contrib.learn.head import multi_class_head as _multi_class_head
from penstock.contrib.learn.head import multi_head as _multi_head
from penstock.contrib.learn.head import multi_label_head as _multi_label_head
from penstock.contrib.learn.head import poisson_regression_head as _poisson_regression_head
from penstock.contrib.learn.head import regression_head as _regression_head
from penstock.contrib.learn.head_losses import (
    log_loss_with_two_classes as _log_loss_with_two_classes,
)
from penstock.contrib.learn.head_losses import mean_squared_loss as _mean_squared_loss
from penstock.contrib.learn.head_losses import poisson_loss as _poisson_loss
from penstock.contrib.learn.head_losses import (
    sigmoid_cross_entropy_loss as _sigmoid_cross_entropy_loss,
)
from penstock.contrib.learn.head_losses import (
    softmax_cross_entropy_loss as _softmax_cross_entropy_loss,
)
from penstock.contrib.learn.head_losses import weighted_loss as _compute_weighted_loss
from penstock.contrib.learn.single_heads import Head as _Head
from penstock.contrib.learn.single_heads import check_mode as _check_mode_valid

__all__ = [
    "_Head",
    "_MultiHead",
    "_binary_svm_head",
    "_check_mode_valid",
    "_compute_weighted_loss",
    "_log_loss_with_two_classes",
    "_mean_squared_loss",
    "_multi_class_head",
    "_multi_head",
    "_multi_label_head",
    "_poisson_loss",
    "_poisson_regression_head",
    "_regression_head",
    "_sigmoid_cross_entropy_loss",
    "_softmax_cross_entropy_loss",
]
