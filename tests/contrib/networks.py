"""The networks of `slim.nets`, and a digest of their variables."""

from __future__ import annotations

import hashlib
import importlib
from typing import Any

#: The module of each network, its function to call, its argument scope, and the size of images.
NETWORKS = {
    "alexnet_v2": ("alexnet", "alexnet_v2_arg_scope", 224),
    "overfeat": ("overfeat", "overfeat_arg_scope", 231),
    "vgg_a": ("vgg", "vgg_arg_scope", 224),
    "vgg_16": ("vgg", "vgg_arg_scope", 224),
    "vgg_19": ("vgg", "vgg_arg_scope", 224),
    "inception_v1": ("inception_v1", "inception_v1_arg_scope", 224),
    "inception_v2": ("inception_v2", "inception_v2_arg_scope", 224),
    "inception_v3": ("inception_v3", "inception_v3_arg_scope", 299),
    "resnet_v1_50": ("resnet_v1", "resnet_arg_scope", 224),
    "resnet_v1_101": ("resnet_v1", "resnet_arg_scope", 224),
    "resnet_v2_50": ("resnet_v2", "resnet_arg_scope", 224),
    "resnet_v2_152": ("resnet_v2", "resnet_arg_scope", 224),
}


def variables_of(tf: Any, slim: Any, nets: Any, name: str) -> dict[str, Any]:
    """How many variables a network has, a digest of names and shapes, and its end points."""
    module_name, scope_name, size = NETWORKS[name]
    module = importlib.import_module(f"{nets.__name__}.{module_name}")
    with tf.Graph().as_default(), slim.arg_scope(getattr(module, scope_name)()):
        inputs = tf.placeholder(tf.float32, [2, size, size, 3])
        logits, end_points = getattr(module, name)(inputs, 10)
        variables = sorted(f"{each.name} {each.shape.as_list()}" for each in tf.global_variables())
        return {
            "count": len(variables),
            "digest": hashlib.sha256("\n".join(variables).encode()).hexdigest(),
            "logits": [logits.name, logits.shape.as_list()],
            "end_points": {key: each.shape.as_list() for key, each in sorted(end_points.items())},
            "regularization": len(tf.get_collection("regularization_losses")),
            "updates": len(tf.get_collection("update_ops")),
        }
