"""The raw column of the UCI table by an independent implementation: scikit-learn's BayesianRidge in the same protocol.

Batches of 10 rows in file order (5 for aquatic toxicity). The first batch is forecast by a model fitted to it, or only trains. Before every
later one the model is fitted from scratch on all rows so far, and forecasts the batch. Prints the calibration score, CRPS and coverage of the
80 % interval as JSON; raw_column.json is what it printed, and the command's test compares its own raw column with it.

    python raw_column.py DATA [--first-batch fit|skip] [--stop fixed-point|tol] [--standardise] > raw_column.json

Needs numpy, scipy and scikit-learn; made with scikit-learn 1.9.1. Takes about a minute, nearly all of it for Facebook.
"""

import argparse
import gzip
import io
import json
import warnings
from pathlib import Path

import numpy as np
from scipy.stats import norm
from sklearn.linear_model import BayesianRidge

LEVELS = np.array([0.0, 0.2, 0.4, 0.5, 0.6, 0.8, 1.0])


def read(data, name):
    if name == "aquatic":
        t = np.loadtxt(data / "qsar_aquatic_toxicity.csv", delimiter=";")
        return t[:, :8], t[:, 8]
    if name == "fish":
        t = np.loadtxt(data / "qsar_fish_toxicity.csv", delimiter=";")
        return t[:, :6], t[:, 6]
    if name.startswith("energy"):
        t = np.loadtxt(data / "ENB2012_data.csv", delimiter=",", skiprows=1)
        return t[:, :8], t[:, 8 if name == "energy-y1" else 9]
    with gzip.open(data / "facebook_comment_volume_variant1_first10000.csv.gz") as file:
        t = np.loadtxt(io.BytesIO(file.read()), delimiter=",")
    return t[:, :53], t[:, 53]


def forecasts(x, y, batch, model, standardise, first="skip"):
    """Mean and standard deviation for every row, or for every row after the first batch."""
    means, stds = [], []
    for start in range(0 if first == "fit" else batch, len(y), batch):
        fitted = max(start, batch)
        seen, coming = x[:fitted], x[start : start + batch]
        if standardise:
            centre, spread = seen.mean(0), seen.std(0)
            spread[spread == 0] = 1
            seen, coming = (seen - centre) / spread, (coming - centre) / spread
        mean, std = model.fit(seen, y[:fitted]).predict(coming, return_std=True)
        means.append(mean)
        stds.append(std)
    return np.concatenate(means), np.concatenate(stds)


def judge(y, mean, std):
    z = (y - mean) / std
    pit = norm.cdf(z)
    shares = np.array([np.mean((pit > low) & (pit <= high)) for low, high in zip(LEVELS, LEVELS[1:])])
    shares[0] += np.mean(pit == 0)
    crps = std * (z * (2 * pit - 1) + 2 * norm.pdf(z) - 1 / np.sqrt(np.pi))
    return {
        "score": float(np.sum((np.diff(LEVELS) - shares) ** 2)),
        "crps": float(crps.mean()),
        "coverage80": float(np.mean((pit >= 0.1) & (pit <= 0.9))),
    }


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data", type=Path)
    parser.add_argument("--first-batch", choices=["fit", "skip"], default="fit")
    parser.add_argument("--stop", choices=["fixed-point", "tol"], default="fixed-point")
    parser.add_argument("--standardise", action="store_true")
    parser.add_argument("--datasets", nargs="*", default=["aquatic", "fish", "energy-y1", "energy-y2", "facebook"])
    given = parser.parse_args()
    warnings.filterwarnings("ignore")
    table = {}
    for name in given.datasets:
        x, y = read(given.data, name)
        batch = 5 if name == "aquatic" else 10
        # scikit-learn stops when the coefficients moved by less than tol in total; 1e-12 is its fixed point.
        model = BayesianRidge(tol=1e-12, max_iter=300) if given.stop == "fixed-point" else BayesianRidge()
        mean, std = forecasts(x, y, batch, model, given.standardise, given.first_batch)
        table[name] = {"raw": judge(y[-len(mean) :], mean, std)}
    print(json.dumps(table, indent=2))


if __name__ == "__main__":
    main()
