"""The arithmetic of optimizers, in place on a variable and its slots.

A rule gets its arguments in the order of the operation's signature: first the buffers, which it
overwrites, then the gradient and hyper-parameters in whichever order TensorFlow has them, then the
operation's flags by name. Hyper-parameters are Python floats, or scalar tensors where reading them
would make the host wait for an accelerator. A gradient may share the variable's memory (the
gradient of a sum of squares does): a rule reads it for the last time when it writes the variable.
"""

import math

import torch

# Scalars --------------------------------------------------------------------------------------


def ratio(a, b):
    """a / b by the rules of floating point, where Python raises an error for zero."""
    try:
        return a / b
    except ZeroDivisionError:
        return math.nan if a == 0 or a != a else math.copysign(math.inf, a)


def root(x):
    if isinstance(x, torch.Tensor):
        return x.sqrt()
    return math.sqrt(x) if x >= 0 else math.nan


# In place -------------------------------------------------------------------------------------


def _add_scaled(target, x, factor):
    """target += factor * x"""
    if isinstance(factor, torch.Tensor):
        target.addcmul_(x, factor)
    else:
        target.add_(x, alpha=factor)


def _add_product(target, x, y, factor):
    """target += factor * x * y"""
    if isinstance(factor, torch.Tensor):
        target.addcmul_(x * factor, y)
    else:
        target.addcmul_(x, y, value=factor)


def _subtract_quotient(target, x, y, factor):
    """target -= factor * x / y"""
    if isinstance(factor, torch.Tensor):
        target.addcdiv_(x * factor, y, value=-1)
    else:
        target.addcdiv_(x, y, value=-factor)


def _move_towards(mean, x, weight):
    """mean += (x - mean) * weight"""
    mean.lerp_(x, weight)


def _move_towards_square(mean, x, weight):
    """mean += (x² - mean) * weight"""
    if isinstance(weight, torch.Tensor):
        mean.lerp_(x * x, weight)
    else:
        mean.mul_(1 - weight).addcmul_(x, x, value=weight)


def _shrunk(x, amount):
    """x moved towards zero by `amount`, but not past it; overwrites x."""
    if type(amount) is float and amount >= 0 and x.dtype in _FUSED:
        return torch._C._nn.softshrink(x, amount)
    return torch.sub(x.abs(), amount).clamp_min_(0).mul_(x.sign_())


_FUSED = frozenset({torch.float32, torch.float64, torch.float16, torch.bfloat16})


def can_fuse(scalars, *tensors):
    """Whether ATen's fused updates apply: they run over memory as it lies, with plain numbers."""
    for scalar in scalars:
        if type(scalar) is not float:
            return False
    for tensor in tensors:
        if not tensor.is_contiguous():
            return False
    return tensor.dtype in _FUSED and tensor.is_cpu


_ONE = torch.ones(())  # the number of the step, where a fused update wants one


# Descent --------------------------------------------------------------------------------------


def gradient_descent(var, alpha, delta):
    _add_scaled(var, delta, -alpha)


def proximal_gradient_descent(var, alpha, l1, l2, delta):
    _add_scaled(var, delta, -alpha)
    if isinstance(l1, torch.Tensor) or l1 > 0:
        var.copy_(_shrunk(var, alpha * l1))
    var.div_(1 + l2 * alpha)


def fused_momentum(variables, accums, lr, grads, momentum, use_nesterov):
    """The update by ATen's own rule, for lists of which `can_fuse` holds."""
    torch._fused_sgd_(
        variables,
        grads,
        accums,
        weight_decay=0.0,
        momentum=momentum,
        lr=lr,
        dampening=0.0,
        nesterov=use_nesterov,
        maximize=False,
        is_first_step=False,
    )


def momentum(var, accum, lr, grad, momentum, *, use_nesterov):
    # Without momentum the fused update wants no accumulator, but it is to hold the gradient.
    if can_fuse((lr, momentum), var, accum, grad) and momentum:
        fused_momentum([var], [accum], lr, [grad], momentum, use_nesterov)
        return
    accum.mul_(momentum).add_(grad)
    if use_nesterov:
        _add_scaled(var, grad, -lr)
        _add_scaled(var, accum, -lr * momentum)
    else:
        _add_scaled(var, accum, -lr)


def keras_momentum(var, accum, lr, grad, momentum, *, use_nesterov):
    accum.mul_(momentum)
    _add_scaled(accum, grad, -lr)
    if use_nesterov:
        _add_scaled(var, grad, -lr)
        _add_scaled(var, accum, momentum)
    else:
        var.add_(accum)


# Adagrad and its kin --------------------------------------------------------------------------


def adagrad(var, accum, lr, grad, *, update_slots):
    adagrad_v2(var, accum, lr, 0.0, grad, update_slots=update_slots)


def adagrad_v2(var, accum, lr, epsilon, grad, *, update_slots):
    if update_slots and can_fuse((lr, epsilon), var, accum, grad):
        torch._fused_adagrad_(
            [var],
            [grad],
            [accum],
            [_ONE],
            lr=lr,
            lr_decay=0.0,
            weight_decay=0.0,
            eps=epsilon,
            maximize=False,
        )
        return
    if update_slots:
        accum.addcmul_(grad, grad)
    _subtract_quotient(var, grad, accum.sqrt().add_(epsilon), lr)


def proximal_adagrad(var, accum, lr, l1, l2, grad):
    accum.addcmul_(grad, grad)
    rate = accum.rsqrt().mul_(lr)
    var.addcmul_(grad, rate, value=-1)
    if isinstance(l1, torch.Tensor) or l1 > 0:
        var.copy_(_shrunk(var, rate * l1))
    var.div_(rate.mul_(l2).add_(1))


def adagrad_da(
    var, gradient_accumulator, gradient_squared_accumulator, grad, lr, l1, l2, global_step
):
    gradient_accumulator.add_(grad)
    gradient_squared_accumulator.addcmul_(grad, grad)
    torch.mul(gradient_accumulator, -lr, out=var)
    if isinstance(l1, torch.Tensor) or l1 > 0:
        var.copy_(_shrunk(var, abs(lr) * l1 * global_step))
    var.div_(gradient_squared_accumulator.sqrt().add_(l2 * global_step * lr))


def adadelta(var, accum, accum_update, lr, rho, epsilon, grad):
    _move_towards_square(accum, grad, 1 - rho)
    update = torch.add(accum_update, epsilon).div_(torch.add(accum, epsilon)).sqrt_().mul_(grad)
    _add_scaled(var, update, -lr)
    _move_towards_square(accum_update, update, 1 - rho)


def rms_prop(var, ms, mom, lr, rho, momentum, epsilon, grad):
    _move_towards_square(ms, grad, 1 - rho)
    mom.mul_(momentum)
    _add_product(mom, grad, torch.add(ms, epsilon).rsqrt_(), lr)
    var.sub_(mom)


def centered_rms_prop(var, mg, ms, mom, lr, rho, momentum, epsilon, grad):
    _move_towards_square(ms, grad, 1 - rho)
    _move_towards(mg, grad, 1 - rho)
    mom.mul_(momentum)
    variance = torch.addcmul(ms, mg, mg, value=-1).add_(epsilon)
    _add_product(mom, grad, variance.rsqrt_(), lr)
    var.sub_(mom)


# Adam and its kin -----------------------------------------------------------------------------


def adam(var, m, v, beta1_power, beta2_power, lr, beta1, beta2, epsilon, grad, *, use_nesterov):
    alpha = ratio(lr * root(1 - beta2_power), 1 - beta1_power)
    if not use_nesterov and fused_adam([var], [m], [v], alpha, beta1, beta2, epsilon, [grad]):
        return
    _move_towards(m, grad, 1 - beta1)
    _move_towards_square(v, grad, 1 - beta2)
    mean = torch.mul(m, beta1).add_(grad * (1 - beta1)) if use_nesterov else m
    _subtract_quotient(var, mean, v.sqrt().add_(epsilon), alpha)


def fused_adam(variables, m, v, alpha, beta1, beta2, epsilon, grads):
    """The update of lists by ATen's own Adam, told that this is step 1; whether it was possible.

    There it corrects the bias of m by 1 - beta1 and that of v by 1 - beta2: rate and epsilon are
    chosen such that the corrections cancel.
    """
    scalars = (alpha, beta1, beta2, epsilon)
    if not can_fuse(scalars, *variables, *m, *v, *grads) or beta1 >= 1 or beta2 >= 1:
        return False
    scale = math.sqrt(1 - beta2)
    torch._fused_adam_(
        variables,
        grads,
        m,
        v,
        [],
        [_ONE] * len(variables),
        lr=alpha * (1 - beta1) / scale,
        beta1=beta1,
        beta2=beta2,
        weight_decay=0.0,
        eps=epsilon / scale,
        amsgrad=False,
        maximize=False,
    )
    return True


def adam_with_amsgrad(var, m, v, vhat, beta1_power, beta2_power, lr, beta1, beta2, epsilon, grad):
    alpha = ratio(lr * root(1 - beta2_power), 1 - beta1_power)
    _move_towards(m, grad, 1 - beta1)
    _move_towards_square(v, grad, 1 - beta2)
    torch.maximum(vhat, v, out=vhat)
    _subtract_quotient(var, m, vhat.sqrt().add_(epsilon), alpha)


def ada_max(var, m, v, beta1_power, lr, beta1, beta2, epsilon, grad):
    _move_towards(m, grad, 1 - beta1)
    torch.maximum(v.mul_(beta2), grad.abs(), out=v)
    _subtract_quotient(var, m, torch.add(v, epsilon), ratio(lr, 1 - beta1_power))


# Ftrl -----------------------------------------------------------------------------------------


def ftrl(var, accum, linear, grad, lr, l1, l2, lr_power, *, multiply_linear_by_lr):
    ftrl_v2(
        var,
        accum,
        linear,
        grad,
        lr,
        l1,
        l2,
        0.0,
        lr_power,
        multiply_linear_by_lr=multiply_linear_by_lr,
    )


def ftrl_v2(var, accum, linear, grad, lr, l1, l2, l2_shrinkage, lr_power, *, multiply_linear_by_lr):
    """With `multiply_linear_by_lr` the slot `linear` and all that is compared with it are lr times
    as large.
    """
    scale = lr if multiply_linear_by_lr else 1.0
    over = 1.0 if multiply_linear_by_lr else lr
    before = _power(accum, lr_power)
    if not (isinstance(l2_shrinkage, float) and l2_shrinkage == 0):
        shrunk = torch.mul(var, 2 * l2_shrinkage).add_(grad)
    else:
        shrunk = grad
    accum.addcmul_(grad, grad)
    after = _power(accum, lr_power)
    _add_scaled(linear, shrunk, scale)
    _add_scaled(linear, before.neg_().add_(after).mul_(var), ratio(-1.0, over))
    quadratic = after.div_(over).add_(2 * l2 * scale)
    torch.div(_shrunk(linear.neg(), l1 * scale), quadratic, out=var)


def _power(accum, lr_power):
    if isinstance(lr_power, float) and lr_power == -0.5:
        return accum.sqrt()
    return accum.pow(-lr_power)


# Signs ----------------------------------------------------------------------------------------


def add_sign(var, m, lr, alpha, sign_decay, beta, grad):
    _move_towards(m, grad, 1 - beta)
    factor = torch.sign(grad).mul_(m.sign()).mul_(sign_decay).add_(alpha)
    _add_scaled(var, factor.mul_(grad), -lr)


def power_sign(var, m, lr, logbase, sign_decay, beta, grad):
    _move_towards(m, grad, 1 - beta)
    factor = torch.sign(grad).mul_(m.sign()).mul_(logbase * sign_decay).exp_()
    _add_scaled(var, factor.mul_(grad), -lr)


RULES = {
    "GradientDescent": gradient_descent,
    "ProximalGradientDescent": proximal_gradient_descent,
    "Momentum": momentum,
    "KerasMomentum": keras_momentum,
    "Adagrad": adagrad,
    "AdagradV2": adagrad_v2,
    "ProximalAdagrad": proximal_adagrad,
    "AdagradDA": adagrad_da,
    "Adadelta": adadelta,
    "RMSProp": rms_prop,
    "CenteredRMSProp": centered_rms_prop,
    "Adam": adam,
    "AdamWithAmsgrad": adam_with_amsgrad,
    "AdaMax": ada_max,
    "Ftrl": ftrl,
    "FtrlV2": ftrl_v2,
    "AddSign": add_sign,
    "PowerSign": power_sign,
}
