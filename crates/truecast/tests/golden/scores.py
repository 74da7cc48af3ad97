"""Golden scores from independent implementations: mpmath quadrature at 40 digits, and the scoringrules package.

    pip install mpmath numpy scoringrules==0.10.0
    python scores.py > scores.json

Deterministic: no randomness, and all numbers are printed with 17 digits.
"""

import json
import sys

import numpy as np
import scoringrules as sr
from mpmath import beta, betainc, inf, mp, mpf, ncdf, quad, sqrt

mp.dps = 40

# F = Phi(s), s piecewise linear through (y, z); a spread is dy/dz beyond the outer knot, 0 ends the support there.
CURVES = [
    {"name": "normal", "knots": [[1.0, 0.0]], "lower": 2.0, "upper": 2.0},
    {"name": "two-piece normal", "knots": [[0.0, 0.0]], "lower": 1.0, "upper": 3.0},
    {"name": "kinked", "knots": [[-1.0, -1.2], [0.5, 0.1], [0.7, 0.9], [4.0, 2.0]], "lower": 0.5, "upper": 2.0},
    {"name": "atom inside", "knots": [[-1.0, -1.0], [0.25, -0.3], [0.25, 0.6], [2.0, 1.5]], "lower": 1.0, "upper": 1.5},
    {"name": "flat piece", "knots": [[-2.0, -0.4], [3.0, -0.4], [4.0, 1.0]], "lower": 0.3, "upper": 0.8},
    {"name": "nearly flat piece", "knots": [[-2.0, -0.40], [30.0, -0.37], [31.0, 1.0]], "lower": 0.3, "upper": 0.8},
    {"name": "bounded below", "knots": [[0.0, -1.5], [1.0, 0.0], [3.0, 1.0]], "lower": 0.0, "upper": 1.0},
    {"name": "bounded above", "knots": [[-3.0, -1.0], [0.0, 0.2], [1.0, 2.5]], "lower": 1.0, "upper": 0.0},
    {"name": "bounded", "knots": [[0.0, -2.0], [0.5, 0.3], [1.0, 2.0]], "lower": 0.0, "upper": 0.0},
    {"name": "two atoms", "knots": [[-1.0, 0.3], [2.0, 0.3]], "lower": 0.0, "upper": 0.0},
    {"name": "far apart", "knots": [[-1000.0, -0.1], [-999.0, 0.0], [1000.0, 0.0], [1001.0, 0.4]], "lower": 0.5, "upper": 0.7},
    {"name": "scales apart", "knots": [[0.0, -2.0], [1e-6, -1.0], [1.0, 0.0], [1e6, 1.0]], "lower": 1e-6, "upper": 1e6},
]
OFFSETS = [-50.0, -3.0, -1.0, -0.2, 0.0, 0.25, 0.5, 0.9, 2.0, 3.5, 50.0]


def score(curve, y, left):
    """s(y): from the left or from the right."""
    knots = [(mpf(a), mpf(b)) for a, b in curve["knots"]]
    lower, upper = mpf(curve["lower"]), mpf(curve["upper"])
    (y0, z0), (y1, z1) = knots[0], knots[-1]
    if y < y0 or (y == y0 and left):
        return z0 + (y - y0) / lower if lower else -inf
    if y > y1 or (y == y1 and not left):
        return z1 + (y - y1) / upper if upper else inf
    for (a, s), (b, t) in zip(knots, knots[1:]):
        if (a < y <= b) if left else (a <= y < b):
            return s + (t - s) * (y - a) / (b - a)
    raise AssertionError


def curve_crps(curve, y):
    y = mpf(y)
    ends = [mpf(k[0]) for k in curve["knots"]]
    lower, upper = mpf(curve["lower"]), mpf(curve["upper"])
    # Phi(-30)^2 is 1e-394: what lies further out is beyond 40 digits.
    z0, z1 = curve["knots"][0][1], curve["knots"][-1][1]
    steps = (0, 1, 2, 3, 4, 6, 8, 11, 15, 30)
    points = set(ends) | {y}
    points |= {ends[0] - lower * (k + max(z0, 0)) for k in steps}
    points |= {ends[-1] + upper * (k + max(-z1, 0)) for k in steps}
    points = sorted(points)
    total = mpf(0)
    for a, b in zip(points, points[1:]):
        # Pieces are linear in s between the points: evaluate inside, where left and right agree.
        sign = 1 if b <= y else -1

        def g(x):
            s = score(curve, x, False)
            s = sign * s
            return mpf(1) if s == inf else mpf(0) if s == -inf else ncdf(s) ** 2

        width = b - a
        # Cut so that s rises by at most one per piece.
        rise = abs(score(curve, b, True) - score(curve, a, False))
        parts = 1 if rise == inf or rise != rise else min(60, int(rise) + 1)
        total += quad(g, [a + width * k / parts for k in range(parts + 1)])
    return total


def student_t_crps(dof, y):
    """Jordan, Krueger and Lerch (2019), appendix A."""
    nu, z = mpf(dof), mpf(y)
    density = (1 + z * z / nu) ** (-(nu + 1) / 2) / (sqrt(nu) * beta(mpf(1) / 2, nu / 2))
    tail = betainc(nu / 2, mpf(1) / 2, 0, nu / (nu + z * z), regularized=True) / 2
    centred = 1 - 2 * tail if z >= 0 else 2 * tail - 1
    gini = 2 * sqrt(nu) / (nu - 1) * beta(mpf(1) / 2, nu - mpf(1) / 2) / beta(mpf(1) / 2, nu / 2) ** 2
    return z * centred + 2 * density * (nu + z * z) / (nu - 1) - gini


def main():
    golden = {"curves": []}
    for curve in CURVES:
        base = curve["knots"][len(curve["knots"]) // 2][0]
        outcomes = sorted({base + offset for offset in OFFSETS} | {k[0] for k in curve["knots"]})
        golden["curves"].append(curve | {"outcomes": outcomes, "crps": [float(curve_crps(curve, y)) for y in outcomes]})
        print(curve["name"], file=sys.stderr)

    outcomes = [-50.0, -2.0, 0.0, 0.3, 1.0, 7.0, 1000.0]
    golden["student_t"] = [
        {"dof": dof, "outcomes": outcomes, "crps": [float(student_t_crps(dof, y)) for y in outcomes]}
        for dof in (1.5, 3.0)
    ]
    golden["logistic"] = {"outcomes": outcomes, "crps": [float(sr.crps_logistic(y, 0.0, 1.0)) for y in outcomes]}
    golden["exponential"] = {"outcomes": outcomes, "crps": [float(sr.crps_exponential(y, 2.0)) for y in outcomes]}

    ensembles = [[3.0], [1.0, 1.0, 1.0], [-1.0, 2.5], [0.3, -2.0, 7.5, 0.3, 1.0], [1e6 + 0.1 * k * k for k in range(31)]]
    golden["ensembles"] = []
    for members in ensembles:
        x = np.array(members)
        for y in (x[0], x.mean() + 0.1, x.max() + 10.0, x.min() - 1.0):
            row = {"members": members, "outcome": float(y), "crps": float(sr.crps_ensemble(y, x, estimator="nrg"))}
            row["fair"] = float(sr.crps_ensemble(y, x, estimator="fair")) if len(x) > 1 else None
            golden["ensembles"].append(row)

    levels = [0.1, 0.25, 0.5, 0.8, 0.99]
    quantiles = [-1.3, -0.4, 0.2, 1.1, 4.0]
    golden["pinball"] = [
        {"probability": p, "quantile": q, "outcome": y, "loss": float(sr.quantile_score(y, q, p))}
        for p, q in zip(levels, quantiles)
        for y in (-2.0, 0.2, 3.0)
    ]

    coverages = np.array([0.5, 0.8, 0.95])
    low, high = np.array([-0.7, -1.4, -3.0]), np.array([0.8, 1.3, 2.5])
    golden["intervals"] = [
        {
            "median": 0.1,
            "coverages": coverages.tolist(),
            "low": low.tolist(),
            "high": high.tolist(),
            "outcome": y,
            "winkler": sr.interval_score(y, low, high, 1 - coverages).tolist(),
            "weighted": float(sr.weighted_interval_score(y, np.array(0.1), low, high, 1 - coverages)),
        }
        for y in (-5.0, -1.0, 0.1, 1.3, 2.0, 40.0)
    ]

    # Weyl's sequence, squared: far from uniform, and none of it on a boundary.
    pits = [((k * 0.6180339887498949) % 1.0) ** 2 for k in range(1, 401)]
    edges = np.array([0, 0.2, 0.4, 0.5, 0.6, 0.8, 1.0])
    shares = np.histogram(pits, edges)[0] / len(pits)
    golden["calibration_score"] = {"pits": pits, "score": float(np.sum((np.diff(edges) - shares) ** 2))}
    counts = np.histogram(pits, 10, (0, 1))[0]
    golden["pit_histogram"] = {
        "counts": counts.tolist(),
        "total_variation": float(0.5 * np.abs(counts / 400 - 0.1).sum()),
        "chi_square": float(((counts - 40.0) ** 2 / 40.0).sum()),
    }
    json.dump(golden, sys.stdout, indent=1)
    print()


main()
