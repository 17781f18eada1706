"""Choosing among candidates: iterates of training with their objectives and violations."""

from __future__ import annotations

from typing import Any

import numpy as np


def _best_distribution(
    objective_vector: Any, constraints_matrix: Any, maximum_violation: float = 0.0
) -> Any:
    """The distribution of least objective whose expected violations are bounded, or None."""
    from scipy.optimize import linprog

    constraints, candidates = _checked_sizes(objective_vector, constraints_matrix)
    result = linprog(
        objective_vector,
        A_ub=constraints_matrix,
        b_ub=np.full(constraints, maximum_violation),
        A_eq=np.ones((1, candidates)),
        b_eq=np.ones(1),
        bounds=(0, None),
    )
    return result.x if result.success else None


def _checked_sizes(objective_vector: Any, constraints_matrix: Any) -> tuple[int, int]:
    constraints, candidates = np.shape(constraints_matrix)
    if np.shape(objective_vector) != (candidates,):
        raise ValueError(
            "objective_vector must have shape (n,), and constraints_matrix (m, n), where n is the "
            "number of candidates, and m is the number of constraints"
        )
    return constraints, candidates


def find_best_candidate_distribution(
    objective_vector: Any, constraints_matrix: Any, epsilon: float = 0.0
) -> Any:
    """A distribution over candidates that violates constraints as little as possible.

    Among those it has the least expected objective.

    Args:
      objective_vector: the objective of each candidate.
      constraints_matrix: a row of violations for each constraint; those above 0 count.
      epsilon: how near the least violation has to be found.
    """
    if epsilon < 0.0:
        raise ValueError("epsilon must be nonnegative")
    feasible = _best_distribution(objective_vector, constraints_matrix)
    if feasible is not None:
        return feasible
    lower, upper = 0.0, float(np.min(np.amax(constraints_matrix, axis=0)))
    best = _best_distribution(objective_vector, constraints_matrix, upper)
    assert best is not None, "the candidate of least violation is a distribution itself"
    while True:
        middle = 0.5 * (lower + upper)
        if min(middle - lower, upper - middle) <= epsilon:
            return best
        found = _best_distribution(objective_vector, constraints_matrix, middle)
        if found is None:
            lower = middle
        else:
            best, upper = found, middle


def find_best_candidate_index(
    objective_vector: Any, constraints_matrix: Any, rank_objectives: bool = False
) -> int:
    """The candidate whose worst rank among violations is best; ties go by objective.

    Args:
      rank_objectives: counts the objective's rank among the others.
    """
    from scipy.stats import rankdata

    _, candidates = _checked_sizes(objective_vector, constraints_matrix)
    worst = np.zeros(candidates, dtype=np.int64)
    if rank_objectives:
        worst = rankdata(objective_vector, method="min")
    for row in np.maximum(0.0, np.asarray(constraints_matrix)):
        worst = np.maximum(worst, rankdata(row, method="min"))
    # Of equal ones the last wins.
    return min(range(candidates), key=lambda i: (worst[i], objective_vector[i], -i))
