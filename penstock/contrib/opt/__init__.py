"""`tf.contrib.opt`: optimizers that TensorFlow kept outside of its core."""

from penstock.contrib import lazy_paths
from penstock.contrib.opt.accumulated_gradients import AGNCustomGetter, AGNOptimizer
from penstock.contrib.opt.adam_by_global_step import AdamGSOptimizer, LazyAdamGSOptimizer
from penstock.contrib.opt.adam_variants import (
    AdaMaxOptimizer,
    LazyAdamOptimizer,
    NadamOptimizer,
)
from penstock.contrib.opt.elastic_average import (
    ElasticAverageCustomGetter,
    ElasticAverageOptimizer,
)
from penstock.contrib.opt.external import (
    ExternalOptimizerInterface,
    ScipyOptimizerInterface,
)
from penstock.contrib.opt.ggt import GGTOptimizer
from penstock.contrib.opt.lars import LARSOptimizer
from penstock.contrib.opt.model_average import (
    ModelAverageCustomGetter,
    ModelAverageOptimizer,
)
from penstock.contrib.opt.multitask import (
    MultitaskOptimizerWrapper,
    clip_gradients_by_global_norm,
)
from penstock.contrib.opt.regularized_adagrad import RegAdagradOptimizer
from penstock.contrib.opt.shampoo import ShampooOptimizer
from penstock.contrib.opt.sign_based import AddSignOptimizer, PowerSignOptimizer
from penstock.contrib.opt.sign_decay import (
    get_cosine_decay_fn,
    get_linear_decay_fn,
    get_restart_decay_fn,
)
from penstock.contrib.opt.stale_gradients import DropStaleGradientOptimizer
from penstock.contrib.opt.weight_decay import (
    AdamWOptimizer,
    DecoupledWeightDecayExtension,
    MomentumWOptimizer,
    ShampooWOptimizer,
    extend_with_decoupled_weight_decay,
)
from penstock.contrib.opt.wrappers import MovingAverageOptimizer, VariableClippingOptimizer

__getattr__ = lazy_paths.resolver(__name__)
