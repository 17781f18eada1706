"""Joining nodes of a placed step, with what only the runtime knows: devices' kernels and memory."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from penstock import dtypes
from penstock.ir.registry import READS
from penstock.ir.step_graph import Edge, Node, StepGraph
from penstock.kernels import registry
from penstock.passes.biased_products import BIASED_PRODUCT, add_bias_in_products
from penstock.passes.conv_epilogue import RECTIFIED_CONV, rectify_in_convolutions
from penstock.passes.conv_gradients import CONV_GRADIENTS, join_conv_gradients
from penstock.passes.descent_in_products import DESCENTS, descend_in_products
from penstock.passes.pipeline import PassOptions, run_pass
from penstock.passes.relu_sums import RELU_GRAD_AND_SUM, sum_rectified_gradients
from penstock.passes.together import TOGETHER, gradient_of, update_together
from penstock.runtime.device import Device


def join_nodes(graph: StepGraph, devices: Mapping[str, Device], options: PassOptions) -> None:
    """Lets one node do the work of several of one device."""

    def has_kernel(op_type: str, node: Node) -> bool:
        return registry.find(op_type, devices[node.device].device_type) is not None

    def may_update(node: Node) -> bool:
        if not has_kernel(TOGETHER[node.type].name, node):
            return False
        device_type = devices[node.device].device_type
        return not _may_share_state(gradient_of(node), device_type)

    def may_descend(node: Node, product: Node) -> bool:
        if not has_kernel(DESCENTS[node.type].name, node):
            return False
        device_type = devices[node.device].device_type
        return not any(_may_share_state(factor, device_type) for factor in product.inputs)

    if options.bias:
        join = partial(add_bias_in_products, may_join=partial(has_kernel, BIASED_PRODUCT.name))
        run_pass("add_bias_in_products", join, graph)
    if options.conv_epilogue:
        join = partial(rectify_in_convolutions, may_join=partial(has_kernel, RECTIFIED_CONV.name))
        run_pass("rectify_in_convolutions", join, graph)
    if options.relu_sums:
        join = partial(
            sum_rectified_gradients, may_join=partial(has_kernel, RELU_GRAD_AND_SUM.name)
        )
        run_pass("sum_rectified_gradients", join, graph)
    if options.conv_gradients:
        join = partial(join_conv_gradients, may_join=partial(has_kernel, CONV_GRADIENTS.name))
        run_pass("join_conv_gradients", join, graph)
    if options.descent:
        run_pass("descend_in_products", partial(descend_in_products, may_join=may_descend), graph)
    if options.together:
        run_pass("update_together", partial(update_together, may_join=may_update), graph)


def _may_share_state(edge: Edge, device_type: str) -> bool:
    """Whether a value may lie in a variable's memory, which another member would overwrite."""
    pending = [edge]
    while pending:
        current = pending.pop()
        if current.dtype.is_ref_dtype or current.dtype is dtypes.resource:
            return True
        node = current.node
        if READS in node.spec.traits:
            return True
        kernel = registry.find(node.type, device_type)
        if kernel is None or not kernel.fresh:
            pending += node.inputs
    return False
