"""Golden values of the finite-outcome recalibrators, written from the definitions and with other means than the library.

    python finite.py > finite.json            # numpy and scipy; versions are recorded in the file

- calibeating: running means by a dictionary of lists.
- ledger: p-to-p over the ledger rule; roots by scanning all intervals from the last announcement outwards.
- platt, beta: the second-order update with curvature by a fine scan of the allowed interval and projection by scipy's SLSQP.
- locations: corners and weights in the triangulated simplex, as the mean over a uniform threshold of "floor, plus one where the fraction is
  larger". (The simplex recalibrator's play may be one of several fixed points; its tests check the defining property instead.)

The scan leaves the least curvature 1e-10 off and SLSQP a projection 1e-8 off: platt and beta agree to 1e-7, the others to 1e-9.
"""

import itertools
import json

import numpy as np
import scipy
from scipy.optimize import minimize

RNG = np.random.default_rng(20240611)
T = 300
BASE = RNG.uniform(size=T)
EVENT = (RNG.uniform(size=T) < 0.2 + 0.5 * BASE).astype(int)


def calibeating(cells):
    seen, out = {}, []
    for p, o in zip(BASE, EVENT):
        cell = seen.setdefault(min(int(p * cells), cells - 1), [])
        out.append(float(np.mean(cell)) if cell else p)
        cell.append(o)
    return out


def ledger(cells, n, prior):
    v = np.arange(n + 1) / n
    balance = np.zeros((cells, n + 1))
    last = [(c + 0.5) / cells for c in range(cells)]
    count = np.zeros(cells, dtype=int)
    out = []
    for p, o in zip(BASE, EVENT):
        c = min(int(p * cells), cells - 1)
        s = balance[c] + prior * ((c + 0.5) / cells - v)
        if count[c] == 0:
            q = p
        else:
            here = np.interp(last[c], v, s)
            roots = []
            for k in range(n):
                if s[k] * s[k + 1] <= 0 and s[k] != s[k + 1]:
                    roots.append(v[k] + (v[k + 1] - v[k]) * s[k] / (s[k] - s[k + 1]))
            if here > 0:
                right = [r for r in roots if r > last[c]]
                q = min(right) if right else 1.0
            elif here < 0:
                left = [r for r in roots if r < last[c]]
                q = max(left) if left else 0.0
            else:
                q = last[c]
        i = min(int(np.searchsorted(v, q, side="right")) - 1, n - 1)
        a = (q - v[i]) / (v[i + 1] - v[i])
        balance[c, i] += (1 - a) * (o - q)
        balance[c, i + 1] += a * (o - q)
        last[c], count[c] = q, count[c] + 1
        out.append(q)
    return out


def softplus(s):
    return np.logaddexp(0.0, s)


def scaling(beta):
    d = 3 if beta else 2
    theta = np.array([1.0, 1.0, 0.0]) if beta else np.array([1.0, 0.0])
    low = np.array([0.0] * (d - 1) + [-3.0])
    high = np.full(d, 3.0)
    a = 4.0 * np.eye(d)
    out = []
    for p, o in zip(BASE, EVENT):
        x = np.array([np.log(p), -np.log1p(-p), 1.0]) if beta else np.array([np.log(p / (1 - p)), 1.0])
        s = theta @ x
        q = 1 / (1 + np.exp(-s))
        out.append(float(q))
        ends = np.minimum(low * x, high * x).sum() - s, np.maximum(low * x, high * x).sum() - s
        delta = np.linspace(*ends, 20001)
        delta = np.concatenate([delta[np.abs(delta) > 1e-2], ends])
        quotient = 2 * (softplus(s + delta) - softplus(s) - q * delta) / delta**2
        a = a + min(q * (1 - q), quotient.min()) * np.outer(x, x)
        z = theta - np.linalg.solve(a, (q - o) * x)
        if np.any(z < low) or np.any(z > high):
            fit = minimize(lambda t: (t - z) @ a @ (t - z), np.clip(z, low, high), jac=lambda t: 2 * a @ (t - z),
                           bounds=list(zip(low, high)), method="SLSQP", options={"ftol": 1e-16, "maxiter": 500})
            z = np.clip(fit.x, low, high)
        theta = z
    return {"announced": out, "theta": theta.tolist()}


def weights(k, n, point):
    """Corners (integer coordinates) of positive weight: tails sorted by fraction, each level set one corner, by set inclusion."""
    tails = [n * sum(point[j:]) for j in range(1, k)]
    floor = [int(np.floor(c)) for c in tails]
    fraction = [c - f for c, f in zip(tails, floor)]
    found = {}
    # p = integral over a uniform threshold of the corner floor + 1{fraction > threshold}.
    cuts = sorted({0.0, 1.0, *fraction})
    for left, right in zip(cuts, cuts[1:]):
        corner = [f + (g >= right) for f, g in zip(floor, fraction)]
        full = [n, *corner, 0]
        found[tuple(int(full[j] - full[j + 1]) for j in range(k))] = right - left
    return found


def locations():
    out = []
    for k, n in itertools.product([2, 3, 4], [3, 5]):
        for _ in range(20):
            point = RNG.dirichlet(np.ones(k))
            found = weights(k, n, point)
            out.append({"outcomes": k, "resolution": n, "point": point.tolist(),
                        "corners": [list(c) for c in found], "weights": list(found.values())})
    return out


print(json.dumps({
    "numpy": np.__version__, "scipy": scipy.__version__, "seed": 20240611,
    "base": BASE.tolist(), "event": EVENT.tolist(),
    "calibeating": calibeating(7), "ledger": ledger(5, 8, 10.0),
    "platt": scaling(False), "beta": scaling(True), "locations": locations(),
}))
