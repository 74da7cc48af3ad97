"""Golden trajectories of three subroutines, from their definitions and not from their shortcuts.

    pip install mpmath numpy
    python subroutines.py > subroutines.json

Internal regret adds up every pair's regret step by step and solves for the stationary distribution at 60 digits. Defensive
forecasting sums its kernel over the whole history. Outcomes are seeded (numpy, the version is written into the file).
"""

import json
import math
import sys

import numpy as np
from mpmath import exp, log, lu_solve, matrix, mp, mpf, sqrt

mp.dps = 60
STEPS = 80
SHOWN = [0, 1, 2, 5, 20, 79]
UNIFORM = [i / 20 for i in range(21)]
UNEVEN = [0.0, 0.01, 0.1, 0.25, 0.3, 0.55, 0.9, 1.0]


def tents(plays, p):
    weights = [0.0] * len(plays)
    cell = min(max(sum(v <= p for v in plays), 1), len(plays) - 1) - 1
    a = (p - plays[cell]) / (plays[cell + 1] - plays[cell])
    weights[cell], weights[cell + 1] = 1 - a, a
    return weights


def stationary(w):
    """q with q (W - diag(row sums)) = 0 and sum 1."""
    n = w.rows
    a = matrix(n, n)
    for i in range(n):
        for j in range(n):
            a[i, j] = w[j, i] if i != j else -sum(w[i, k] for k in range(n) if k != i)
    for j in range(n):
        a[n - 1, j] = 1
    b = matrix(n, 1)
    b[n - 1] = 1
    return list(lu_solve(a, b))


def internal_regret(plays, base, outcomes, rate, prior):
    v, n = [mpf(x) for x in plays], len(plays)
    base = mpf(base)
    regret = [[prior * ((v[i] - base) ** 2 - (v[j] - base) ** 2) for j in range(n)] for i in range(n)]
    shown = []
    for t, o in enumerate(outcomes):
        if t == 0:
            q = [mpf(x) for x in tents(plays, float(base))]
        else:
            eta = mpf(rate) if rate else 2 * sqrt(log(mpf(n * (n - 1))) / (t + 1))
            q = stationary(matrix([[exp(eta * regret[i][j]) for j in range(n)] for i in range(n)]))
        if t in SHOWN:
            shown.append({"step": t, "distribution": [float(x) for x in q], "mean": float(sum(a * b for a, b in zip(q, v)))})
        for i in range(n):
            for j in range(n):
                regret[i][j] += q[i] * ((v[i] - o) ** 2 - (v[j] - o) ** 2)
    own = [[regret[i][j] - prior * ((v[i] - base) ** 2 - (v[j] - base) ** 2) for j in range(n)] for i in range(n)]
    return shown, float(max(max(row) for row in own))


def defensive(plays, base, outcomes, bandwidth, prior):
    kernel = np.exp(-np.abs(np.subtract.outer(plays, plays)) / bandwidth)
    history, last, shown = [], base, []

    def bet(p):
        here = np.array(tents(plays, p))
        return sum(here @ kernel @ np.array(tents(plays, q)) * e for q, e in history) + prior * (base - p)

    for t, o in enumerate(outcomes):
        here = bet(last)
        p = last
        if abs(here) > 1e-13:
            # Plays on the side the sign points to, nearest first; the root lies before the first whose sign differs.
            ahead = [v for v in plays if v > last] if here > 0 else [v for v in reversed(plays) if v < last]
            left, at_left = last, here
            for v in ahead:
                at_v = bet(v)
                if at_v * here <= 0:
                    p = left + (v - left) * at_left / (at_left - at_v)
                    break
                left, at_left, p = v, at_v, v
        if t in SHOWN:
            shown.append({"step": t, "mean": p})
        history.append((p, o - p))
        last = p
    potential = sum(
        e * f * (np.array(tents(plays, p)) @ kernel @ np.array(tents(plays, q))) for p, e in history for q, f in history
    )
    return shown, float(potential)


def running_mean(base, outcomes, prior):
    shown = []
    for t in SHOWN:
        weight = prior + t
        shown.append({"step": t, "mean": (prior * base + sum(outcomes[:t])) / weight if weight else base})
    return shown


def main():
    generator = np.random.default_rng(7)
    cases = []
    for grid, plays in (("uniform", UNIFORM), ("uneven", UNEVEN)):
        for base in (0.3, 0.5):
            chance = generator.uniform(0.2, 0.8)
            outcomes = [int(x) for x in generator.uniform(size=STEPS) < chance]
            common = {"grid": grid, "plays": plays, "base": base, "outcomes": outcomes}
            for rate, prior in ((5.0, 0.0), (5.0, 1.5), (None, 0.0)):
                steps, last = internal_regret(plays, base, outcomes, rate, prior)
                options = {"rate": rate, "prior": prior}
                cases.append({"subroutine": "internal-regret", **options, **common, "steps": steps, "final": last})
            for bandwidth, prior in ((0.1, 10.0), (0.3, 0.0), (0.02, 1.0)):
                steps, last = defensive(plays, base, outcomes, bandwidth, prior)
                options = {"bandwidth": bandwidth, "prior": prior}
                cases.append({"subroutine": "defensive", **options, **common, "steps": steps, "final": last})
            for prior in (1.0, 0.0, 10.0):
                steps = running_mean(base, outcomes, prior)
                cases.append({"subroutine": "running-mean", "prior": prior, **common, "steps": steps, "final": 0.0})
    assert all(math.isfinite(step["mean"]) for case in cases for step in case["steps"])
    json.dump({"numpy": np.__version__, "seed": 7, "cases": cases}, sys.stdout)
    print()


main()
