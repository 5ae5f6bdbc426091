"""Assignments of least cost."""

import math
import numpy as np
import _missing


def linear_sum_assignment(cost_matrix, maximize=False):
    """Rows to columns, by shortest augmenting paths (Jonker and Volgenant, 1987)."""
    cost = np.array(cost_matrix, np.float64).tolist()
    turned = len(cost) > (len(cost[0]) if cost else 0)
    if turned:
        cost = [list(row) for row in zip(*cost)]
    if maximize:
        cost = [[-v for v in row] for row in cost]
    n, m = len(cost), len(cost[0]) if cost else 0
    u, v = [0.0] * (n + 1), [0.0] * (m + 1)
    taken = [0] * (m + 1)
    for i in range(1, n + 1):
        taken[0], at = i, 0
        least, before, seen = [math.inf] * (m + 1), [0] * (m + 1), [False] * (m + 1)
        while True:
            seen[at] = True
            row, gap, following = taken[at], math.inf, 0
            for j in range(1, m + 1):
                if not seen[j]:
                    reduced = cost[row - 1][j - 1] - u[row] - v[j]
                    if reduced < least[j]:
                        least[j], before[j] = reduced, at
                    if least[j] < gap:
                        gap, following = least[j], j
            for j in range(m + 1):
                if seen[j]:
                    u[taken[j]] += gap
                    v[j] -= gap
                else:
                    least[j] -= gap
            at = following
            if taken[at] == 0:
                break
        while at:
            taken[at] = taken[before[at]]
            at = before[at]
    pairs = sorted([(taken[j] - 1, j - 1) for j in range(1, m + 1) if taken[j]])
    if turned:
        pairs = sorted([(b, a) for a, b in pairs])
    return np.array([a for a, _ in pairs], np.int64), np.array([b for _, b in pairs], np.int64)


__getattr__ = _missing.names("scipy.optimize", globals())
