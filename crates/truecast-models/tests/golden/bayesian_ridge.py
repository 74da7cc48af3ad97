"""Golden values of Bayesian ridge regression, by scikit-learn's BayesianRidge.

Writes bayesian_ridge.json beside itself: fits on a synthetic dataset that the test generates by the same formula, and, where the
four UCI datasets are found (first argument, or ../shared/data beside the clone), fits on prefixes of them.

    python bayesian_ridge.py [DATA]

Made with scikit-learn 1.9.1, numpy 2.4.6.
"""

import gzip
import io
import json
import sys
import warnings
from pathlib import Path

import numpy as np
from sklearn.linear_model import BayesianRidge

HERE = Path(__file__).parent
DATA = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE.parents[4] / "shared" / "data"
MASK = (1 << 64) - 1


def synthetic(rows, columns):
    """Uniform inputs on very different scales, one of them constant and one the sum of two others."""
    state = 20240229

    def draw():
        nonlocal state
        state = (state * 6364136223846793005 + 1442695040888963407) & MASK
        return (state >> 11) / float(1 << 53)

    table, outcomes = [], []
    for _ in range(rows):
        x = [(draw() - 0.3) * 10.0 ** (k % 5 - 1) for k in range(columns)]
        x[2] = 7.0
        x[4] = x[0] + x[1]
        noise = draw() + draw() + draw() - 1.5
        outcomes.append(3.0 + 2.0 * x[0] - 0.5 * x[1] + 0.01 * x[3] + noise)
        table.append(x)
    return np.array(table), np.array(outcomes)


def read(name):
    if name == "aquatic":
        t = np.loadtxt(DATA / "qsar_aquatic_toxicity.csv", delimiter=";")
        return t[:, :8], t[:, 8]
    if name == "fish":
        t = np.loadtxt(DATA / "qsar_fish_toxicity.csv", delimiter=";")
        return t[:, :6], t[:, 6]
    if name in ("energy-1", "energy-2"):
        t = np.loadtxt(DATA / "ENB2012_data.csv", delimiter=",", skiprows=1)
        return t[:, :8], t[:, 8 if name == "energy-1" else 9]
    with gzip.open(DATA / "facebook_comment_volume_variant1_first10000.csv.gz") as file:
        t = np.loadtxt(io.BytesIO(file.read()), delimiter=",")
    return t[:, :53], t[:, 53]


def case(name, x, y, n, tol, max_iter):
    model = BayesianRidge(tol=tol, max_iter=max_iter).fit(x[:n], y[:n])
    last = len(x) - 1
    rows = sorted({0, n // 2, n - 1, min(n, last), min(2 * n, last), last})
    mean, std = model.predict(x[rows], return_std=True)
    return {
        "data": name,
        "columns": x.shape[1],
        "fitted": n,
        "tol": tol,
        "max_iter": max_iter,
        "iterations": int(model.n_iter_),
        "alpha": float(model.alpha_),
        "lambda": float(model.lambda_),
        "intercept": float(model.intercept_),
        "coefficients": model.coef_.tolist(),
        "rows": rows,
        "mean": mean.tolist(),
        "std": std.tolist(),
    }


def main():
    warnings.simplefilter("ignore")
    stops = [(1e-3, 300), (1e-12, 20000)]
    cases = []
    x, y = synthetic(120, 7)
    for n in (1, 2, 5, 7, 8, 40, 120):
        cases += [case("synthetic", x, y, n, *stop) for stop in stops]
    if DATA.is_dir():
        for name in ("aquatic", "fish", "energy-1", "energy-2"):
            x, y = read(name)
            for n in (3, x.shape[1], 50, len(x)):
                cases += [case(name, x, y, n, *stop) for stop in stops]
        x, y = read("facebook")
        for n in (10, 53, 500, 10000):
            cases += [case("facebook", x, y, n, *stop) for stop in stops]
    else:
        print(f"{DATA} is not there: the datasets' cases stay as they are", file=sys.stderr)
        kept = json.loads((HERE / "bayesian_ridge.json").read_text())["cases"]
        cases += [c for c in kept if c["data"] != "synthetic"]
    lines = ",\n".join(json.dumps(c) for c in cases)
    (HERE / "bayesian_ridge.json").write_text('{"cases": [\n' + lines + "\n]}\n")


main()
