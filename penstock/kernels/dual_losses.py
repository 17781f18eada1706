"""Losses of dual coordinate ascent: each gives the dual variable of one example in closed form.

A loss is a function of the prediction `wx` and the label; its dual one of the dual variable. `norm`
is the example's squared norm over the L2 regularization, times its weight and the number of
partitions of the loss: how much the prediction moves when the dual variable does.
"""

import math

from penstock import errors

_NEWTON_STEPS = 10


def _binary_label(label):
    if label == 0.0:
        return -1.0
    if label == 1.0:
        return 1.0
    raise errors.InvalidArgumentError(
        None,
        None,
        f"Only labels of 0.0 or 1.0 are supported right now. Found example with label: {label:g}",
    )


class LogisticLoss:
    """log(1 + exp(-y wx)) for labels y of -1 and 1."""

    smoothness = 4.0
    label = staticmethod(_binary_label)

    @staticmethod
    def updated_dual(label, dual, wx, norm):
        # With dual = (1 + tanh x) / 2y, Newton's method finds x in a few steps from anywhere.
        x = 0.0
        for _ in range(_NEWTON_STEPS):
            tanh = math.tanh(x)
            excess = -2 * label * x - wx - norm * (0.5 * (1 + tanh) / label - dual)
            slope = -2 * label - norm * (1 - tanh * tanh) * 0.5 / label
            x -= excess / slope
        return 0.5 * (1 + math.tanh(x)) / label

    @staticmethod
    def primal(wx, label):
        margin = label * wx
        return math.log1p(math.exp(-abs(margin))) + max(-margin, 0.0)

    @staticmethod
    def dual(dual, label):
        share = label * dual
        return sum(part * math.log(part) for part in (share, 1 - share) if part > 0)

    @staticmethod
    def slope(wx, label):
        margin = label * wx
        small = math.exp(-abs(margin))
        return label * (small / (1 + small) if margin > 0 else 1 / (1 + small))


class SquaredLoss:
    """Half the square of what is missing."""

    smoothness = 1.0
    label = staticmethod(float)

    @staticmethod
    def updated_dual(label, dual, wx, norm):
        return dual + (label - dual - wx) / (1 + norm)

    @staticmethod
    def primal(wx, label):
        return 0.5 * (wx - label) ** 2

    @staticmethod
    def dual(dual, label):
        return dual * (0.5 * dual - label)

    @staticmethod
    def slope(wx, label):
        return wx - label


def _between_zero_and(label, dual):
    """The nearest dual variable that a hinge allows."""
    if label * dual < 0:
        return 0.0
    return label if label * dual > 1 else dual


class HingeLoss:
    """How far a prediction is from being on the right side by 1."""

    smoothness = 0.0
    label = staticmethod(_binary_label)

    @staticmethod
    def updated_dual(label, dual, wx, norm):
        if norm == 0:
            return label if label * wx < 1 else 0.0
        return _between_zero_and(label, dual + (label - wx) / norm)

    @staticmethod
    def primal(wx, label):
        return max(0.0, 1 - label * wx)

    @staticmethod
    def dual(dual, label):
        return -label * dual if 0 <= label * dual <= 1 else math.inf

    @staticmethod
    def slope(wx, label):
        return -label if label * wx < 1 else 0.0


class SmoothHingeLoss:
    """A hinge that is a parabola within 1 of where it bends."""

    smoothness = 1.0
    label = staticmethod(_binary_label)

    @staticmethod
    def updated_dual(label, dual, wx, norm):
        return _between_zero_and(label, dual + (label - wx - dual) / (norm + 1))

    @staticmethod
    def primal(wx, label):
        missing = 1 - label * wx
        if missing <= 0:
            return 0.0
        return missing - 0.5 if missing >= 1 else 0.5 * missing * missing

    @staticmethod
    def dual(dual, label):
        if not 0 <= label * dual <= 1:
            return math.inf
        return -label * dual + 0.5 * dual * dual

    @staticmethod
    def slope(wx, label):
        return -label * min(max(1 - label * wx, 0.0), 1.0)


class PoissonLoss:
    """exp(wx) - y wx for numbers y of events."""

    smoothness = 1.0

    @staticmethod
    def label(label):
        if label < 0:
            raise errors.InvalidArgumentError(
                None,
                None,
                "Only non-negative labels can be used with the Poisson log loss. Found example "
                f"with label: {label:g}",
            )
        return float(label)

    @staticmethod
    def updated_dual(label, dual, wx, norm):
        # With dual = y - exp(x).
        x = 0.0
        for _ in range(_NEWTON_STEPS):
            exp = math.exp(x)
            x -= (x - wx - norm * (label - dual - exp)) / (1 + norm * exp)
        return label - math.exp(x)

    @staticmethod
    def primal(wx, label):
        return math.exp(wx) - wx * label

    @staticmethod
    def dual(dual, label):
        rest = label - dual
        if rest < 0:
            return math.inf
        return rest * (math.log(rest) - 1) if rest else 0.0

    @staticmethod
    def slope(wx, label):
        return math.exp(wx) - label


LOSSES = {
    "logistic_loss": LogisticLoss,
    "squared_loss": SquaredLoss,
    "hinge_loss": HingeLoss,
    "smooth_hinge_loss": SmoothHingeLoss,
    "poisson_loss": PoissonLoss,
}
