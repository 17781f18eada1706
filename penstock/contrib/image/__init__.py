"""`tf.contrib.image`: images transformed and warped, boxes matched."""

from penstock.contrib import lazy_paths
from penstock.contrib.image.control_points import sparse_image_warp
from penstock.contrib.image.distortions import (
    adjust_hsv_in_yiq,
    connected_components,
    random_hsv_in_yiq,
)
from penstock.contrib.image.splines import interpolate_spline
from penstock.ops.bipartite_matching import bipartite_match
from penstock.ops.image_transforms import (
    angles_to_projective_transforms,
    compose_transforms,
    flat_transforms_to_matrices,
    matrices_to_flat_transforms,
    rotate,
    transform,
    translate,
    translations_to_projective_transforms,
)
from penstock.ops.image_warping import dense_image_warp

__all__ = [
    "adjust_hsv_in_yiq",
    "angles_to_projective_transforms",
    "bipartite_match",
    "compose_transforms",
    "connected_components",
    "dense_image_warp",
    "flat_transforms_to_matrices",
    "interpolate_spline",
    "matrices_to_flat_transforms",
    "random_hsv_in_yiq",
    "rotate",
    "sparse_image_warp",
    "transform",
    "translate",
    "translations_to_projective_transforms",
]

__getattr__ = lazy_paths.resolver(__name__)
