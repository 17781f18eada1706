"""`tf.contrib.nearest_neighbor`: where points near to others may be found."""

from penstock.ops.nearest_neighbors import hyperplane_lsh_probes

__all__ = ["hyperplane_lsh_probes"]
