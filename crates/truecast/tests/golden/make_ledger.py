"""Writes ledger.json: what the reference implementation in ledger.py does on short seeded streams.

    python make_ledger.py            # writes ledger.json
    python make_ledger.py --check    # compares the committed file with a fresh run, to 1e-12

Layout of ledger.json:

    numpy, scipy        versions it was written with
    levels, plays       the default grids
    streams             name -> seed, mean[], std[], outcome[]
    cases[]             name, kind, stream, and the options: ledgers[], prior, half_life, groups[ledger][step] (0 or 1),
                        thresholds[]
      steps[]           step (counted from 0), and before that step's outcome: plays[level], isotonic[level] (pooled with
                        the CRPS weights std * gap), isotonic_uniform[level] (one uniform ledger: pooled with equal weights)
      final             n, L[level][ledger][play], A[level][ledger], Q[level][ledger], potential, potential_bounds[level],
                        regret[ledger]
      spread            per field, the largest difference |a - b| / (1 + |b|) from runs in which every play, level and
                        input was changed at random by about one unit in the last place: what two correct implementations
                        may differ by

Ledgers stand in the order of `ledgers`: "uniform", "crps", then one "group" per row of groups, one "threshold" per entry
of thresholds. With a half-life the weights of step t are multiplied by 2^(t / half_life), and L, A, Q, the potential and
the regret are sums of the weights so multiplied; n <- n 2^(-1/half_life) + 1.
"""

from __future__ import annotations

import json
import pathlib
import sys

import numpy as np
import scipy

import ledger

FILE = pathlib.Path(__file__).with_name("ledger.json")
SELECTED = (0, 1, 2, 5, 10, 50, 100)


# --- streams -------------------------------------------------------------------------------------
def regimes(seed=11, steps=600):
    """Standard deviations 2.5 times too large in the first half and 2.5 times too small in the second."""
    rng = np.random.default_rng(seed)
    mean = rng.normal(size=steps).cumsum() * 0.1
    std = np.where(np.arange(steps) < steps // 2, 2.5, 0.4)
    return seed, mean, std, mean + rng.normal(size=steps)


def heteroscedastic(seed=12, steps=400):
    """Even steps N(0, 10^2), perfect; odd steps N(0, 0.1^2), outcomes at -1.5 +- 0.3 standard deviations."""
    rng = np.random.default_rng(seed)
    wide = np.arange(steps) % 2 == 0
    std = np.where(wide, 10.0, 0.1)
    z = np.where(wide, rng.normal(size=steps), -1.5 + 0.3 * rng.normal(size=steps))
    return seed, np.zeros(steps), std, std * z


def heavy_tailed(seed=13, steps=500):
    """Student-t outcomes with 3 degrees of freedom around a mean that drifts 40 steps ahead of the forecast's."""
    rng = np.random.default_rng(seed)
    t = np.arange(steps)
    std = np.exp(rng.normal(size=steps).cumsum() * 0.03)
    at = lambda t: 2.0 * np.sin(2 * np.pi * t / 250)
    return seed, at(t - 40.0), std, at(t) + std * rng.standard_t(3, size=steps)


# --- runs ----------------------------------------------------------------------------------------
def ulps(rng, x):
    """x changed at random by about one unit in the last place; x itself without a generator."""
    return x if rng is None else x * (1 + 2e-16 * rng.standard_normal(np.shape(x)))


class Run:
    """Ledgers with any weights; the steps that are asked for are written down."""

    def __init__(self, ledgers=("uniform", "crps"), prior=10.0, half_life=None, groups=(), thresholds=(),
                 jitter=None):
        self.rng = None if jitter is None else np.random.default_rng(jitter)
        self.zl = ulps(self.rng, ledger.levels())
        self.gap = np.gradient(self.zl)
        self.rows, self.groups, self.thresholds = ledgers, groups, thresholds
        self.gamma = 1.0 if half_life is None else 2.0 ** (-1.0 / half_life)
        count = len(ledgers) + len(groups) + len(thresholds)
        self.ledgers = ledger.Ledgers(self.zl, ledger.plays(), ledgers=count, prior=prior, decay=self.gamma)
        self.t = 0

    def weights(self, mean, std):
        named = {"uniform": np.ones(len(self.zl)), "crps": std * self.gap}
        w = [named[name] for name in self.rows]
        w += [np.full(len(self.zl), float(member[self.t])) for member in self.groups]
        for y in self.thresholds:
            z, row = (y - mean) / std, np.zeros(len(self.zl))
            i = min(max(int(np.searchsorted(self.zl, z, side="right")) - 1, 0), len(self.zl) - 2)
            a = min(max((z - self.zl[i]) / (self.zl[i + 1] - self.zl[i]), 0.0), 1.0)
            row[i], row[i + 1] = 1 - a, a
            w.append(row)
        return np.array(w) * self.gamma ** -self.t

    def issue(self, mean, std):
        self.mean, self.std = mean, std
        self.w = self.weights(mean, std)
        self.play = self.ledgers.play(self.w)
        self.play = (ulps(self.rng, self.play[0]), *self.play[1:])
        p = self.play[0]
        self.record = {"step": self.t, "plays": p.tolist(), "isotonic": ledger.isotonic(p, std * self.gap).tolist()}
        if self.rows == ("uniform",) and not self.groups and not self.thresholds:
            self.record["isotonic_uniform"] = ledger.isotonic(p, np.ones(len(self.zl))).tolist()

    def resolve(self, y):
        self.ledgers.settle(self.w, self.play, (y - self.mean) / self.std)
        self.t += 1

    def final(self):
        led = self.ledgers
        return {"n": float(led.n), "L": led.L.tolist(), "A": led.A.tolist(), "Q": led.Q.tolist(),
                "potential": float(led.potentials().sum()), "potential_bounds": led.potential_bounds().tolist(),
                "regret": [led.regret(g) for g in range(led.A.shape[1])]}


def run(stream, *, jitter=None, **options):
    """The records of the selected steps, and the final state."""
    _, mean, std, outcome = stream
    it = Run(jitter=jitter, **options)
    if jitter is not None:
        mean, std, outcome = (ulps(it.rng, x) for x in (mean, std, outcome))
    steps = []
    for t, (m, s, y) in enumerate(zip(mean, std, outcome)):
        it.issue(m, s)
        it.resolve(y)
        if t in SELECTED or t == len(mean) - 1:
            steps.append(it.record)
    return {"steps": steps, "final": it.final()}


def cases(streams):
    """(name, kind, stream, options)."""
    for name in ("regimes", "heteroscedastic", "heavy_tailed"):
        for rows in (("uniform",), ("uniform", "crps")):
            for prior in (10.0, 0.0):
                yield f"ledgers/{name}/{'+'.join(rows)}/prior-{prior:g}", "ledgers", name, dict(ledgers=rows, prior=prior)
    for name, half_life in (("heteroscedastic", 100.0), ("heavy_tailed", 37.5)):
        yield f"half-life/{name}", "half_life", name, dict(half_life=half_life)
    count = len(streams["heavy_tailed"][1])
    rng = np.random.default_rng(15)
    overlapping = [[int(t % 2 == 0) for t in range(count)], [int(x) for x in rng.random(count) < 0.3]]
    yield "groups/heavy_tailed", "groups", "heavy_tailed", dict(groups=overlapping)
    yield "threshold/heavy_tailed", "threshold", "heavy_tailed", dict(thresholds=[0.5, 30.0])
    yield "everything/heavy_tailed", "groups", "heavy_tailed", dict(
        half_life=80.0, groups=overlapping, thresholds=[0.5])


def build():
    made = {f.__name__: f() for f in (regimes, heteroscedastic, heavy_tailed)}
    out = {"numpy": np.__version__, "scipy": scipy.__version__,
           "levels": ledger.levels().tolist(), "plays": ledger.plays().tolist(),
           "streams": {name: {"seed": s, "mean": m.tolist(), "std": d.tolist(), "outcome": y.tolist()}
                       for name, (s, m, d, y) in made.items()},
           "cases": []}
    for name, kind, stream, options in cases(made):
        result, spread = run(made[stream], **options), {}
        for jitter in (1, 2):
            again = run(made[stream], jitter=jitter, **options)
            for field, difference in differences(again, result):
                spread[field] = max(spread.get(field, 0.0), difference)
        spread.pop("step")
        assert max(spread.values()) < 1e-5, (name, spread)   # else choose another seed: a play sat on a branch
        full = {"ledgers": ("uniform", "crps"), "prior": 10.0, "half_life": None, "groups": [], "thresholds": []}
        given = full | options
        given["ledgers"] = [*given["ledgers"], *["group"] * len(given["groups"]), *["threshold"] * len(given["thresholds"])]
        out["cases"].append({"name": name, "kind": kind, "stream": stream, **given, **result, "spread": spread})
    return json.loads(json.dumps(out))


def differences(a, b, field=""):
    """(field, relative difference) of every number in two results of one shape."""
    if isinstance(b, dict):
        assert a.keys() == b.keys(), (field, a.keys(), b.keys())
        for key in b:
            yield from differences(a[key], b[key], key)
    elif isinstance(b, (list, tuple)):
        assert len(a) == len(b), field
        for x, y in zip(a, b):
            yield from differences(x, y, field)
    elif isinstance(b, (int, float)) and not isinstance(b, bool):
        yield field, abs(a - b) / (1 + abs(b))
    else:
        assert a == b, (field, a, b)


def main():
    fresh = build()
    if "--check" not in sys.argv[1:]:
        FILE.write_text(json.dumps(fresh, separators=(",", ":")) + "\n")
        print(f"wrote {FILE.name}: {len(fresh['cases'])} cases, {FILE.stat().st_size / 1e6:.2f} MB")
        for case in fresh["cases"]:
            field, worst = max(case["spread"].items(), key=lambda d: d[1])
            print(f"{case['name']}: largest spread {worst:.1e} in {field}")
        return 0
    stored = json.loads(FILE.read_text())
    for one in (stored, fresh):                       # the versions may differ, and rounding decides the spread
        for part in (one, *one["cases"]):
            for key in ("numpy", "scipy", "spread"):
                part.pop(key, None)
    field, worst = max(differences(fresh, stored), key=lambda d: d[1])
    print(f"largest difference {worst:.1e} in {field}")
    return 0 if worst <= 1e-12 else 1


if __name__ == "__main__":
    sys.exit(main())
