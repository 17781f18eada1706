"""Optimizers' rules over lists of variables: the arithmetic of `update_rules.py`, in fewer calls.

A rule's arguments are those of the single rule, but buffers and gradients are lists.
"""

import torch

from penstock.kernels.update_rules import RULES, can_fuse, fused_adam, fused_momentum, ratio, root


def _plain(*scalars):
    return all(type(scalar) is float for scalar in scalars)


def gradient_descent(variables, alpha, deltas):
    if _plain(alpha):
        torch._foreach_add_(variables, deltas, alpha=-alpha)
        return
    for variable, delta in zip(variables, deltas, strict=True):
        RULES["GradientDescent"](variable, alpha, delta)


def momentum(variables, accums, lr, grads, momentum, *, use_nesterov):
    if momentum and can_fuse((lr, momentum), *variables, *accums, *grads):
        fused_momentum(variables, accums, lr, grads, momentum, use_nesterov)
    elif _plain(lr, momentum):
        torch._foreach_mul_(accums, momentum)
        torch._foreach_add_(accums, grads)
        if use_nesterov:
            torch._foreach_add_(variables, grads, alpha=-lr)
            torch._foreach_add_(variables, accums, alpha=-lr * momentum)
        else:
            torch._foreach_add_(variables, accums, alpha=-lr)
    else:
        for variable, accum, grad in zip(variables, accums, grads, strict=True):
            rule = RULES["Momentum"]
            rule(variable, accum, lr, grad, momentum, use_nesterov=use_nesterov)


def adam(
    variables, m, v, beta1_power, beta2_power, lr, beta1, beta2, epsilon, grads, *, use_nesterov
):
    if use_nesterov or not _plain(beta1, beta2, epsilon):
        shared = beta1_power, beta2_power, lr, beta1, beta2, epsilon
        for *buffers, grad in zip(variables, m, v, grads, strict=True):
            RULES["Adam"](*buffers, *shared, grad, use_nesterov=use_nesterov)
        return
    alpha = ratio(lr * root(1 - beta2_power), 1 - beta1_power)
    if fused_adam(variables, m, v, alpha, beta1, beta2, epsilon, grads):
        return
    torch._foreach_lerp_(m, grads, 1 - beta1)
    torch._foreach_mul_(v, beta2)
    torch._foreach_addcmul_(v, grads, grads, 1 - beta2)
    below = torch._foreach_sqrt(v)
    torch._foreach_add_(below, epsilon)
    if _plain(alpha):
        torch._foreach_addcdiv_(variables, m, below, -alpha)
    else:
        torch._foreach_addcdiv_(variables, torch._foreach_mul(m, alpha), below, -1)


LIST_RULES = {"GradientDescent": gradient_descent, "Momentum": momentum, "Adam": adam}
