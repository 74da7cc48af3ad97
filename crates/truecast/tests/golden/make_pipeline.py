"""Writes pipeline.json: what the reference implementation in pipeline.py does on short seeded streams.

    python make_pipeline.py            # writes pipeline.json (half a minute)
    python make_pipeline.py --check    # compares the committed file with a fresh run, to 1e-12 of each field's largest value

At every event of every case it checks theorem 1 of docs/theory.md, and at every outcome that the extra score is within what was reserved for it.

Layout of pipeline.json:

    numpy               the version it was written with
    levels, base        z_j and u_j = Phi(z_j); places: t_k of the guarded intervals
    at_z, at_t          where the announced curves of Gaussian cases are written
    cases[]             name, settings (of Pipeline; what is not there is at its default), kind, and the inputs of step i:
                          gaussian  mean[i], std[i]
                          table     taus[], floor, and values[i][]
                          weighted  taus[], probits[] (of the taus, exactly), weights[], shape[]: values are mean[i] + std[i] * shape
                          samples   members[i][]
                        outcomes[i]; null: never comes
      delay             forecast i is issued, then forecast i - delay settled; at the end what waits, in order. Without it:
      events[]          in order: i >= 0 issues forecast i; -1 - i settles it
                        (either way a forecast whose outcome is null expires instead)
      final_score[i]    the score of what was announced; null if expired
      sevenths          of forecasts 0, 7, 14, ...: base_score[], the score as it was (null if expired); l1[], l2[], the shares of the map and of the
                        guard; reserved[]; cushion[], before the step (null without a stop-loss)
      records[]         of some forecasts: i, q[] (weights of the base and the experts), p[25] (mixed, before isotonic), h[13], d1, d2, and what was
                        announced: level[] at at_z and place[] at at_t, or values[], left, right (slopes of its tails)
      final             after the last event: R, V, B, W of the aggregation; balances: [sum L, sum |L|, sum L^2, sum A] of the ledger expert;
                        mean[], spread[] of the running means; affine_a[], affine_b[]; a[13] of the guard; base, extra, lead, most, reserved,
                        pending
      spread            per field, the largest difference from a run in which every expert's probability was changed at random by about one unit in
                        the last place, divided by the field's largest value: what two correct implementations may differ by
"""
import json
import math
import pathlib
import sys

import numpy as np

import pipeline
from pipeline import LEVELS, PLACES, TAILS, Gaussian, Phi, Pipeline, Samples, Table, probit

FILE = pathlib.Path(__file__).with_name("pipeline.json")
AT_Z = [-4.0, -2.0, -1.0, -0.3, 0.0, 0.3, 1.0, 2.0, 4.0]
AT_T = [-4.0, -2.3, -1.28, -0.5, 0.0, 0.5, 1.28, 2.3, 4.0]
FULL = (0, 7, 35, 98, 196, 294)
HUB = [.01, .025, .05, .1, .15, .2, .25, .3, .35, .4, .45, .5, .55, .6, .65, .7, .75, .8, .85, .9, .95, .975, .99]


def short(x):
    """Inputs have five digits."""
    return [short(v) for v in x] if np.ndim(x) else float(f"{x:.5g}")


# --- orders of arrival ----------------------------------------------------------------------------
def in_order(n, delay):
    events = []
    for i in range(n):
        events.append(i)
        if i >= delay: events.append(-1 - (i - delay))
    return events + [-1 - i for i in range(n - delay, n)]


def batches(seed, n):
    """Batches of 1 to 9 forecasts, then a random part of what waits, in random order."""
    rng, events, waiting, i = np.random.default_rng(seed), [], [], 0
    while i < n or waiting:
        for _ in range(int(rng.integers(1, 10))):
            if i < n: events.append(i); waiting.append(i); i += 1
        rng.shuffle(waiting)
        for _ in range(len(waiting) if i == n else int(rng.integers(0, min(len(waiting), 12) + 1))): events.append(-1 - int(waiting.pop()))
    return events


# --- streams --------------------------------------------------------------------------------------
def gaussian(name, seed, n, mean, std, z, events=None, bound=None, **settings):
    """Outcomes mean + std z(rng, t); stepping_outside chooses its own when they are due, within +-bound."""
    rng = np.random.default_rng(seed)
    mean, std = (short(np.broadcast_to(f(rng, np.arange(n)) if callable(f) else f, n)) for f in (mean, std))
    case = {"name": name, "kind": "gaussian", "settings": settings, "mean": mean, "std": std}
    case["outcomes"] = [None] * n if z is stepping_outside else short(np.array(mean) + np.array(std) * z(rng, np.arange(n)))
    return case | {"events": events or 0, "adversary": (rng, bound)}


def normal(rng, t): return rng.normal(size=len(t))


def stepping_outside(rng, bound, ticket):
    """Just outside of the announced 80 % interval, within +-bound; sees the announced forecast."""
    t = PLACES[TAILS.index(.1)]; low, high = ticket.final.place(-t), ticket.final.place(t)
    room = [z for z in (high + 1e-3, low - 1e-3) if abs(z) <= bound]
    return room[rng.integers(len(room))] if room else rng.uniform(-bound, bound)


def narrow_ones_biased(rng, t): return np.where(t % 2 == 0, rng.normal(size=len(t)), -1.5 + .3 * rng.normal(size=len(t)))


def hub(seed, n, events=None, **settings):
    """23 quantiles of a log-normal forecast whose scale wanders, 1.6 times too narrow and biased; every fifth has an atom, every eighth a bound above."""
    rng = np.random.default_rng(seed)
    scale, values, outcomes = np.exp(.15 * rng.normal(size=n).cumsum()), [], []
    for i in range(n):
        v = scale[i] * np.exp(.5 * np.array([probit(p) for p in HUB])); y = scale[i] * math.exp(.2 + .8 * rng.normal())
        if i % 5 == 0: v[8:12] = v[8]; y = v[8] if rng.random() < .4 else y
        if i % 8 == 3: v[19:] = v[19]
        values.append(short(v)); outcomes.append(short(y))
    return {"name": "hub", "kind": "table", "settings": settings, "taus": HUB, "floor": None, "values": values, "outcomes": outcomes, "events": events or 0}


def counts(seed, n):
    """Counts with a floor of 0: quantiles are whole numbers with many ties, the truth is over-dispersed."""
    rng = np.random.default_rng(seed)
    rate, values, outcomes = 4 * np.exp(np.sin(np.arange(n) / 20)), [], []
    for i in range(n):
        v = [max(0.0, round(rate[i] + math.sqrt(rate[i]) * probit(p))) for p in HUB]
        values.append(v); outcomes.append(float(rng.poisson(rate[i] * rng.gamma(3, 1 / 3) * (1.3 if i > n // 2 else .9))))
    return {"name": "counts, floor 0", "kind": "table", "settings": {}, "taus": HUB, "floor": 0.0, "values": values, "outcomes": outcomes, "events": 0}


def three(seed, n):
    rng = np.random.default_rng(seed)
    centre, scale = rng.normal(size=n).cumsum(), np.exp(.3 * rng.normal(size=n))
    values = [short(c + s * np.array([-1.0, 0.1, 1.3])) for c, s in zip(centre, scale)]
    outcomes = short(centre + scale * (.4 + 1.5 * rng.normal(size=n)))
    return {"name": "three levels, 5 late", "kind": "table", "settings": {}, "taus": [.1, .5, .9], "floor": None, "values": values, "outcomes": outcomes, "events": 5}


def ensemble(seed, n):
    """Ten members, half as spread as they should be; every fifth ensemble has equal members in its tail."""
    rng = np.random.default_rng(seed)
    centre = 5 * np.sin(np.arange(n) / 15); members = centre[:, None] + .5 * rng.normal(size=(n, 10))
    members[::5] = np.maximum(members[::5], np.sort(members[::5])[:, 3:4])
    return {"name": "ensemble of ten", "kind": "samples", "settings": {}, "members": short(members), "outcomes": short(centre + .3 + rng.normal(size=n)), "events": 0}


def weighted(seed, n):
    """Logistic forecasts read at 49 levels; weights are the probabilities of the levels' cells."""
    rng = np.random.default_rng(seed)
    z = 6 * np.sinh(3 * np.linspace(-1, 1, 49)) / math.sinh(3); z[24] = 0.0
    edges = [0.0] + [Phi(x) for x in (z[1:] + z[:-1]) / 2] + [1.0]
    shape = [math.log(Phi(x) / Phi(-x)) for x in z]
    mean, std = short(.2 * rng.normal(size=n).cumsum()), short(np.exp(.2 * rng.normal(size=n)))
    return {"name": "logistic at 49 levels", "kind": "weighted", "settings": {}, "taus": [Phi(x) for x in z], "probits": list(map(float, z)),
            "weights": list(map(float, np.diff(edges))), "shape": shape, "mean": mean, "std": std,
            "outcomes": short(np.array(mean) + np.array(std) * (.5 + 2.5 * rng.standard_t(3, size=n))), "events": 0}


def forecasts(case):
    if case["kind"] == "gaussian": return [Gaussian(m, s) for m, s in zip(case["mean"], case["std"])]
    if case["kind"] == "samples": return [Samples(x) for x in case["members"]]
    if case["kind"] == "weighted": return [Table(case["taus"], m + s * np.array(case["shape"]), weights=case["weights"], probits=case["probits"]) for m, s in zip(case["mean"], case["std"])]
    return [Table(case["taus"], v, -math.inf if case["floor"] is None else case["floor"]) for v in case["values"]]


def cases():
    scales = lambda rng, t: np.where(t % 2 == 0, 10.0, .1)
    wander = lambda rng, t: np.exp(.1 * rng.normal(size=len(t)).cumsum())
    far = lambda rng, t: np.where(t % 2 == 0, 10.0, 1000.0) * np.where(t % 3 == 0, -1, 1)
    wide = lambda rng, t: 4 * rng.normal(size=len(t))
    drift = lambda rng, t: t / 60 + rng.normal(size=len(t))
    regimes = lambda rng, t: rng.normal(size=len(t)) * np.where(t // 60 % 2 == 0, .4, 2.5)
    expired = gaussian("expired tickets, 5 late", 13, 210, 0, wander, wide, 5)
    for i in range(0, 210, 11): expired["outcomes"][i] = None
    return [
        gaussian("calibrated", 1, 400, lambda rng, t: rng.normal(size=len(t)).cumsum(), wander, normal),
        gaussian("four times too narrow", 2, 300, lambda rng, t: np.sin(t / 9), wander, wide),
        gaussian("drift in mean", 3, 300, 0, 1, drift),
        gaussian("regimes", 4, 300, 0, 1, regimes),
        gaussian("scales 10 and 0.1", 5, 300, 0, scales, narrow_ones_biased),
        gaussian("10 and 1000 sigma out", 6, 150, 0, 1, far),
        gaussian("stepping outside the 80 % interval", 7, 400, 0, 1, stepping_outside, bound=4.0),
        gaussian("stepping outside, as far as 8 sigma", 7, 150, 0, 1, stepping_outside, bound=8.0),
        gaussian("strict guard", 12, 210, 0, scales, narrow_ones_biased, guard="strict"),
        gaussian("5 late", 8, 300, 0, scales, narrow_ones_biased, 5),
        gaussian("23 late", 9, 300, 0, wander, drift, 23),
        gaussian("shuffled batches", 10, 300, lambda rng, t: rng.normal(size=len(t)), wander, regimes, batches(10, 300)),
        gaussian("base scale 1e-9", 11, 210, 0, lambda rng, t: 1e-9 * wander(rng, t), wide),
        expired,
        gaussian("method ledger", 14, 300, 0, scales, narrow_ones_biased, method="ledger"),
        gaussian("guard off", 15, 210, 0, wander, wide, guard="off"),
        gaussian("no stop-loss", 16, 150, 0, scales, narrow_ones_biased, stop_loss=None),
        gaussian("stop-loss 0.02", 17, 210, 0, scales, narrow_ones_biased, stop_loss=.02),
        gaussian("lags off", 18, 210, 0, wander, drift, lags=False),
        gaussian("spread and affine experts alone", 19, 210, 0, wander, drift, experts=["spread", "affine"]),
        gaussian("half-life 40", 20, 300, 0, scales, regimes, half_life=40),
        hub(21, 210),
        hub(22, 160, batches(22, 160)) | {"name": "hub, shuffled batches"},
        hub(23, 150, method="ledger") | {"name": "hub, method ledger"},
        counts(24, 210),
        three(25, 300),
        ensemble(26, 210),
        weighted(27, 160),
    ]


# --- runs -----------------------------------------------------------------------------------------
class Jittered(Pipeline):
    rng = np.random.default_rng(0)
    def say(self, forecast):
        return [(p * (1 + 2e-16 * self.rng.standard_normal(len(p))), memo) for p, memo in super().say(forecast)]


def run(case, kind=Pipeline):
    pipe, given, tickets, n = kind(**case["settings"]), forecasts(case), {}, len(case["outcomes"])
    account, strict, limited = pipe.account, pipe.strength == "strict", pipe.account.epsilon is not None
    sevenths = {"base_score": [None] * ((n + 6) // 7), "l1": [], "l2": [], "reserved": [], "cushion": []}
    out = {"final_score": [None] * n, "sevenths": sevenths, "records": []}
    for event in in_order(n, case["delay"]) if "delay" in case else case["events"]:
        i = event if event >= 0 else -1 - event
        if event >= 0:
            k = tickets[i] = pipe.issue(given[i])
            if i % 7 == 0:
                for name in ("l1", "l2", "reserved"): sevenths[name].append(getattr(k, name))
                sevenths["cushion"].append(k.cushion if limited else None)
            if i in FULL:
                r = {"i": i, "q": list(k.q), "p": list(k.p), "h": list(k.h), "d1": k.d1, "d2": k.d2}
                if case["kind"] == "gaussian": r |= {"level": [k.final.level(z) for z in AT_Z], "place": [k.final.place(t) for t in AT_T]}
                else: a = k.forecast.announce(k.final); r |= {"values": list(a.q), "left": a.left, "right": a.right}
                out["records"].append(r)
        else:
            k = tickets.pop(i)
            if case["outcomes"][i] is None and case.get("adversary", (0, None))[1]: case["outcomes"][i] = short(stepping_outside(*case["adversary"], k))
            y = case["outcomes"][i]
            if y is None: pipe.expire(k); continue
            pipe.settle(k, y)
            out["final_score"][i] = k.final_score
            if i % 7 == 0: sevenths["base_score"][i // 7] = k.base_score
            promised = k.forecast.score(k.map, y) if strict else k.final_score
            tiny = 1e-12 * (k.base_score + k.final_score + k.forecast.expected_score())
            assert not limited or promised - k.base_score <= k.reserved + tiny, (case["name"], i)
        if limited: assert account.balance() >= -1e-12 * (account.base + account.most + account.lead), (case["name"], event)      # theorem 1
    s, ledger = pipe.squint, [e for e in pipe.experts if isinstance(e, pipeline.Ledger)]
    means = [e for e in pipe.experts if isinstance(e, pipeline.RunningMean)]
    affine = [e for e in pipe.experts if isinstance(e, pipeline.Conditional)]
    final = {"R": list(s.R), "V": list(s.V), "B": s.B, "W": s.W, "a": list(pipe.guard.a), "base": account.base, "extra": account.extra, "lead": account.lead,
             "most": account.most, "reserved": account.reserved, "pending": pipe.pending}
    for e in ledger: final["balances"] = [e.L.sum(), abs(e.L).sum(), (e.L ** 2).sum(), e.A.sum()]
    for e in means: final["spread" if e.symmetric else "mean"] = list(e.m)
    for e in affine: final |= {"affine_a": list(e.a), "affine_b": list(e.b)}
    return plain(out | {"final": final})


def plain(x):
    if isinstance(x, dict): return {k: plain(v) for k, v in x.items()}
    if isinstance(x, (list, tuple)): return [plain(v) for v in x]
    return x if x is None or isinstance(x, (str, int)) else float(x)


def fields(x, name="", out=None):
    """All numbers, by the name of their field."""
    out = {} if out is None else out
    if isinstance(x, dict):
        for k, v in x.items(): fields(v, k, out)
    elif isinstance(x, list):
        for v in x: fields(v, name, out)
    elif isinstance(x, (int, float)) and not isinstance(x, bool): out.setdefault(name, []).append(x)
    return out


def difference(a, b):
    a, b, out = fields(a), fields(b), {}
    for name in a:
        x, y = np.array(a[name]), np.array(b[name])
        out[name] = float(abs(x - y).max() / (abs(x).max() or 1)) if x.shape == y.shape else math.inf
    return out


def make():
    done = []
    for case in cases():
        if isinstance(case["events"], int): case["delay"] = case.pop("events")
        result = run(case); case.pop("adversary", None)
        Jittered.rng = np.random.default_rng(0)
        spread = difference(result, run(case, Jittered)); spread.pop("i")
        done.append(case | result | {"spread": {k: float(f"{v:.1e}") for k, v in spread.items() if v > 0}})
    return plain({"numpy": np.__version__, "levels": list(LEVELS), "base": list(pipeline.BASE), "places": PLACES, "at_z": AT_Z, "at_t": AT_T, "cases": done})


if __name__ == "__main__":
    fresh = make()
    if "--check" in sys.argv:
        kept = json.loads(FILE.read_text())
        worst = {a["name"]: max(difference(a, b).values()) for a, b in zip(kept["cases"], fresh["cases"], strict=True)}
        for name, d in worst.items(): assert d < 1e-12, (name, d)
    else: FILE.write_text(json.dumps(fresh, separators=(",", ":")).replace('{"name"', '\n{"name"') + "\n")
