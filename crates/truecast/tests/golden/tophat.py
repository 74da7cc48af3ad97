"""Golden values of the tophat baseline: cumulative relative frequencies of PITs, recomputed from all of them.

Writes tophat.json beside itself. Needs numpy and scipy.
"""

import json
import pathlib

import numpy as np
from scipy.stats import norm

CHECKPOINTS = [1, 2, 10, 100, 1000]


def main():
    rng = np.random.default_rng(0)
    cases = []
    for cells in [4, 20, 33]:
        z = 0.5 * rng.standard_normal(1000) + 0.3
        levels = np.arange(1, cells) / cells
        announced = []
        for n in CHECKPOINTS:
            pits = norm.cdf(z[:n])
            frequency = (pits[:, None] <= levels).mean(axis=0)
            announced.append(((n * frequency + levels) / (n + 1)).tolist())
        cases.append({"cells": cells, "scores": z.tolist(), "announced": announced})
    out = {"numpy": np.__version__, "seed": 0, "checkpoints": CHECKPOINTS, "cases": cases}
    pathlib.Path(__file__).with_suffix(".json").write_text(json.dumps(out, indent=1) + "\n")


if __name__ == "__main__":
    main()
