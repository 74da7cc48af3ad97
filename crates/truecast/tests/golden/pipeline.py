"""Reference implementation of the default pipeline: plain Python, written for reading, independent of the crate.

    forecast F -> experts -> aggregation -> isotonic -> probit map -> stop-loss -> paired guard -> announced G

    run = Pipeline()
    ticket = run.issue(Gaussian(mean, std))      # pure but for what waits: ticket.final is the announced curve
    run.settle(ticket, outcome)                  # any order, any delay; each stage books against what it said on that ticket
    run.expire(ticket)                           # the outcome never comes

docs/theory.md has the formulas in words, and the proofs. Everything is in the base's probit units: z = Phi^-1(F(y)). A calibrated forecast G is a
non-decreasing curve t = Phi^-1(G) against z. make_pipeline.py writes what this does on short streams to pipeline.json. Needs numpy.

Settings of Pipeline, the default first:
    experts     any of "ledger", "mean", "spread", "affine", "fleet" beside the base (the first four)
    method      "experts"; "ledger": the ledger expert alone, without the base and without aggregation
    lags        True; False: the affine expert sees bias, location and log scale only, not the last outcomes
    stop_loss   .005, the share of the base's score that may be lost; None: no limit, neither for the map nor for the guard
    guard       "priced": within the stop-loss; "strict": whatever it costs, and the stop-loss promises the forecast before the guard;
                "off"
    half_life   None; a number of outcomes in which ledgers and means forget half
"""
import bisect, math
from statistics import NormalDist
import numpy as np

Phi = lambda x: 0.5 * math.erfc(-x / math.sqrt(2))
phi = lambda x: math.exp(-x * x / 2) / math.sqrt(2 * math.pi)
probit = NormalDist().inv_cdf
hold = lambda x, lo, hi: min(max(x, lo), hi)
SPI = 1 / math.sqrt(math.pi)
LEVELS = 6 * np.sinh(3 * np.linspace(-1, 1, 25)) / math.sinh(3)              # z_j
BASE = np.array([Phi(z) for z in LEVELS])                                    # u_j = Phi(z_j)
CELL = np.gradient(LEVELS)
TAILS = [.45, .4, .35, .3, .25, .2, .15, .1, .05, .025, .01, .005, .001]     # guarded central intervals: level 1-2q
PLACES = [-probit(q) for q in TAILS]                                         # t_k > 0, increasing


# ---------------------------------------------------------------- integrals of the normal cdf, for exact scores
A1 = lambda x: x * Phi(x) + phi(x)                                           # int_-inf^x Phi
def A2(x):                                                                   # int_-inf^x Phi^2
    return 0.0 if x < -12 else x * Phi(x) ** 2 + 2 * Phi(x) * phi(x) - Phi(math.sqrt(2) * x) * SPI
NODES, SHARES = np.polynomial.legendre.leggauss(4)
def along(prim, t0, t1, width, f):                                           # int of f over a piece of length `width` on which t runs linearly t0..t1;
    if abs(t1 - t0) > .05: return (prim(t1) - prim(t0)) * width / (t1 - t0)  # where prim's values cancel, Gauss-Legendre (relative error below 1e-16)
    return width / 2 * sum(a * f((t0 + t1) / 2 + x * (t1 - t0) / 2) for x, a in zip(NODES, SHARES))
low = lambda t0, t1, w: along(A2, t0, t1, w, lambda t: Phi(t) ** 2)          # int G^2
high = lambda t0, t1, w: along(lambda t: -A2(-t), t0, t1, w, lambda t: Phi(-t) ** 2)   # int (1-G)^2
area = lambda t0, t1, w: along(A1, t0, t1, w, Phi)                           # int G


class Curve:
    """t(z): linear through (z_i, t_i), both non-decreasing, slopes `left`, `right` beyond. A flat piece is an interval without probability,
    an upright one (equal z) an atom."""
    def __init__(self, z, t, left, right):
        self.z, self.t, self.left, self.right = list(z), list(t), left, right
    def level(self, z):                                                      # z -> t
        Z, T = self.z, self.t
        if z <= Z[0]: return T[0] + self.left * (z - Z[0])
        if z >= Z[-1]: return T[-1] + self.right * (z - Z[-1])
        i = bisect.bisect_right(Z, z) - 1
        return T[i] + (T[i + 1] - T[i]) * (z - Z[i]) / (Z[i + 1] - Z[i])
    def place(self, t, upper=True):                                          # t -> z; at a flat piece its upper or its lower end
        Z, T = self.z, self.t
        if t < T[0]: return Z[0] + (t - T[0]) / self.left
        if t > T[-1]: return Z[-1] + (t - T[-1]) / self.right
        i = bisect.bisect_right(T, t) - 1 if upper else bisect.bisect_left(T, t)
        if T[i] == t: return Z[i]
        if not upper: i -= 1
        return Z[i] + (Z[i + 1] - Z[i]) * (t - T[i]) / (T[i + 1] - T[i])
IDENTITY = Curve([0.0], [0.0], 1.0, 1.0)


def blend(s, g, l):
    """Quantile averaging: place(t) = (1-l) s.place(t) + l g.place(t), exactly. It bends where s bends and where g bends, and jumps where one jumps."""
    z, t = [], []
    for x in sorted(set(s.t) | set(g.t)):
        ends = [(1 - l) * s.place(x, upper) + l * g.place(x, upper) for upper in (False, True)]
        for e in ends if ends[1] > ends[0] else ends[:1]: z.append(e); t.append(x)
    return Curve(np.maximum.accumulate(z), t, 1 / ((1 - l) / s.left + l / g.left), 1 / ((1 - l) / s.right + l / g.right))


class Gaussian:
    """Score: CRPS, exact. In units of std it depends on the curve alone."""
    convex = True
    def __init__(self, mean, std): self.location, self.scale, self.width = mean, std, std * CELL
    def z(self, y): return (y - self.location) / self.scale
    def expected_score(self): return self.scale * SPI
    def score(self, c, y):                                                   # int (Phi(t(z)) - 1{z >= zy})^2 dz
        zy = self.z(y)
        if c is IDENTITY: return self.scale * (zy * (2 * Phi(zy) - 1) + 2 * phi(zy) - SPI)
        z0, t0, z1, t1 = c.z[0], c.t[0], c.z[-1], c.t[-1]
        s = A2(min(t0, c.level(zy))) / c.left + A2(-max(t1, c.level(zy))) / c.right
        if zy < z0: s += (A2(-c.level(zy)) - A2(-t0)) / c.left
        if zy > z1: s += (A2(c.level(zy)) - A2(t1)) / c.right
        for a, b, ta, tb in zip(c.z, c.z[1:], c.t, c.t[1:]):
            if b <= a: continue
            if zy >= b: s += low(ta, tb, b - a)
            elif zy <= a: s += high(ta, tb, b - a)
            else:
                tm = ta + (tb - ta) * (zy - a) / (b - a)
                s += low(ta, tm, zy - a) + high(tm, tb, b - zy)
        return self.scale * s
    def worst(self, g, s):
        """max over y of score(g,y) - score(s,y). d/dy of it is 2(G-S): start at y = -inf, add areas, look at the crossings. g has all knots of s."""
        Z, T, U = g.z, g.t, [s.level(z) for z in g.z]
        d = (A2(T[0]) - 2 * A1(T[0])) / g.left - (A2(U[0]) - 2 * A1(U[0])) / s.left + A2(-T[-1]) / g.right - A2(-U[-1]) / s.right
        pieces = [(b - a, *q) for a, b, *q in zip(Z, Z[1:], T, T[1:], U, U[1:]) if b > a]
        d += sum(high(t0, t1, w) - high(u0, u1, w) for w, t0, t1, u0, u1 in pieces)
        best = d
        if abs(g.left - s.left) > 1e-12 and (x := (U[0] - T[0]) / (g.left - s.left)) < 0:
            tc = T[0] + g.left * x; best = max(best, d + 2 * (A1(tc) / g.left - A1(tc) / s.left))
        d += 2 * (A1(T[0]) / g.left - A1(U[0]) / s.left); best = max(best, d)
        for w, t0, t1, u0, u1 in pieces:
            if (t0 - u0) * (t1 - u1) < 0:
                f = (t0 - u0) / ((t0 - u0) - (t1 - u1)); tc = t0 + f * (t1 - t0)
                best = max(best, d + 2 * (area(t0, tc, f * w) - area(u0, tc, f * w)))
            d += 2 * (area(t0, t1, w) - area(u0, u1, w)); best = max(best, d)
        if abs(g.right - s.right) > 1e-12 and (x := (U[-1] - T[-1]) / (g.right - s.right)) > 0:
            tc = T[-1] + g.right * x
            best = max(best, d + 2 * ((A1(-U[-1]) - A1(-tc)) / s.right - (A1(-T[-1]) - A1(-tc)) / g.right))
        return self.scale * max(best, d + 2 * (A1(-U[-1]) / s.right - A1(-T[-1]) / g.right))


class Table:
    """Quantiles `values` at the levels `taus`. Linear in probit coordinates; tails go on with the chord of the outer four quantiles (of all, if
    there are fewer). Score: 2 sum_k w_k pinball_k over its own levels, sum w = 1; with equal weights the weighted interval score. What is announced
    is again a table at the same levels, not below `floor`. `least` is the least chord; a positive one would be in units of y.
    `probits` are those of the levels, where a level has not the digits to tell."""
    convex = False
    def __init__(self, taus, values, floor=-math.inf, weights=None, least=0.0, probits=None):
        self.taus, self.q, self.floor, self.least = np.array(taus), np.maximum.accumulate(np.array(values, float)), floor, least
        self.weights = np.full(len(taus), 1 / len(taus)) if weights is None else np.array(weights)
        self.t = list(probits) if probits is not None else [0.0 if abs(p - .5) < 1e-12 else probit(p) for p in taus]
        self.left, self.right = self.tails()
        self.q_of = Curve(self.t, self.q, self.left, self.right).level
        self.location, self.scale = self.q_of(0.0), (self.q_of(1.0) - self.q_of(-1.0)) / 2
        self.width = np.gradient([self.q_of(z) for z in LEVELS])
    def tails(self):
        n = len(self.t)
        chord = lambda a, b: max((self.q[b] - self.q[a]) / (self.t[b] - self.t[a]), self.least) if b > a else 0.0
        return chord(0, min(3, n - 1)), chord(max(n - 4, 0), n - 1)
    def z(self, y):                                                          # at an atom: the middle of its probabilities
        q, t = self.q, self.t
        if y < q[0]: return max(t[0] + (y - q[0]) / self.left, -60.0) if self.left > 0 else -60.0
        if y > q[-1]: return min(t[-1] + (y - q[-1]) / self.right, 60.0) if self.right > 0 else 60.0
        r, l = bisect.bisect_right(q, y), bisect.bisect_left(q, y)
        between = lambda k: t[k - 1] + (t[k] - t[k - 1]) * (y - q[k - 1]) / (q[k] - q[k - 1])
        zr = t[-1] if r == len(q) else between(r)
        zl = t[0] if l == 0 else between(l)
        return zr if zr <= zl + 1e-12 else probit((Phi(zr) + Phi(zl)) / 2)
    def expected_score(self): return float(sum(w * self.pinball(self.q, y) for w, y in zip(self.weights, self.q)))
    def values(self, c): return self.q if c is IDENTITY else np.array([max(self.q_of(c.place(t)), self.floor) for t in self.t])
    def pinball(self, values, y): return float(2 * np.sum(self.weights * (self.taus - (y < values)) * (y - values)))
    def score(self, c, y): return self.pinball(self.values(c), y)
    def worst(self, g, s):                                                   # the difference is piecewise linear in y: its corners are the quantiles
        g, s = self.values(g), self.values(s)
        return max(0.0, max(self.pinball(g, y) - self.pinball(s, y) for y in [*g, *s]))
    def announce(self, c):                                                   # the forecast that is handed out, with tails of its own
        return type(self)(*self.like(self.values(c)))
    def like(self, values): return self.taus, values, self.floor, self.weights, self.least, self.t


class Samples(Table):
    """An ensemble: its members are quantiles at (i - 1/2)/n, so that 2 x mean pinball is the ensemble's CRPS exactly,
    mean |x - y| - mean |x - x'| / 2. Tails have the standard deviation of the members (n - 1) as their spread; so have those of what is announced."""
    def __init__(self, members, floor=-math.inf):
        n = len(members); super().__init__((np.arange(n) + .5) / n, np.sort(members), floor)
    def tails(self): return (float(np.std(self.q, ddof=1)),) * 2 if len(self.q) > 1 else (0.0, 0.0)
    def like(self, values): return values, self.floor


# ---------------------------------------------------------------- experts: each says 25 probabilities for {z <= z_j}
class Ledger:
    """Two ledgers per level (weights 1 and CRPS width): plays a root of S(p) = sum_g w_g L_g(p)/A_g + 10 (u-p)/(n+1), tent functions on a grid of plays."""
    PLAYS = [0.0] + [Phi(x) for x in np.linspace(-3.3, 3.3, 15)] + [1.0]
    def __init__(self, half_life=None):
        self.L, self.A, self.n, self.last = np.zeros((25, 2, 17)), np.zeros((25, 2)), 0, list(BASE)
        self.keep = 2 ** (-1 / half_life) if half_life else 1.0              # L counts that much of its past, A the square of it
    def issue(self, forecast, context):
        v, out = self.PLAYS, []
        for j in range(25):
            w = np.array([1.0, forecast.width[j]]); a = self.keep ** 2 * self.A[j] + w * w
            S = [sum(w[g] * self.keep * self.L[j, g, i] / a[g] for g in (0, 1) if a[g] > 0) + 10.0 * (BASE[j] - v[i]) / (self.n + 1) for i in range(17)]
            i = hold(bisect.bisect_right(v, self.last[j]) - 1, 0, 15); f = (self.last[j] - v[i]) / (v[i + 1] - v[i])
            here = (1 - f) * S[i] + f * S[i + 1]
            if here > 0:
                while S[i + 1] > 0 and i < 15: i += 1
                f = 1.0 if S[i + 1] > 0 else S[i] / (S[i] - S[i + 1])
            elif here < 0:
                while S[i] < 0 and i > 0: i -= 1
                f = 0.0 if S[i] < 0 else S[i] / (S[i] - S[i + 1])
            out.append((i, f))
        return np.array([(1 - f) * v[i] + f * v[i + 1] for i, f in out]), out
    def settle(self, said, memo, forecast, z):
        self.L *= self.keep; self.A *= self.keep ** 2
        for j, (i, f) in enumerate(memo):
            w = np.array([1.0, forecast.width[j]]); e = (z <= LEVELS[j]) - (1 - f) * self.PLAYS[i] - f * self.PLAYS[i + 1]
            self.A[j] += w * w; self.L[j, :, i] += w * (1 - f) * e; self.L[j, :, i + 1] += w * f * e
        self.last, self.n = list(said), self.keep * self.n + 1


class RunningMean:
    """m_j <- m_j + (o_j - m_j)/n, n = 10 + outcomes, held at 1/(1 - 2^(-1/half_life)); symmetric: only the spread, (m_j + 1 - m_{M+1-j})/2."""
    def __init__(self, half_life=None, symmetric=False):
        self.m, self.n, self.symmetric = BASE.copy(), 10.0, symmetric
        self.most = 1 / (1 - 2 ** (-1 / half_life)) if half_life else math.inf
    def issue(self, forecast, context): return (self.m + 1 - self.m[::-1]) / 2 if self.symmetric else self.m.copy(), None
    def settle(self, said, memo, forecast, z):
        self.n = min(self.n + 1, self.most); self.m += ((z <= LEVELS) - self.m) / self.n


class Fleet:
    """25 probabilities handed in with the forecast (a map learnt on other series), known at issue."""
    def issue(self, forecast, context): return np.array(getattr(forecast, "fleet", BASE)), None
    def settle(self, *_): pass


class Conditional:
    """z ~ N(a.f, exp(b.f)^2), features f known at issue; one Fisher-scored step of minimum CRPS per outcome, forgetting, ridge of 10 outcomes to the base."""
    def __init__(self, half_life, memory, features):
        self.k, self.forget, self.fade = features, 2 ** (-1 / half_life), 2 ** (-1 / memory)
        self.a, self.b, self.H, self.J = np.zeros(features), np.zeros(features), np.zeros((features,) * 2), np.zeros((features,) * 2)
        self.seen, self.mean, self.var = 0.0, [0.0, 0.0], [0.0, 0.0]         # running moments of location and log scale
    def issue(self, forecast, context):
        now, f = (forecast.location, math.log(max(forecast.scale, 1e-300))), [1.0, 0.0, 0.0]
        if self.seen >= 5:
            if self.var[0] > 0: f[1] = hold((now[0] - self.mean[0]) / math.sqrt(self.var[0] / self.seen + 1e-300), -3, 3)
            f[2] = hold((now[1] - self.mean[1]) / math.sqrt(self.var[1] / self.seen + 1e-4), -3, 3)
        self.seen = self.fade * self.seen + 1
        for i in (0, 1):
            d = now[i] - self.mean[i]; self.mean[i] += d / self.seen; self.var[i] = self.fade * self.var[i] + d * (now[i] - self.mean[i])
        f = np.array((f + context)[:self.k])
        m, d = self.a @ f, math.exp(hold(self.b @ f, -4, 4))
        return np.array([Phi((z - m) / d) for z in LEVELS]), f
    def settle(self, said, f, forecast, z):
        d = math.exp(hold(self.b @ f, -4, 4)); x = (z - self.a @ f) / d
        g_m, g_d = 1 - 2 * Phi(x), d * (2 * phi(x) - SPI)                     # gradient of CRPS(N(m,d^2), z) in m and log d
        self.H = self.forget * self.H + SPI / d * np.outer(f, f)          # expected curvature
        self.J = self.forget * self.J + d * SPI / 2 * np.outer(f, f)
        r, I = 10 * SPI, np.eye(self.k)
        self.a = self.a - np.clip(np.linalg.solve(self.H + r * I, g_m * f + (1 - self.forget) * r * self.a), -1, 1)
        self.b = self.b - np.clip(np.linalg.solve(self.J + r / 2 * I, g_d * f + (1 - self.forget) * r / 2 * self.b), -.3, .3)


class Recent:
    """Two features from the last KNOWN outcomes: EW mean of z (half-life 1) and log EW mean of |z| (half-life 10), standardised by their own moments."""
    def __init__(self): self.a, self.v, self.moments, self.n = 0.0, 0.8, [[0.0, .1], [0.0, .05]], 10.0
    def issue(self): return [hold((x - m) / math.sqrt(s), -3, 3) for x, (m, s) in zip((self.a, math.log(self.v)), self.moments)]
    def settle(self, z):
        g = 1 / min(self.n, 1000.0); self.n += 1
        for x, ms in zip((self.a, math.log(self.v)), self.moments):
            d = x - ms[0]; ms[0] += g * d; ms[1] = max(ms[1] + g * (d * d - ms[1]), 1e-6)
        z = hold(z, -20, 20); self.a += (z - self.a) / 2; self.v += (1 - 2 ** -.1) * (abs(z) + 1e-3 - self.v)


# ---------------------------------------------------------------- aggregation
class Squint:
    """p = sum_k q_k e_k,  q_k ~ prior_k sum_i eta_i exp(eta_i R_k - eta_i^2 V_k),  eta_i = 2^(i-OFF)/(4 W), those with 2 eta_i B <= 1 (and the smallest)."""
    RATES, OFF, MIX = 16, 6, .2
    def __init__(self, prior):
        self.prior = np.array(prior) / sum(prior); self.R, self.V = np.zeros(len(prior)), np.zeros(len(prior)); self.B = self.W = self.big = 0.0
    def weights(self):
        if self.B == 0 or self.W == 0: return self.prior
        etas = [2.0 ** (i - self.OFF) / (4 * self.W) for i in range(self.RATES)]; etas = [e for i, e in enumerate(etas) if i == 0 or 2 * e * self.B <= 1]
        x = np.array([[e * r - e * e * v for e in etas] for r, v in zip(self.R, self.V)]); x -= x.max()
        q = self.prior * np.maximum((np.where(x > -40, np.exp(x), 0) * np.array(etas) * 4 * self.W).sum(1), 1e-300)
        return q / q.sum()
    def settle(self, experts, p, width, z):
        self.big = max(self.big, width.sum()); c = (1 - self.MIX) * width + self.MIX * self.big / 25
        r = np.array([(2 * c * (p - (z <= LEVELS)) * (p - e)).sum() for e in experts]); b, W = abs(r).max(), (1 - self.MIX) * width.sum() + self.MIX * self.big
        if self.W == 0: self.W = W
        if W > 64 * self.W: self.W = W; self.R[:] = 0; self.V[:] = 0         # a new epoch
        if b == 0: return
        if self.B == 0: self.B = b; return                                   # the first difference only sets the scale
        r = r * min(1.0, self.B / b); self.R += r; self.V += r * r; self.B = max(self.B, b)


def isotonic(p, w):
    blocks = []
    for x, m in zip(p, w):
        blocks.append([x, max(m, 1e-300), 1])
        while len(blocks) > 1 and blocks[-2][0] > blocks[-1][0]:
            x2, m2, c2 = blocks.pop(); x1, m1, c1 = blocks.pop(); blocks.append([(x1 * m1 + x2 * m2) / (m1 + m2), m1 + m2, c1 + c2])
    return [x for x, _, c in blocks for _ in range(c)]


def probit_map(p):
    r = [probit(hold(x, 1e-12, 1 - 1e-12)) for x in p]
    slope = lambda a, b: hold((r[b] - r[a]) / (LEVELS[b] - LEVELS[a]), .02, 50)
    return Curve(LEVELS, r, slope(0, 6), slope(-7, -1))


class Account:
    """The stop-loss. cushion = epsilon sum score(F) + C0 max_t mean expected score - KEEP (largest lead so far) - realised extra - worst cases of what
    is pending, not below 0."""
    C0, KEEP = .25, .5
    def __init__(self, epsilon): self.epsilon, self.base, self.extra, self.sum, self.most, self.lead, self.n, self.waiting = epsilon, 0.0, 0.0, 0.0, 0.0, 0.0, 0, {}
    @property
    def reserved(self): return math.fsum(self.waiting.values())
    def opened(self, forecast): self.sum += forecast.expected_score(); self.n += 1; self.most = max(self.most, self.sum / self.n)
    def balance(self): return self.epsilon * self.base + self.C0 * self.most - self.KEEP * self.lead - self.extra - self.reserved
    def cushion(self): return max(0.0, self.balance()) if self.epsilon is not None else math.inf
    def limit(self, forecast, s, g, allowed):
        """the blend of s towards g whose worst extra score is within `allowed`, its share of g, and that worst case"""
        if allowed == math.inf: return g, 1.0, 0.0
        l, c, d = 1.0, g, max(0.0, forecast.worst(g, s))
        while d > allowed:
            l *= allowed / d if forecast.convex else min(.8, .99 * allowed / d)     # Gaussian: the extra score is convex in l, so one step is enough
            if l < 1e-6: return s, 0.0, 0.0
            c = blend(s, g, l); d = allowed if forecast.convex else forecast.worst(c, s)
        return c, l, d
    def settle(self, base, announced): self.base += base; self.extra += announced - base; self.lead = max(self.lead, -self.extra)


class Guard:
    """Balances of 13 central intervals, a_k = sum (1{covered} - nominal); G has quantiles +-t_k where the map has +-h_k.
    b_k = 2 sqrt(q(1-q)(n+25)) + 1 + pending;  x = a_k/(2 b_k);  h_k = t_k - .3 x/(1-x^2), pooled where they cross, held in [0, 8]."""
    STRENGTH = .3
    def __init__(self): self.a, self.n = [0.0] * 13, 0
    def budget(self, k): return 2 * math.sqrt(TAILS[k] * (1 - TAILS[k]) * (self.n + 25)) + 1
    def issue(self, pending):
        def value(e, b, t, n): x = hold(e / b, -.999, .999); return t / n - self.STRENGTH * x / (1 - x * x)
        blocks = []
        for k in range(13):
            blocks.append((self.a[k] / 2, self.budget(k) + pending, PLACES[k], 1))
            while len(blocks) > 1 and value(*blocks[-2]) > value(*blocks[-1]):
                y, x = blocks.pop(), blocks.pop(); blocks.append(tuple(i + j for i, j in zip(x, y)))
        return [hold(value(*b), 0.0, 8.0) for b in blocks for _ in range(b[3])]
    def settle(self, covered, priced):
        for k in range(13):
            self.a[k] += covered[k] - (1 - 2 * TAILS[k])
            if priced: b = 2 * self.budget(k); self.a[k] = hold(self.a[k], -b, b)     # no wind-up while the account binds
        self.n += 1


def guarded(s, h):
    """s seen through the odd map t_k -> h_k (unit slope beyond): where s has +-h_k, the guarded curve has +-t_k."""
    def odd(x):
        m = abs(x)
        if m >= h[-1]: y = PLACES[-1] + (m - h[-1])
        else:
            i = bisect.bisect_right(h, m); x0, y0 = (h[i - 1], PLACES[i - 1]) if i else (0.0, 0.0); y = y0 + (PLACES[i] - y0) * (m - x0) / (h[i] - x0)
        return y if x > 0 else -y
    inner = [-t for t in PLACES[::-1]] + PLACES; at = [s.place(k) for k in [-x for x in h[::-1]] + h]
    z, t, a, b = [], [], 0, 0
    while a < len(s.z) or b < 26:                                            # merge the knots of s and of the guard by place
        if b == 26 or (a < len(s.z) and s.z[a] <= at[b]): z.append(s.z[a]); t.append(odd(s.t[a])); a += 1
        else: z.append(at[b]); t.append(inner[b]); b += 1
    return Curve(z, np.maximum.accumulate(t), s.left, s.right)


class Ticket: pass


class Pipeline:
    def __init__(self, experts=("ledger", "mean", "spread", "affine"), method="experts", lags=True, stop_loss=.005, guard="priced", half_life=None):
        make = {"ledger": lambda: Ledger(half_life), "mean": lambda: RunningMean(min(30, half_life or 30)), "spread": lambda: RunningMean(half_life, symmetric=True),
                "affine": lambda: Conditional(300, 300, 5 if lags else 3), "fleet": Fleet}
        self.alone, self.strength = method == "ledger", guard
        self.experts = [make[name]() for name in (("ledger",) if self.alone else experts)]
        self.squint, self.recent, self.account, self.guard = Squint([.4] + [.15] * len(self.experts)), Recent(), Account(stop_loss), Guard()
        self.pending = 0
    def say(self, forecast):                                                 # what each expert says, and what it must remember
        context = self.recent.issue(); return [e.issue(forecast, context) for e in self.experts]
    def issue(self, forecast):
        k = Ticket(); k.forecast, k.memo, account = forecast, self.say(forecast), self.account
        k.said = [BASE] + [m[0] for m in k.memo]
        k.q = np.array([0.0, 1.0]) if self.alone else self.squint.weights()
        k.p = k.said[1] if self.alone else sum(q * e for q, e in zip(k.q, k.said))
        raw = probit_map(isotonic(k.p, forecast.width))
        account.opened(forecast)
        k.cushion = account.cushion()
        k.map, k.l1, k.d1 = account.limit(forecast, IDENTITY, raw, k.cushion / math.sqrt(1 + self.pending))
        account.waiting[k] = k.d1
        k.h, k.final, k.l2, k.d2 = self.guard.issue(self.pending), k.map, 0.0, 0.0
        if self.strength != "off":
            allowed = .25 * account.cushion() if self.strength == "priced" else math.inf
            k.final, k.l2, k.d2 = account.limit(forecast, k.map, guarded(k.map, k.h), allowed)
        k.reserved = account.waiting[k] = k.d1 + k.d2; self.pending += 1
        return k
    def settle(self, k, y):
        z = k.forecast.z(y); self.pending -= 1
        k.base_score, k.final_score = k.forecast.score(IDENTITY, y), k.forecast.score(k.final, y)
        del self.account.waiting[k]
        self.account.settle(k.base_score, k.forecast.score(k.map, y) if self.strength == "strict" else k.final_score)
        if self.strength != "off": self.guard.settle([k.final.place(-t) <= z <= k.final.place(t) for t in PLACES], k.l2 < 1)
        if not self.alone: self.squint.settle(k.said, k.p, k.forecast.width, z)
        for e, (said, memo) in zip(self.experts, k.memo): e.settle(said, memo, k.forecast, z)
        self.recent.settle(z)
    def expire(self, k): self.pending -= 1; del self.account.waiting[k]
