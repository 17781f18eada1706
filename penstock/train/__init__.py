"""`tf.train`: optimizers, learning rate schedules, moving averages, the global step."""

from penstock.checkpoint.reader import CheckpointReader, NewCheckpointReader
from penstock.proto import (
    BytesList,
    CheckpointState,
    Example,
    Feature,
    FeatureList,
    FeatureLists,
    Features,
    FloatList,
    Int64List,
    SaverDef,
    SequenceExample,
)
from penstock.summary import SummaryWriter, SummaryWriterCache, summary_iterator
from penstock.train.adadelta import AdadeltaOptimizer
from penstock.train.adagrad import AdagradOptimizer
from penstock.train.adagrad_da import AdagradDAOptimizer
from penstock.train.adam import AdamOptimizer
from penstock.train.checkpoint_state import (
    checkpoint_exists,
    generate_checkpoint_state_proto,
    get_checkpoint_mtimes,
    get_checkpoint_state,
    latest_checkpoint,
    remove_checkpoint,
    update_checkpoint_state,
)
from penstock.train.checkpoint_variables import (
    checkpoints_iterator,
    init_from_checkpoint,
    list_variables,
    load_checkpoint,
    load_variable,
)
from penstock.train.ftrl import FtrlOptimizer
from penstock.train.global_step import (
    assert_global_step,
    create_global_step,
    get_global_step,
    get_or_create_global_step,
    global_step,
)
from penstock.train.gradient_descent import GradientDescentOptimizer
from penstock.train.graph_files import write_graph
from penstock.train.learning_rate_decay import (
    cosine_decay,
    cosine_decay_restarts,
    exponential_decay,
    inverse_time_decay,
    linear_cosine_decay,
    natural_exp_decay,
    noisy_linear_cosine_decay,
    piecewise_constant,
    piecewise_constant_decay,
    polynomial_decay,
)
from penstock.train.momentum import MomentumOptimizer
from penstock.train.moving_averages import ExponentialMovingAverage
from penstock.train.optimizer import Optimizer
from penstock.train.proximal_adagrad import ProximalAdagradOptimizer
from penstock.train.proximal_gradient_descent import ProximalGradientDescentOptimizer
from penstock.train.rmsprop import RMSPropOptimizer
from penstock.train.saved_graphs import export_meta_graph, import_meta_graph
from penstock.train.saver import Saver

__all__ = [
    "AdadeltaOptimizer",
    "AdagradDAOptimizer",
    "AdagradOptimizer",
    "AdamOptimizer",
    "BytesList",
    "CheckpointReader",
    "CheckpointState",
    "Example",
    "ExponentialMovingAverage",
    "Feature",
    "FeatureList",
    "FeatureLists",
    "Features",
    "FloatList",
    "FtrlOptimizer",
    "GradientDescentOptimizer",
    "Int64List",
    "MomentumOptimizer",
    "NewCheckpointReader",
    "Optimizer",
    "ProximalAdagradOptimizer",
    "ProximalGradientDescentOptimizer",
    "RMSPropOptimizer",
    "Saver",
    "SaverDef",
    "SequenceExample",
    "SummaryWriter",
    "SummaryWriterCache",
    "assert_global_step",
    "checkpoint_exists",
    "checkpoints_iterator",
    "cosine_decay",
    "cosine_decay_restarts",
    "create_global_step",
    "exponential_decay",
    "export_meta_graph",
    "generate_checkpoint_state_proto",
    "get_checkpoint_mtimes",
    "get_checkpoint_state",
    "get_global_step",
    "get_or_create_global_step",
    "global_step",
    "import_meta_graph",
    "init_from_checkpoint",
    "inverse_time_decay",
    "latest_checkpoint",
    "linear_cosine_decay",
    "list_variables",
    "load_checkpoint",
    "load_variable",
    "natural_exp_decay",
    "noisy_linear_cosine_decay",
    "piecewise_constant",
    "piecewise_constant_decay",
    "polynomial_decay",
    "remove_checkpoint",
    "summary_iterator",
    "update_checkpoint_state",
    "write_graph",
]
