"""Truecast's plain GP-LCB beside other optimisers, from the same initial points and with the same number of trials.

    python bench/bo/peers.py run NAME [--seeds N] [--benchmarks a,b] [--binary PATH] [--output FILE]
    python bench/bo/peers.py table FILE...

NAME is truecast, scikit-optimize or gpyopt; each runs where its packages are (README.md). Truecast's runs come first: the others
begin with the initial points that they leave in --output. One thread each; times are processor seconds of the whole run, benchmark
function and the start of the program included, which a busy machine changes less than the time on the clock.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS"):
    os.environ[name] = "1"
warnings.filterwarnings("ignore")

import numpy as np  # noqa: E402  (the threads are counted at import)

INITIAL = 3
KAPPA = 2.0


def ackley(x):
    x = np.asarray(x)
    return float(-20 * np.exp(-0.2 * np.sqrt(np.mean(x**2))) - np.exp(np.mean(np.cos(2 * np.pi * x))) + 20 + np.e)


def alpine(x):
    x = np.asarray(x)
    return float(np.sum(np.abs(x * np.sin(x) + 0.1 * x)))


def camel(x):
    a, b = x
    return float((4 - 2.1 * a**2 + a**4 / 3) * a**2 + a * b + (4 * b**2 - 4) * b**2)


def beale(x):
    a, b = x
    return float((1.5 - a + a * b) ** 2 + (2.25 - a + a * b**2) ** 2 + (2.625 - a + a * b**3) ** 2)


def mccormick(x):
    a, b = x
    return float(np.sin(a + b) + (a - b) ** 2 - 1.5 * a + 2.5 * b + 1)


# name: (function, bounds, steps after the initial points)
BENCHMARKS = {
    "ackley-2": (ackley, [(-32.768, 32.768)] * 2, 30),
    "six-hump-camel": (camel, [(-2.0, 2.0), (-1.0, 1.0)], 30),
    "six-hump-camel-wide": (camel, [(-3.0, 3.0), (-2.0, 2.0)], 30),
    "beale": (beale, [(-4.5, 4.5)] * 2, 30),
    "mccormick": (mccormick, [(-1.5, 4.0), (-3.0, 4.0)], 30),
    "ackley-10": (ackley, [(-32.768, 32.768)] * 10, 50),
    "alpine-10": (alpine, [(-10.0, 10.0)] * 10, 50),
}


def children_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def truecast(benchmark, seed, binary):
    """Best value, seconds, initial points; checks that both sides mean the same function."""
    function, _, steps = BENCHMARKS[benchmark]
    with tempfile.TemporaryDirectory() as folder:
        study = Path(folder) / "study.json"
        command = [binary, "optimize", "--benchmark", benchmark, "--trials", str(INITIAL + steps), "--initial",
                   str(INITIAL), "--kappa", str(KAPPA), "--seed", str(seed), "--quiet"]
        start = children_seconds()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        seconds = children_seconds() - start
        subprocess.run([*command, "--resume", study], check=True, stdout=subprocess.DEVNULL)
        steps = json.loads(study.read_text())["study"]["steps"]
    values = [step["evaluation"]["outcome"] for step in steps]
    for step, value in zip(steps, values):
        assert abs(function(step["point"]) - value) <= 1e-9 * (1 + abs(value)), (benchmark, step)
    return min(values), seconds, [step["point"] for step in steps[:INITIAL]]


def scikit_optimize(benchmark, seed, initial):
    from skopt import gp_minimize

    function, bounds, steps = BENCHMARKS[benchmark]
    start = time.process_time()
    found = gp_minimize(function, bounds, n_calls=steps + INITIAL, n_initial_points=0, x0=initial, acq_func="LCB",
                        kappa=KAPPA, random_state=seed, n_jobs=1)
    return float(found.fun), time.process_time() - start, initial


def gpyopt(benchmark, seed, initial):
    from GPyOpt.methods import BayesianOptimization

    function, bounds, steps = BENCHMARKS[benchmark]
    domain = [{"name": f"x{k}", "type": "continuous", "domain": bound} for k, bound in enumerate(bounds)]
    np.random.seed(seed)
    many = lambda rows: np.array([[function(row)] for row in np.atleast_2d(rows)])  # noqa: E731
    start = time.process_time()
    points = np.array(initial)
    loop = BayesianOptimization(f=many, domain=domain, X=points, Y=many(points), acquisition_type="LCB",
                                acquisition_weight=KAPPA)
    loop.run_optimization(max_iter=steps, eps=-1.0)
    return float(np.min(loop.Y)), time.process_time() - start, initial


def run(arguments):
    output = Path(arguments.output)
    results = json.loads(output.read_text()) if output.exists() else {}
    for benchmark in arguments.benchmarks.split(","):
        for seed in range(arguments.seeds):
            cell = results.setdefault(benchmark, {}).setdefault(str(seed), {})
            if arguments.name in cell:
                continue
            if arguments.name == "truecast":
                best, seconds, initial = truecast(benchmark, seed, arguments.binary)
                cell["initial"] = initial
            else:
                contestant = {"scikit-optimize": scikit_optimize, "gpyopt": gpyopt}[arguments.name]
                best, seconds, _ = contestant(benchmark, seed, cell["initial"])
            cell[arguments.name] = {"best": best, "seconds": seconds}
            # Another contestant may write to a file of its own meanwhile; this one is whole after every run.
            partial = output.with_suffix(".partial")
            partial.write_text(json.dumps(results, indent=1))
            partial.replace(output)
            print(arguments.name, benchmark, seed, f"{best:.5g}", f"{seconds:.2f} s", file=sys.stderr, flush=True)


def table(arguments):
    """One table for each other contestant, over the seeds that both have."""
    merged = {}
    for file in arguments.files:
        for benchmark, seeds in json.loads(Path(file).read_text()).items():
            for seed, cell in seeds.items():
                merged.setdefault(benchmark, {}).setdefault(seed, {}).update(cell)
    for name in ("scikit-optimize", "gpyopt"):
        print(f"| benchmark | seeds | truecast: median | {name}: median | truecast better | worse | truecast: s | {name}: s |")
        print("|---|" + "---:|" * 7)
        for benchmark, seeds in merged.items():
            cells = [cell for cell in seeds.values() if name in cell and "truecast" in cell]
            if not cells:
                continue
            ours, theirs = (np.array([cell[who]["best"] for cell in cells]) for who in ("truecast", name))
            spent = [np.median([cell[who]["seconds"] for cell in cells]) for who in ("truecast", name)]
            # Ends that differ by less than this share of the function's own scale are the same for any use.
            same = 1e-3 * max(1.0, float(np.median(np.abs(theirs))))
            better, worse = int(np.sum(ours < theirs - same)), int(np.sum(ours > theirs + same))
            print(f"| {benchmark} | {len(cells)} | {np.median(ours):.4f} | {np.median(theirs):.4f} | {better} | {worse} "
                  f"| {spent[0]:.2f} | {spent[1]:.1f} |")
        print()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    one = commands.add_parser("run")
    one.add_argument("name", choices=["truecast", "scikit-optimize", "gpyopt"])
    one.add_argument("--seeds", type=int, default=10)
    one.add_argument("--benchmarks", default=",".join(BENCHMARKS))
    one.add_argument("--binary", default="target/release/truecast")
    one.add_argument("--output", default="peers.json")
    one.set_defaults(call=run)
    all_ = commands.add_parser("table")
    all_.add_argument("files", nargs="+")
    all_.set_defaults(call=table)
    arguments = parser.parse_args()
    arguments.call(arguments)


if __name__ == "__main__":
    main()
