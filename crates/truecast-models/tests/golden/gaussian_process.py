"""Golden values of Gaussian process regression, by scikit-learn's GaussianProcessRegressor and by leaving rows out in earnest.

    python gaussian_process.py

Writes gaussian_process.json beside itself. The constant mean is found with numpy and taken off the outcomes that scikit-learn sees.
Made with scikit-learn 1.9.1, numpy 2.4.6.
"""

import json
from pathlib import Path

import numpy as np
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Matern, WhiteKernel

HERE = Path(__file__).parent


def regressor(name, variance, lengths, noise):
    lengths = lengths[0] if len(lengths) == 1 else lengths
    shape = RBF(lengths) if name == "squared-exponential" else Matern(lengths, nu=2.5)
    # The order of theta: variance, lengths, noise.
    return GaussianProcessRegressor(ConstantKernel(variance) * shape + WhiteKernel(noise), alpha=0.0, optimizer=None)


def case(name, x, y, mean, variance, lengths, noise, points):
    model = regressor(name, variance, lengths, noise)
    covariance = model.kernel(x)
    if mean is None:
        solved = np.linalg.solve(covariance, np.column_stack([np.ones(len(y)), y]))
        m = solved[:, 1].sum() / solved[:, 0].sum()
    else:
        m = mean
    model.fit(x, y - m)
    evidence, gradient = model.log_marginal_likelihood(model.kernel_.theta, eval_gradient=True)
    predicted, std = model.predict(points, return_std=True)
    without = []
    for i in range(len(y)):
        keep = np.arange(len(y)) != i
        left = regressor(name, variance, lengths, noise).fit(x[keep], y[keep] - m)
        centre, spread = left.predict(x[i : i + 1], return_std=True)
        without.append([float(centre[0] + m), float(spread[0])])
    return {
        "kernel": name,
        "fixed_mean": mean,
        "mean": float(m),
        "signal_variance": variance,
        "length_scales": lengths,
        "noise_variance": noise,
        "inputs": x.tolist(),
        "outcomes": y.tolist(),
        "log_evidence": float(evidence),
        "gradient": gradient.tolist(),
        "points": points.tolist(),
        "means": (predicted + m).tolist(),
        "stds": std.tolist(),
        "leave_one_out": without,
    }


def main():
    rng = np.random.default_rng(11)
    cases = []
    for name in ("squared-exponential", "matern52"):
        for n, d, mean, lengths in [(2, 1, 0.5, [0.7]), (12, 1, None, [0.4]), (15, 3, None, [0.5, 2.0, 1.0]), (20, 3, 0.0, [1.3])]:
            x = rng.uniform(-1.0, 1.0, (n, d))
            y = 2.0 + np.sin(3.0 * x[:, 0]) + x.sum(axis=1) ** 2 + 0.1 * rng.standard_normal(n)
            points = rng.uniform(-1.5, 1.5, (4, d))
            cases.append(case(name, x, y, mean, 1.7, lengths, 0.02, points))
    (HERE / "gaussian_process.json").write_text('{"cases": [\n' + ",\n".join(json.dumps(c) for c in cases) + "\n]}\n")


main()
