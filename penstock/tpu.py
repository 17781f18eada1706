"""`tf.tpu`: those functions for TPUs that mean something without one."""

from penstock.contrib.tpu.training import CrossShardOptimizer, bfloat16_scope, cross_replica_sum

__all__ = ["CrossShardOptimizer", "bfloat16_scope", "cross_replica_sum"]
