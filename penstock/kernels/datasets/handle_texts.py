"""Handles of iterators as strings, which programs feed to say whose elements they want."""

from __future__ import annotations

from google.protobuf.message import DecodeError

from penstock import errors, proto
from penstock.kernels.datasets.readers import scalar_string
from penstock.kernels.sparse_rows import invalid


def handle_text(env, resource, kind):
    """A handle as a string; `kind` is TensorFlow's class of such resources."""
    message = proto.ResourceHandleProto(
        device=env.device.name,
        container=resource.container or env.resources.default_container,
        name=resource.name,
        maybe_type_name=f"tensorflow::data::{kind}",
    )
    return scalar_string(message.SerializeToString(deterministic=True))


def of_handle_text(env, text, our_class, kind):
    """The resource whose handle a string is."""
    message = proto.ResourceHandleProto()
    try:
        message.ParseFromString(text.item())
    except DecodeError:
        raise invalid("Could not parse string_handle as a valid ResourceHandle") from None
    if message.device != env.device.name:
        raise invalid(
            f'Attempted create an iterator on device "{env.device.name}" from handle defined on '
            f'device "{message.device}"'
        )
    place = our_class, message.container, message.name
    resource = env.resources.own.find(*place) or env.resources.find(*place)
    if resource is None:
        name = f"{message.container}/{message.name}/N10tensorflow4data{len(kind)}{kind}E"
        raise errors.NotFoundError(None, None, f"Resource {name} does not exist.")
    return resource
