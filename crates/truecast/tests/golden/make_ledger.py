"""Writes ledger.json: what the reference implementation in ledger.py does on short seeded streams.

    python make_ledger.py            # writes ledger.json
    python make_ledger.py --check    # compares the committed file with a fresh run, to 1e-12

Layout of ledger.json:

    numpy, scipy        versions it was written with
    levels, plays       the default grids; guard_scores, quantile_probabilities: what the pipeline cases refer to
    streams             name -> seed, mean[], std[], outcome[]
    cases[]             name, kind, stream, and the options: ledgers[], prior, half_life, groups[ledger][step] (0 or 1),
                        thresholds[]
      steps[]           step (counted from 0), and before that step's outcome: plays[level], isotonic[level] (pooled with
                        the CRPS weights std * gap), isotonic_uniform[level] (one uniform ledger: pooled with equal weights);
                        with trust: trust_before, trust_after that outcome; with memory: memory_weights[expert] after it;
                        pipeline: p[level] (mixed, then isotonic), knots[k], at_y[], cdf[], quantiles[], outcome_score (the
                        ledger forecast's score of the outcome, before the guard), crps, e[k] after that outcome
      final             n, L[level][ledger][play], A[level][ledger], Q[level][ledger], potential, potential_bounds[level],
                        regret[ledger]; with trust: trust, trust_largest, trust_regret[ledger] = sum of
                        trust * w_g * ((q - o)^2 - (u - o)^2), q the plays or their mixture with the memories
      spread            per field, the largest difference |a - b| / (1 + |b|) from runs in which every play, level and
                        input was changed at random by about one unit in the last place: what two correct implementations
                        may differ by. Large only where scores near 1 - 1e-12 reach the result (pipeline/stepper)

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
QUANTILES = (0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99)
AT_SCORES = (-7.0, -3.0, -1.0, -0.3, 0.0, 0.5, 1.2, 2.5, 8.0)     # base scores at which the CDF is written


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


def stepper(seed=14, steps=400, bound=4.0):
    """An adversary who sees the pipeline's 80 % interval and steps just outside of it: the guard at its budget."""
    rng = np.random.default_rng(seed)
    run = Pipeline()
    outcomes = np.empty(steps)
    for i in range(steps):
        g = run.issue(0.0, 1.0)
        low, high = g.quantile(0.1), g.quantile(0.9)
        room = [y for y in (high + 1e-3, low - 1e-3) if abs(y) <= bound]
        outcomes[i] = room[rng.integers(len(room))] if room else rng.uniform(-bound, bound)
        run.resolve(outcomes[i])
    return seed, np.zeros(steps), np.ones(steps), outcomes


# --- runs ----------------------------------------------------------------------------------------
def ulps(rng, x):
    """x changed at random by about one unit in the last place; x itself without a generator."""
    return x if rng is None else x * (1 + 2e-16 * rng.standard_normal(np.shape(x)))


class Run:
    """Ledgers with any weights, and optionally trust; the steps that are asked for are written down."""

    def __init__(self, ledgers=("uniform", "crps"), prior=10.0, half_life=None, groups=(), thresholds=(),
                 trust=False, memory=False, jitter=None):
        self.rng = None if jitter is None else np.random.default_rng(jitter)
        self.zl = ulps(self.rng, ledger.levels())
        self.gap = np.gradient(self.zl)
        self.rows, self.groups, self.thresholds = ledgers, groups, thresholds
        self.gamma = 1.0 if half_life is None else 2.0 ** (-1.0 / half_life)
        count = len(ledgers) + len(groups) + len(thresholds)
        self.ledgers = ledger.Ledgers(self.zl, ledger.plays(), ledgers=count, prior=prior, decay=self.gamma)
        self.memories = ledger.Memories(self.ledgers.u) if memory else None
        self.trust = ledger.Trust() if trust else None
        self.trust_regret = np.zeros(count)
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
        self.width = std * self.gap
        self.q = self.memories.mix(self.play[0]) if self.memories else self.play[0]
        mixed = self.trust.mix(self.q, self.ledgers.u) if self.trust else self.q
        self.p = ledger.isotonic(mixed, self.width)
        self.record = {"step": self.t, "plays": self.play[0].tolist(), "isotonic": self.p.tolist()}
        if self.rows == ("uniform",) and not self.groups and not self.thresholds:
            self.record["isotonic_uniform"] = ledger.isotonic(mixed, np.ones(len(self.zl))).tolist()

    def resolve(self, y):
        z = (y - self.mean) / self.std
        p, u, o = self.q, self.ledgers.u, (z <= self.zl).astype(float)
        if self.memories:
            self.memories.settle(self.play[0], self.width, o)
            self.record["memory_weights"] = self.memories.weights.tolist()
        if self.trust:
            self.record["trust_before"] = float(self.trust.w)
            self.trust_regret += self.trust.w * (self.w * ((p - o) ** 2 - (u - o) ** 2)).sum(1)
            self.trust.settle(p, u, self.width, o)
            self.record["trust_after"] = float(self.trust.w)
        self.ledgers.settle(self.w, self.play, z)
        self.t += 1

    def final(self):
        led = self.ledgers
        out = {"n": float(led.n), "L": led.L.tolist(), "A": led.A.tolist(), "Q": led.Q.tolist(),
               "potential": float(led.potentials().sum()), "potential_bounds": led.potential_bounds().tolist(),
               "regret": [led.regret(g) for g in range(led.A.shape[1])]}
        if self.trust:
            out |= {"trust": float(self.trust.w), "trust_largest": float(self.trust.largest),
                    "trust_regret": self.trust_regret.tolist()}
        return out


class Pipeline(Run):
    """Uniform and crps ledgers, trust, isotonic, probit map, guard; with memories, the defaults."""

    def __init__(self, **options):
        super().__init__(trust=True, **options)
        self.guard = ledger.Guard()

    def issue(self, mean, std):
        super().issue(mean, std)
        self.knots = self.guard.knots(std)
        self.g = ledger.Recalibrated(mean, std, self.zl, ulps(self.rng, self.p), self.guard.t, self.knots)
        return self.g

    def describe(self, y):
        """Everything G says at this step; slow, so only where it is written down."""
        g = self.g
        at_y = [float(self.mean + self.std * s) for s in AT_SCORES]
        self.record["p"] = self.record.pop("isotonic")
        self.record |= {"knots": self.knots.tolist(), "at_y": at_y, "cdf": [g.cdf(x) for x in at_y],
                        "quantiles": [g.quantile(q) for q in QUANTILES],
                        "outcome_score": float(g.ledger_score(y)), "crps": g.crps(y)}

    def resolve(self, y):
        self.guard.settle(self.knots, self.g.ledger_score(y), self.std)
        super().resolve(y)
        self.record["e"] = self.guard.e.tolist()


def run(stream, *, pipeline=False, jitter=None, **options):
    """The records of the selected steps, and the final state."""
    _, mean, std, outcome = stream
    it = (Pipeline if pipeline else Run)(jitter=jitter, **options)
    if jitter is not None:
        mean, std, outcome = (ulps(it.rng, x) for x in (mean, std, outcome))
    steps = []
    for t, (m, s, y) in enumerate(zip(mean, std, outcome)):
        it.issue(m, s)
        chosen = t in SELECTED or t == len(mean) - 1
        if chosen and pipeline:
            it.describe(y)
        it.resolve(y)
        if chosen:
            steps.append(it.record)
    return {"steps": steps, "final": it.final()}


def cases(streams):
    """(name, kind, stream, options, pipeline)."""
    for name in ("regimes", "heteroscedastic", "heavy_tailed"):
        for rows in (("uniform",), ("uniform", "crps")):
            for prior in (10.0, 0.0):
                yield f"ledgers/{name}/{'+'.join(rows)}/prior-{prior:g}", "ledgers", name, dict(ledgers=rows, prior=prior), False
        yield f"trust/{name}", "trust", name, dict(trust=True), False
    for name in streams:
        yield f"pipeline/{name}", "pipeline", name, {}, True
        yield f"defaults/{name}", "pipeline", name, dict(memory=True), True
    for name, half_life in (("heteroscedastic", 100.0), ("heavy_tailed", 37.5)):
        yield f"half-life/{name}", "half_life", name, dict(half_life=half_life), False
    count = len(streams["heavy_tailed"][1])
    rng = np.random.default_rng(15)
    overlapping = [[int(t % 2 == 0) for t in range(count)], [int(x) for x in rng.random(count) < 0.3]]
    yield "groups/heavy_tailed", "groups", "heavy_tailed", dict(groups=overlapping), False
    yield "threshold/heavy_tailed", "threshold", "heavy_tailed", dict(thresholds=[0.5, 30.0]), False
    yield "everything/heavy_tailed", "groups", "heavy_tailed", dict(
        half_life=80.0, groups=overlapping, thresholds=[0.5]), False


def build():
    made = {f.__name__: f() for f in (regimes, heteroscedastic, heavy_tailed, stepper)}
    out = {"numpy": np.__version__, "scipy": scipy.__version__,
           "levels": ledger.levels().tolist(), "plays": ledger.plays().tolist(),
           "guard_scores": ledger.Guard().t.tolist(), "quantile_probabilities": QUANTILES,
           "streams": {name: {"seed": s, "mean": m.tolist(), "std": d.tolist(), "outcome": y.tolist()}
                       for name, (s, m, d, y) in made.items()},
           "cases": []}
    for name, kind, stream, options, pipeline in cases(made):
        result, spread = run(made[stream], pipeline=pipeline, **options), {}
        for jitter in (1, 2):
            again = run(made[stream], pipeline=pipeline, jitter=jitter, **options)
            for field, difference in differences(again, result):
                spread[field] = max(spread.get(field, 0.0), difference)
        spread.pop("step")
        assert max(spread.values()) < 1e-5, (name, spread)   # else choose another seed: a play sat on a branch
        full = {"ledgers": ("uniform", "crps"), "prior": 10.0, "half_life": None, "groups": [], "thresholds": []}
        given = full | {k: v for k, v in options.items() if k not in ("trust", "memory")}
        given["ledgers"] = [*given["ledgers"], *["group"] * len(given["groups"]), *["threshold"] * len(given["thresholds"])]
        out["cases"].append({"name": name, "kind": kind, "stream": stream, "trust": pipeline or "trust" in options,
                             "memory": "memory" in options, "guard": pipeline, **given, **result, "spread": spread})
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
