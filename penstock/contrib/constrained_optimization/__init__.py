"""`tf.contrib.constrained_optimization`: training under constraints, as a game of two players."""

from penstock.contrib import lazy_paths
from penstock.contrib.constrained_optimization.candidates import (
    find_best_candidate_distribution,
    find_best_candidate_index,
)
from penstock.contrib.constrained_optimization.problems import (
    ConstrainedMinimizationProblem,
    ConstrainedOptimizer,
)
from penstock.contrib.constrained_optimization.regret import (
    AdditiveExternalRegretOptimizer,
    AdditiveSwapRegretOptimizer,
    MultiplicativeSwapRegretOptimizer,
)

__getattr__ = lazy_paths.resolver(__name__)
