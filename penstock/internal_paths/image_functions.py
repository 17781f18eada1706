"""Functions on images under the names that TensorFlow's own programs use."""

from penstock.ops.image_boxes import (
    crop_and_resize as crop_and_resize_v1,
)
from penstock.ops.image_boxes import (
    crop_and_resize_v2,
    draw_bounding_boxes_v2,
    sample_distorted_bounding_box_v2,
)
from penstock.ops.image_boxes import (
    non_max_suppression_overlaps as non_max_suppression_with_overlaps,
)
from penstock.ops.image_color import RGB_TO_YIQ as _rgb_to_yiq_kernel
from penstock.ops.image_color import RGB_TO_YUV as _rgb_to_yuv_kernel
from penstock.ops.image_color import YIQ_TO_RGB as _yiq_to_rgb_kernel
from penstock.ops.image_color import YUV_TO_RGB as _yuv_to_rgb_kernel
from penstock.ops.image_patches import extract_glimpse_v2
from penstock.ops.image_quality import SCALE_WEIGHTS as _MSSSIM_WEIGHTS
from penstock.ops.image_quality import compared_shapes as _verify_compatible_image_shapes
from penstock.ops.image_quality import gaussian_window as _fspecial_gauss
from penstock.ops.image_quality import per_channel as _ssim_per_channel
from penstock.ops.image_resizing import ResizeMethod as ResizeMethodV1
from penstock.ops.image_resizing import ResizeMethodV2 as ResizeMethod
from penstock.ops.image_resizing import resize_image_with_pad as resize_image_with_pad_v1
from penstock.ops.image_resizing import resize_image_with_pad_v2, resize_images_v2

__all__ = [
    "_MSSSIM_WEIGHTS",
    "ResizeMethod",
    "ResizeMethodV1",
    "_fspecial_gauss",
    "_rgb_to_yiq_kernel",
    "_rgb_to_yuv_kernel",
    "_ssim_per_channel",
    "_verify_compatible_image_shapes",
    "_yiq_to_rgb_kernel",
    "_yuv_to_rgb_kernel",
    "crop_and_resize_v1",
    "crop_and_resize_v2",
    "draw_bounding_boxes_v2",
    "extract_glimpse_v2",
    "non_max_suppression_with_overlaps",
    "resize_image_with_pad_v1",
    "resize_image_with_pad_v2",
    "resize_images_v2",
    "sample_distorted_bounding_box_v2",
]
