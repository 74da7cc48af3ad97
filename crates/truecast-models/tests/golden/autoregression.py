"""Golden values of online autoregression: weighted normal equations over all rows, in 50 digits, at each checkpoint anew.

    python autoregression.py

Writes autoregression.json beside itself. Needs mpmath; made with mpmath 1.4.1.
"""

import json
from pathlib import Path

import mpmath as mp

mp.mp.dps = 50
HERE = Path(__file__).parent
MASK = (1 << 64) - 1


def stream(count, scale, shift):
    state, a, b, out = 77, 0.0, 0.0, []
    for _ in range(count):
        noise = 0.0
        for _ in range(3):
            state = (state * 6364136223846793005 + 1442695040888963407) & MASK
            noise += (state >> 11) / float(1 << 53)
        a, b = 0.6 * a - 0.3 * b + (noise - 1.5), a
        out.append(shift + scale * a)
    return out


def forecast(outcomes, lags, half_life, ridge):
    """Degrees of freedom, location and scale of the next outcome."""
    y = [mp.mpf(v) for v in outcomes]
    count, size, start = len(y), lags + 1, 2 * lags + 4
    keep = mp.mpf(2) ** (-1 / mp.mpf(half_life)) if half_life else mp.mpf(1)

    def moments(v):
        mean = sum(v) / len(v)
        return mean, mp.sqrt(sum((u - mean) ** 2 for u in v) / (len(v) - 1))

    rows = sum(keep**k for k in range(count - lags)) if count >= start else mp.mpf(0)
    if rows - size < 3:
        mean, std = moments(y)
        return [float(v) for v in (count - 1, mean, std * mp.sqrt(1 + mp.mpf(1) / count))]
    origin, unit = moments(y[:start])
    z = [(v - origin) / unit for v in y]
    gram, cross, square = mp.zeros(size), mp.zeros(size, 1), mp.mpf(0)
    steps = count - lags
    for k in range(size):
        gram[k, k] += ridge * keep**steps
    for step in range(steps):
        weight = keep ** (steps - 1 - step)
        k = step % size
        gram[k, k] += weight * ridge * (1 - keep**size)
        now = lags + step
        a = mp.matrix([1] + [z[now - i] for i in range(1, lags + 1)])
        gram += weight * a * a.T
        cross += weight * z[now] * a
        square += weight * z[now] ** 2
    w = mp.lu_solve(gram, cross)
    residual = square - (cross.T * w)[0]
    dof = rows - size
    a = mp.matrix([1] + [z[count - i] for i in range(1, lags + 1)])
    scale = unit * mp.sqrt(residual / dof * (1 + (a.T * mp.lu_solve(gram, a))[0]))
    return [float(v) for v in (dof, origin + unit * (a.T * w)[0], scale)]


cases = []
for lags, half_life, ridge, scale, shift in [
    (1, None, 1e-6, 1.0, 0.0),
    (3, None, 1e-6, 1.0, 5.0),
    (3, 20.0, 1e-6, 1e-5, 1e3),
    (2, 10.0, 0.5, 1e8, -1e7),
]:
    y = stream(90, scale, shift)
    checkpoints = [2, 3, 2 * lags + 3, 2 * lags + 4, 2 * lags + 5, 20, 40, 90]
    want = [forecast(y[:n], lags, half_life, mp.mpf(ridge)) for n in checkpoints]
    cases.append({"lags": lags, "half_life": half_life, "ridge": ridge, "outcomes": y, "checkpoints": checkpoints, "forecasts": want})
(HERE / "autoregression.json").write_text('{"cases": [\n' + ",\n".join(json.dumps(c) for c in cases) + "\n]}\n")
