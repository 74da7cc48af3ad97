"""Reference implementation of the ledger recalibrator: small, slow, and independent of the product.

Made to check the Rust core against: same inputs, same numbers (1e-9). It follows docs/theory.md symbol by
symbol: ledgers, trust, isotonic projection, probit map, coverage guard. `make_ledger.py` writes its numbers to
`ledger.json`. Needs numpy and scipy.

    python ledger.py            # runs the self-checks and prints the heteroscedastic counter-example
"""

from __future__ import annotations

import numpy as np
from scipy import integrate
from scipy.special import ndtr, ndtri


def levels(count: int = 25, span: float = 6.0, stretch: float = 3.0) -> np.ndarray:
    """Level grid in probit units: z = span * sinh(stretch x) / sinh(stretch), x equally spaced on [-1, 1]."""
    return span * np.sinh(stretch * np.linspace(-1.0, 1.0, count)) / np.sinh(stretch)


def plays(count: int = 16, span: float = 3.3) -> np.ndarray:
    """Play grid v_0=0 < ... < v_N=1; the inner points are equally spaced in probit units."""
    return np.r_[0.0, ndtr(np.linspace(-span, span, count - 1)), 1.0]


class Ledgers:
    """One binary forecaster per level, sharing a play grid; G ledgers per level (weights w_g >= 0)."""

    def __init__(self, z_levels, play_grid, ledgers: int = 2, prior: float = 10.0, decay: float = 1.0):
        self.z, self.u, self.v = z_levels, ndtr(z_levels), play_grid
        self.prior, self.n = prior, 0.0
        self.decay = decay                             # of the count that the prior is divided by; 2^(-1/half_life)
        shape = (len(z_levels), ledgers)
        self.L = np.zeros(shape + (len(play_grid),))   # signed balances
        self.A = np.zeros(shape)                       # sum of squared weights
        self.Q = np.zeros(shape)                       # sum of w (p - u)^2
        self.B = np.zeros(len(z_levels))               # what each level's potential is bounded by (theorem 1)
        self.growth = 0.0                              # the same without what old squares lose: a coarser bound
        self.prior_drift = 0.0
        self.last = self.u.copy()

    def play(self, w):
        """w: (G, levels). Returns (p, lo, a): p = (1-a) v_lo + a v_{lo+1} per level. Pure but for `last`."""
        v, N = self.v, len(self.v) - 1
        J = len(self.z)
        p, lo_, a_ = np.empty(J), np.empty(J, int), np.empty(J)
        for j in range(J):
            A = self.A[j] + w[:, j] ** 2
            c = np.divide(w[:, j], A, out=np.zeros_like(A), where=A > 0)
            S = c @ self.L[j] + self.prior * (self.u[j] - v) / (self.n + 1)
            x = self.last[j]
            i = min(max(int(np.searchsorted(v, x, side="right")) - 1, 0), N - 1)
            f = (x - v[i]) / (v[i + 1] - v[i])
            s = (1 - f) * S[i] + f * S[i + 1]
            if s == 0.0:
                a = f
            elif s > 0.0:
                while S[i + 1] > 0.0 and i < N - 1:
                    i += 1
                a = 1.0 if S[i + 1] > 0.0 else S[i] / (S[i] - S[i + 1])
            else:
                while S[i] < 0.0 and i > 0:
                    i -= 1
                a = 0.0 if S[i] < 0.0 else S[i] / (S[i] - S[i + 1])
            lo_[j], a_[j] = i, a
            p[j] = (1 - a) * v[i] + a * v[i + 1]
        return p, lo_, a_

    def settle(self, w, play, z_outcome: float):
        """Book the outcome o_j = 1{z <= z_j} against the probabilities that were played."""
        p, lo, a = play
        o = (z_outcome <= self.z).astype(float)
        before = self.A.copy()
        self.A += (w ** 2).T
        for j in range(len(self.z)):
            e = o[j] - p[j]
            self.L[j, :, lo[j]] += w[:, j] * (1 - a[j]) * e
            self.L[j, :, lo[j] + 1] += w[:, j] * a[j] * e
            self.Q[j] += w[:, j] * (p[j] - self.u[j]) ** 2
            used = self.A[j] > 0
            growth = (w[used, j] ** 2 / self.A[j, used]).sum() * e * e * ((1 - a[j]) ** 2 + a[j] ** 2)
            drift = -2 * self.prior / (self.n + 1) * (self.u[j] - p[j]) * e
            kept = [before[j, g] / self.A[j, g] for g in range(self.A.shape[1]) if before[j, g] > 0]
            self.B[j] = max(kept, default=0.0) * self.B[j] + growth + drift
            self.growth += growth
            self.prior_drift += drift
        self.last = p.copy()
        self.n = self.decay * self.n + 1

    # --- the certificate -------------------------------------------------------------------------
    def potentials(self):
        """Psi_j, level by level."""
        A = self.A[..., None]
        return np.divide(self.L ** 2, A, out=np.zeros_like(self.L), where=A > 0).sum(axis=(1, 2))

    def potential_bounds(self):
        """B_j, level by level: rho_j B_j + growth + drift, rho_j the largest share of a ledger's A that is old."""
        return self.B

    def summed_bound(self):
        """The bound with every rho_j taken as 1; grows with the logarithm of the steps."""
        return self.growth + self.prior_drift

    def regret(self, g: int):
        """Exact sum over t and levels of w_g [(p-o)^2 - (u-o)^2], from the state alone."""
        inner = ((self.v[None, :] - self.u[:, None]) * self.L[:, g]).sum(1)
        return float((-2 * inner - self.Q[:, g]).sum())


def isotonic(p, w):
    """Weighted projection onto non-decreasing vectors (pool adjacent violators)."""
    blocks: list[list[float]] = []
    for x, m in zip(p, w):
        blocks.append([x, max(m, 1e-300), 1])
        while len(blocks) > 1 and blocks[-2][0] > blocks[-1][0]:
            x2, m2, c2 = blocks.pop()
            x1, m1, c1 = blocks.pop()
            blocks.append([(x1 * m1 + x2 * m2) / (m1 + m2), m1 + m2, c1 + c2])
    return np.concatenate([np.full(int(c), x) for x, _, c in blocks])


class Memories:
    """Running means of the outcomes at the levels (docs/theory.md), chosen between by exponential weights on the CRPS.

    Mean k forgets half of an outcome in half_lives[k] further ones; at first each counts `prior` outcomes at the base.
    """

    def __init__(self, u, half_lives=(np.inf, 150.0, 30.0), prior=10.0, rate=20.0, share=0.001):
        self.means = np.tile(u, (len(half_lives), 1))
        self.counts = np.full(len(half_lives), prior)
        self.longest = np.array([np.inf if np.isinf(h) else 1.0 / (1.0 - 2.0 ** (-1.0 / h)) for h in half_lives])
        self.weights = np.r_[0.97, np.full(len(half_lives), 0.01)]
        self.rate, self.share, self.largest = rate, share, 0.0

    def mix(self, p):
        return self.weights @ np.vstack([p, self.means])

    def settle(self, p, width, o):
        self.largest = max(self.largest, width.sum())
        losses = (width * (np.vstack([p, self.means]) - o) ** 2).sum(1) / self.largest
        w = self.weights * np.exp(-self.rate * losses)
        self.weights = (1 - self.share) * w / w.sum() + self.share / len(w)
        self.counts = np.minimum(self.counts + 1, self.longest)
        self.means += (o - self.means) / self.counts[:, None]


class Trust:
    """How far to follow the ledgers away from the base (docs/theory.md): one weight, by exponential weights.

    The loss that is compared is the sum of the CRPS-weighted and the uniform squared error at the levels, each
    divided by its largest possible value so far, so units cancel; a little weight flows back each step.
    """

    def __init__(self, rate: float = 8.0, share: float = 0.001):
        self.w, self.rate, self.share, self.largest = 0.5, rate, share, 0.0

    def mix(self, p, u):
        return self.w * p + (1 - self.w) * u

    def settle(self, p, u, width, o):
        ours, base = (p - o) ** 2, (u - o) ** 2
        self.largest = max(self.largest, width.sum())
        gain = (width * (base - ours)).sum() / self.largest + (base - ours).mean()
        a = self.w * np.exp(self.rate * gain)
        self.w = (1 - self.share) * a / (a + 1 - self.w) + self.share * 0.5


class Guard:
    """Coverage guard (docs/theory.md): keeps each quantile's hit balance within a budget of order sqrt(t).

    Works in the probit scale of the ledger forecast. The 27 quantiles are the ends of the intervals that are asked for,
    and the cap lets a knot move by 80 probit units, but never beyond both 8 of them and twice the distance of the
    farthest outcome so far, which is counted in the outcome's units: probit score times the base's scale.
    """

    LOWER = (0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45)

    def __init__(self, strength: float = 0.16, slack: float = 25.0, cap: float = 0.999):
        lower = ndtri(np.array(self.LOWER))
        self.t = np.r_[lower, 0.0, -lower[::-1]]
        self.q = np.r_[self.LOWER, 0.5, 1 - np.array(self.LOWER)[::-1]]
        self.e = np.zeros(len(self.t))   # hits minus nominal
        self.n, self.strength, self.slack = 0, strength, slack
        self.cap = cap                # of the share of the budget: the furthest push is strength * cap / (1 - cap^2)
        self.farthest = 0.0           # of the outcomes so far, in the outcome's units

    def knots(self, scale: float):
        """Where the ledger forecast's probit score must lie below for quantile q_k to be hit; non-decreasing."""
        b = 2 * np.sqrt(self.q * (1 - self.q) * (self.n + self.slack)) + 1.0
        blocks = []                    # [sum e, sum b, sum t, count, value]
        for e, bb, t in zip(self.e, b, self.t):
            blocks.append(self._block(e, bb, t, 1))
            while len(blocks) > 1 and blocks[-2][4] > blocks[-1][4]:
                r, l = blocks.pop(), blocks.pop()
                blocks.append(self._block(l[0] + r[0], l[1] + r[1], l[2] + r[2], l[3] + r[3]))
        reach = max(8.0, 2.0 * self.farthest / scale)
        return np.clip(np.concatenate([np.full(blk[3], blk[4]) for blk in blocks]), -reach, reach)

    def _block(self, e, b, t, n):
        x = min(max(e / b, -self.cap), self.cap)
        return [e, b, t, n, t / n - self.strength * x / (1 - x * x)]

    def settle(self, knots, r: float, scale: float):
        """r: the ledger forecast's probit score of the outcome; scale: the base's standard deviation."""
        self.farthest = max(self.farthest, abs(r) * scale)
        self.e += (r <= knots) - self.q
        self.n += 1


class Recalibrated:
    """G = guard o map o F for a normal base F = N(mean, std), as a function on the outcome's axis.

    Map: r_j = probit of p_j held within [clip, 1 - clip], linear in (z_j, r_j) between levels; beyond the outer levels
    the slope of the chord over the outer 1/ANCHOR of the levels (4: the outer quarter), held within [0.02, 50].
    Guard: score t_k where the ledger forecast has score knot_k, linear between, slope 1 beyond; where knots tie the
    CDF jumps, and is continuous from the right.
    """

    CLIP, SLOPES, ANCHOR = 1e-12, (0.02, 50.0), 4

    def __init__(self, mean, std, z_levels, probabilities, guard_scores, guard_knots):
        self.mean, self.std = mean, std
        self.z, self.t, self.knots = z_levels, guard_scores, guard_knots
        self.r = ndtri(np.clip(probabilities, self.CLIP, 1 - self.CLIP))
        c = (len(z_levels) - 1) // self.ANCHOR
        self.lower = float(np.clip((self.r[c] - self.r[0]) / (self.z[c] - self.z[0]), *self.SLOPES))
        self.upper = float(np.clip((self.r[-1] - self.r[-1 - c]) / (self.z[-1] - self.z[-1 - c]), *self.SLOPES))

    def ledger_score(self, y):
        """Probit score of y under the ledger forecast, before the guard."""
        z = (y - self.mean) / self.std
        if z <= self.z[0]:
            return self.r[0] + self.lower * (z - self.z[0])
        if z >= self.z[-1]:
            return self.r[-1] + self.upper * (z - self.z[-1])
        return np.interp(z, self.z, self.r)

    def score(self, y):
        """Probit score of y under G."""
        r = self.ledger_score(y)
        i = int(np.searchsorted(self.knots, r, side="right"))   # knots[i-1] <= r < knots[i]
        if i == 0:
            return self.t[0] + (r - self.knots[0])
        if i == len(self.knots):
            return self.t[-1] + (r - self.knots[-1])
        return self.t[i - 1] + (self.t[i] - self.t[i - 1]) * (r - self.knots[i - 1]) / (self.knots[i] - self.knots[i - 1])

    def cdf(self, y):
        return float(ndtr(self.score(y)))

    def ledger_at(self, r):
        """The smallest y with ledger score at least r."""
        i = int(np.searchsorted(self.r, r, side="left"))        # r[i-1] < r <= r[i]
        if i == 0:
            z = self.z[0] + (r - self.r[0]) / self.lower
        elif i == len(self.r):
            z = self.z[-1] + (r - self.r[-1]) / self.upper
        else:
            z = self.z[i - 1] + (self.z[i] - self.z[i - 1]) * (r - self.r[i - 1]) / (self.r[i] - self.r[i - 1])
        return float(self.mean + self.std * z)

    def at(self, t):
        """The smallest y with score at least t: the quantile at probability Phi(t)."""
        return self.ledger_at(through(t, self.t, self.knots))

    def quantile(self, probability):
        return self.at(float(ndtri(probability)))

    def crps(self, y):
        """The integral of (G(x) - 1{y <= x})^2, by adaptive quadrature between all kinks and a few inner points."""
        cuts = [self.mean + self.std * z for z in self.z] + [self.ledger_at(k) for k in self.knots] + [y]
        cuts += [self.at(float(t)) for t in (*range(-12, 13), -30, 30)]
        cuts = sorted(set(cuts))
        total = error = 0.0
        for a, b in zip(cuts, cuts[1:]):
            side = -1.0 if a >= y else 1.0                      # above y integrate the survival function squared
            value, bound = integrate.quad(lambda x: float(ndtr(side * self.score(x))) ** 2, a, b,
                                          epsabs=0.0, epsrel=1e-12, limit=200)
            total, error = total + value, error + bound
        assert error <= 1e-10 * total, (error, total)
        return total


def recalibrate(z, scale, *, crps_ledger=True, trust=False, **kwargs):
    """Run a whole stream of Gaussian-like forecasts: z = (y - mean) / std, scale = std.

    Returns (P, ledgers): P[t] the isotonic probabilities at the levels, before outcome t was seen.
    """
    zl = kwargs.pop("z_levels", levels())
    led = Ledgers(zl, kwargs.pop("play_grid", plays()), ledgers=2 if crps_ledger else 1, **kwargs)
    width = np.gradient(zl)
    belief = Trust() if trust else None
    P = np.empty((len(z), len(zl)))
    for t, (zt, s) in enumerate(zip(z, scale)):
        w = np.ones((1, len(zl))) if not crps_ledger else np.vstack([np.ones(len(zl)), s * width])
        play = led.play(w)
        p = belief.mix(play[0], led.u) if belief else play[0]
        P[t] = isotonic(p, w[-1])
        if belief:
            belief.settle(play[0], led.u, s * width, (zt <= zl).astype(float))
        led.settle(w, play, zt)
    return P, led


def level_crps(P, z, scale, zl):
    """CRPS at level resolution, per step."""
    o = z[:, None] <= zl[None, :]
    return (scale[:, None] * np.gradient(zl)[None, :] * (P - o) ** 2).sum(1)


def through(x, xs, ys):
    """Piecewise linear through (xs, ys), going on with slope 1 beyond the ends."""
    if x <= xs[0]:
        return ys[0] + (x - xs[0])
    if x >= xs[-1]:
        return ys[-1] + (x - xs[-1])
    return float(np.interp(x, xs, ys))


def interval_adversary(T: int = 3000, bound: float = 4.0, guarded: bool = True, seed: int = 0):
    """Share of outcomes inside the 80 % interval when an adversary who sees it steps just outside, within +-bound sigma."""
    rng = np.random.default_rng(seed)
    zl = levels()
    led, guard, trust = Ledgers(zl, plays()), Guard(), Trust()
    w = np.vstack([np.ones(len(zl)), np.gradient(zl)])
    inside = 0
    for _ in range(T):
        play = led.play(w)
        k = guard.knots(1.0) if guarded else guard.t
        g = Recalibrated(0.0, 1.0, zl, isotonic(trust.mix(play[0], led.u), w[-1]), guard.t, k)
        lo, hi = g.quantile(0.1), g.quantile(0.9)
        room = [z for z in (hi + 1e-3, lo - 1e-3) if abs(z) <= bound]
        z = room[rng.integers(len(room))] if room else rng.uniform(-bound, bound)
        inside += lo <= z <= hi
        guard.settle(k, g.ledger_score(z), 1.0)
        trust.settle(play[0], led.u, w[-1], (z <= zl).astype(float))
        led.settle(w, play, z)
    return inside / T


def self_check(T: int = 4000):
    """The heteroscedastic counter-example of docs/theory.md, with the two facts that hold on every stream."""
    rng = np.random.default_rng(0)
    odd = np.arange(T) % 2 == 0
    scale = np.where(odd, 10.0, 0.1)
    z = np.where(odd, rng.normal(size=T), -1.5 + 0.3 * rng.normal(size=T))
    zl = levels()
    base = level_crps(np.tile(ndtr(zl), (T, 1)), z, scale, zl)
    for name, flag in (("Algorithm 1 (one uniform ledger)", False), ("ledgers: uniform + CRPS", True)):
        P, led = recalibrate(z, scale, crps_ledger=flag)
        ours = level_crps(P, z, scale, zl)
        print(f"{name}: CRPS {ours.mean():.4f}, base {base.mean():.4f} ({100 * (ours.mean() / base.mean() - 1):+.1f} %)")
        assert (led.potentials() <= led.potential_bounds() + 1e-9).all()
        assert led.potential_bounds().sum() <= led.summed_bound() + 1e-9
        if flag:  # the projection can only lower the loss, so the state's regret is an upper bound
            assert (ours - base).sum() <= led.regret(1) + 1e-6
    P, _ = recalibrate(z, scale, trust=True)
    ours = level_crps(P, z, scale, zl)
    print(f"with trust: CRPS {ours.mean():.4f} ({100 * (ours.mean() / base.mean() - 1):+.1f} %)")
    print("potential within its bound, realised regret within the certificate: yes")
    for guarded in (False, True):
        print(f"80 % interval against an adversary who sees it, guard {guarded}: {interval_adversary(guarded=guarded):.3f}")


if __name__ == "__main__":
    self_check()
