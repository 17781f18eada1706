"""`tf.contrib.layers`: layers as functions of tensors, initializers, regularizers, training."""

from types import ModuleType

from penstock.contrib import lazy_paths
from penstock.contrib.layers import initializers, optimizers, regularizers, summaries
from penstock.contrib.layers.batch_normalization import *
from penstock.contrib.layers.columns import *
from penstock.contrib.layers.composition import *
from penstock.contrib.layers.convolutions import *
from penstock.contrib.layers.dense import *
from penstock.contrib.layers.depthwise import *
from penstock.contrib.layers.embeddings import *
from penstock.contrib.layers.gdn import *
from penstock.contrib.layers.initializers import *
from penstock.contrib.layers.normalization import *
from penstock.contrib.layers.optimizers import *
from penstock.contrib.layers.pooling import *
from penstock.contrib.layers.regularizers import *
from penstock.contrib.layers.reshaping import *
from penstock.contrib.layers.reversible import *
from penstock.contrib.layers.spatial import *
from penstock.contrib.layers.summaries import *
from penstock.contrib.layers.target_columns import multi_class_target, regression_target
from penstock.ops.sparse_feature_cross import SPARSE_FEATURE_CROSS_DEFAULT_HASH_KEY

#: `import *` gives functions and constants, no modules: `tf.contrib.slim` has some of those names.
__all__ = [
    name
    for name, value in list(globals().items())
    if not name.startswith("_") and name != "ModuleType" and not isinstance(value, ModuleType)
]

__getattr__ = lazy_paths.resolver(
    __name__,
    {
        "utils": "contrib.layers.python.layers.utils",
        "layers": "contrib.layers.python.layers.layers",
        "feature_column": "contrib.layers.python.layers.feature_column",
    },
)
