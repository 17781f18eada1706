"""`tf.contrib.training`: hyperparameters, loops of training and evaluation, sampling of input."""

from penstock.contrib.lazy_paths import resolver
from penstock.contrib.training.bucket_ops import bucket, bucket_by_sequence_length
from penstock.contrib.training.device_setter import (
    GreedyLoadBalancingStrategy,
    RandomStrategy,
    byte_size_load_fn,
)
from penstock.contrib.training.evaluation import (
    StopAfterNEvalsHook,
    SummaryAtEndHook,
    checkpoints_iterator,
    evaluate_once,
    evaluate_repeatedly,
    get_or_create_eval_step,
    wait_for_new_checkpoint,
)
from penstock.contrib.training.hparam import HParams, parse_values
from penstock.contrib.training.resample import resample_at_rate, weighted_resample
from penstock.contrib.training.sampling_ops import rejection_sample, stratified_sample
from penstock.contrib.training.sequence_queueing_state_saver import (
    NextQueuedSequenceBatch,
    SequenceQueueingStateSaver,
    batch_sequences_with_states,
)
from penstock.contrib.training.training import (
    add_gradients_summaries,
    clip_gradient_norms,
    clip_gradient_norms_fn,
    create_train_op,
    multiply_gradients,
    train,
)
from penstock.contrib.training.tuner import Tuner
from penstock.estimator.inputs.feeding import _FeedingQueueRunner as FeedingQueueRunner

__all__ = [
    "FeedingQueueRunner",
    "GreedyLoadBalancingStrategy",
    "HParams",
    "NextQueuedSequenceBatch",
    "RandomStrategy",
    "SequenceQueueingStateSaver",
    "StopAfterNEvalsHook",
    "SummaryAtEndHook",
    "Tuner",
    "add_gradients_summaries",
    "batch_sequences_with_states",
    "bucket",
    "bucket_by_sequence_length",
    "byte_size_load_fn",
    "checkpoints_iterator",
    "clip_gradient_norms",
    "clip_gradient_norms_fn",
    "create_train_op",
    "evaluate_once",
    "evaluate_repeatedly",
    "get_or_create_eval_step",
    "multiply_gradients",
    "parse_values",
    "rejection_sample",
    "resample_at_rate",
    "stratified_sample",
    "train",
    "wait_for_new_checkpoint",
    "weighted_resample",
]

__getattr__ = resolver(__name__)
