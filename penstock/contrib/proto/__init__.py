"""`tf.contrib.proto`: protocol messages taken apart into tensors, and put together from them."""

from penstock.contrib import lazy_paths
from penstock.ops.proto_messages import decode_proto, encode_proto

__all__ = ["decode_proto", "encode_proto"]

__getattr__ = lazy_paths.resolver(__name__)
