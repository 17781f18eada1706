"""The kernel of GatherTree: whole beams, from the ids and the parents of each step."""

import torch

from penstock.errors import InvalidArgumentError
from penstock.kernels.registry import kernel


@kernel("GatherTree", fresh=True)
def _(node):
    return _gather_tree


def _gather_tree(step_ids, parent_ids, max_lengths, end_token):
    _check(step_ids, parent_ids, max_lengths, end_token)
    time, batch, width = step_ids.shape
    lengths = max_lengths.long().clamp(max=time)
    beams = end_token.expand(time, batch, width).clone()
    parents = torch.arange(width, device=step_ids.device).expand(batch, width)
    for t in range(time - 1, -1, -1):
        within = (t < lengths)[:, None]
        bad = within & ((parents < 0) | (parents >= width))
        if bool(bad.any()):
            entry, beam = (int(i) for i in bad.nonzero()[0])
            raise InvalidArgumentError(
                None,
                None,
                f"Saw invalid parent id {int(parents[entry, beam])} at (batch, time, beam) == "
                f"({entry}, {t}, {beam})",
            )
        inside = parents.clamp(0, max(width - 1, 0))
        beams[t] = torch.where(within, step_ids[t].gather(1, inside), beams[t])
        parents = torch.where(within, parent_ids[t].long().gather(1, inside), parents)
    is_end = beams == end_token
    ended_before = (is_end.int().cumsum(0) - is_end.int()) > 0
    return torch.where(ended_before, end_token, beams)


def _check(step_ids, parent_ids, max_lengths, end_token):
    def invalid(message):
        return InvalidArgumentError(None, None, message)

    if step_ids.dim() != 3:
        raise invalid(f"step_ids must be a 3-tensor, saw shape: {list(step_ids.shape)}")
    if step_ids.shape != parent_ids.shape:
        raise invalid(
            f"step_ids.shape must match parent_ids.shape. but shapes are: {list(step_ids.shape)} "
            f"and {list(parent_ids.shape)}"
        )
    if max_lengths.dim() != 1:
        raise invalid("max_sequence_lengths must be a vector")
    if max_lengths.shape[0] != step_ids.shape[1]:
        raise invalid(
            "batch size dimensions step_ids.shape[1] and max_sequence_lengths.shape[0] must "
            f"match. but shapes are: {list(step_ids.shape)} and {list(max_lengths.shape)}"
        )
    if end_token.dim() != 0:
        raise invalid(f"end_token must be a scalar, saw shape: {list(end_token.shape)}")
