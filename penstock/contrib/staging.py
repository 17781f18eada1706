"""`tf.contrib.staging`: staging areas."""

from penstock.ops.staging import MapStagingArea, StagingArea

__all__ = ["MapStagingArea", "StagingArea"]
