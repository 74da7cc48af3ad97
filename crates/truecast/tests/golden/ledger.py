"""Reference implementation of the ledgers: small, slow, and independent of the product.

Made to check the Rust core against: same inputs, same numbers (1e-9). It follows docs/theory.md symbol by symbol: ledgers and isotonic
projection; the rest of the pipeline is in pipeline.py. `make_ledger.py` writes its numbers to `ledger.json`. Needs numpy and scipy.

    python ledger.py            # runs the self-checks and prints the heteroscedastic counter-example
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr


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


def recalibrate(z, scale, *, crps_ledger=True, **kwargs):
    """Run a whole stream of Gaussian-like forecasts: z = (y - mean) / std, scale = std.

    Returns (P, ledgers): P[t] the isotonic probabilities at the levels, before outcome t was seen.
    """
    zl = kwargs.pop("z_levels", levels())
    led = Ledgers(zl, kwargs.pop("play_grid", plays()), ledgers=2 if crps_ledger else 1, **kwargs)
    width = np.gradient(zl)
    P = np.empty((len(z), len(zl)))
    for t, (zt, s) in enumerate(zip(z, scale)):
        w = np.ones((1, len(zl))) if not crps_ledger else np.vstack([np.ones(len(zl)), s * width])
        play = led.play(w)
        P[t] = isotonic(play[0], w[-1])
        led.settle(w, play, zt)
    return P, led


def level_crps(P, z, scale, zl):
    """CRPS at level resolution, per step."""
    o = z[:, None] <= zl[None, :]
    return (scale[:, None] * np.gradient(zl)[None, :] * (P - o) ** 2).sum(1)


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
    print("potential within its bound, realised regret within the certificate: yes")


if __name__ == "__main__":
    self_check()
