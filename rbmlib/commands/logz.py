"""``logz MODEL``: log Z of a model, with bounds and a verdict, as text or as JSON."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path

from numba.core import event

from .. import datasets
from ..automatic.log_z import BUDGET_SECONDS, log_z
from ..datasets.rbms import rbm_files
from ..files import checked_target
from ..models.names import LAYOUTS
from ..results import Estimate
from . import say

COMPILING = (
    "rbmlib: compiling its loops for this processor, once after an installation; this takes "
    "half a minute or so"
)


def add_to(commands) -> None:
    parser = commands.add_parser(
        "logz",
        allow_abbrev=False,  # a misspelt option is refused, not guessed
        help="estimate log Z of a model, with bounds",
        description="Estimate log Z (nats) of a Bernoulli RBM from below and from above. "
        "The same --steps, --chains and --seed give the same digits; with --budget they are "
        "printed. Exit code: 0 if every check passed, 1 if not, 2 for wrong input.",
    )
    parser.set_defaults(run=run)
    option = parser.add_argument
    option("model", metavar="MODEL", help="a registered name (see: data), .npz or .mat")
    option(
        "--layout",
        choices=LAYOUTS,
        help="rows and columns of the weights in a file of another program; default: as the "
        "lengths of the biases tell",
    )
    option(
        "--data",
        metavar="FILE",
        help="training data for the base: 'mnist', or rows in a .npy, .npz or .csv, of values in "
        "[0, 1] or with --threshold",
    )
    option(
        "--threshold", type=float, metavar="T", help="values of the data above it are 1, others 0"
    )
    option(
        "--budget",
        type=float,
        metavar="SECONDS",
        help=f"default: {BUDGET_SECONDS:g}, or less where short runs pass every check; "
        "compilation, once after an installation, is not counted",
    )
    option(
        "--steps", type=int, metavar="N", help="of each run, instead of a budget: fixes the result"
    )
    option("--chains", type=int, metavar="N", help="of each run, with --steps (default: 500)")
    option("--seed", type=int, default=0, help="default: 0")
    option("--threads", type=int, metavar="N", help="default: all")
    option("--estimate", action="store_true", help="estimate also where enumeration is possible")
    option("--json", action="store_true", help="print one JSON object")
    option("--save", metavar="FILE", help="save the whole estimate as JSON")


def run(options) -> int:
    if options.budget is not None and options.steps is not None:
        raise ValueError("--budget and --steps: expected one of them; --steps fixes the result")
    if options.chains is not None and options.steps is None:
        raise ValueError("--chains: expected together with --steps; a budget chooses its chains")
    rbm = datasets.load_rbm(options.model, layout=options.layout)
    if options.save:
        _check_target(options)
    with event.install_listener("numba:compile", Notice()):
        estimate = log_z(
            rbm,
            data=_training_data(options.data, options.threshold, rbm.n_visible),
            budget_seconds=options.budget,
            n_steps=options.steps,
            n_chains=options.chains,
            rng=options.seed,
            enumerate_small=not options.estimate,
            n_threads=options.threads,
        )
    if not math.isfinite(estimate.log_z):
        raise ValueError(
            f"{options.model}: log Z comes out as {estimate.log_z}: its parameters are too large"
        )
    if options.json:
        text = _as_json(options.model, estimate)
    else:
        text = _as_text(options.model, rbm, estimate)
    try:
        if options.save:
            estimate.save(options.save)
    finally:  # hours of work may be in it
        say(text)
    return 0 if estimate.converged else 1


class Notice(event.Listener):
    """Says once that loops are being compiled: nothing else is heard for half a minute."""

    said = False

    def on_start(self, event) -> None:
        if not self.said:
            self.said = True
            print(COMPILING, file=sys.stderr, flush=True)

    def on_end(self, event) -> None:
        """The end needs no word."""


def _check_target(options) -> None:
    """Raises ValueError: a new file may be written, and an earlier estimate replaced."""
    sources = [Path(x).expanduser() for x in (options.model, options.data) if x]
    target = checked_target(options.save, "--save", [*sources, *rbm_files(options.model)])
    if target.exists() and target.stat().st_size:
        try:
            Estimate.load(target)
        except ValueError:
            raise ValueError(
                f"--save is {str(target)!r}, a file that holds something else than an estimate: "
                "expected the name of a new file"
            ) from None


def _training_data(name: str | None, threshold: float | None, n_visible: int):
    if threshold is not None and name in (None, "mnist"):
        raise ValueError(f"--threshold is {threshold:g}: expected --data FILE with it")
    if name is None:
        return None
    if name == "mnist":
        return datasets.load_mnist().train
    try:
        return datasets.load_rows(name, n_visible, threshold=threshold)
    except (ValueError, FileNotFoundError) as error:
        advice = "" if threshold is not None else "; --threshold T makes bits of other values"
        raise ValueError(
            f"--data is {name!r}: {error}; expected 'mnist', or a .npy, .npz or .csv of "
            f"(n_samples, {n_visible}) values in [0, 1]{advice}"
        ) from None


def _as_json(model: str, estimate: Estimate) -> str:
    settings = estimate.settings
    content = {
        "model": model,
        "method": estimate.method,
        "log_z": estimate.log_z,
        "std_error": estimate.std_error,
        "interval": estimate.interval,
        "lower_bound": settings["lower_bound"],
        "upper_bound": settings["upper_bound"],
        "n_steps": settings.get("n_steps"),
        "chains": settings.get("n_chains"),
        "ess": estimate.ess,
        "n_chains": estimate.n_chains,
        "seconds": estimate.seconds,
        "converged": estimate.converged,
        "verdict": settings["verdict"],
        "settings": settings,
    }
    return json.dumps(_finite(content), allow_nan=False)


def _finite(value):
    """The same with None for what is not finite, which JSON does not know."""
    if isinstance(value, dict):
        return {name: _finite(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _as_text(model: str, rbm, estimate: Estimate) -> str:
    settings = estimate.settings
    lines = [f"model        {model} ({rbm.n_visible} visible, {rbm.n_hidden} hidden units)"]
    if estimate.method == "exact":
        lines += [
            f"log Z        {estimate.log_z:.6f}  exact, by enumeration",
            "bounds       both equal to it; --estimate runs AIS instead",
        ]
    else:
        (low, low_error), (high, high_error) = settings["lower_bound"], settings["upper_bound"]
        lines += [
            f"log Z        {estimate.log_z:.4f} ± {estimate.std_error:.4f}"
            f"  ({_interval(estimate)})",
            f"lower bound  {low:.4f} ± {low_error:.4f}  mean log-weight of AIS",
            f"upper bound  {high:.4f} ± {high_error:.4f}  mean log-weight of reverse AIS "
            "from resampled particles",
            f"ESS          {estimate.ess:.0f} of {estimate.n_chains} chains "
            "(effective sample size)",
            f"settings     {settings['n_steps']} steps, {settings['n_chains']} chains, "
            f"base: {settings['base']}, "
            f"seed {settings['rng']}; the same digits again: --steps {settings['n_steps']} "
            f"--chains {settings['n_chains']} "
            f"--seed {settings['rng']}",
        ]
        lines += [f"check        {'ok  ' if ok else 'FAIL'} {text}"
                  for text, ok in settings["checks"].items()]  # fmt: skip
    lines.append(f"verdict      {settings['verdict']}")
    return "\n".join([*lines, f"seconds      {estimate.seconds:.1f}"])


def _interval(estimate: Estimate) -> str:
    """The interval in words: after a failed check it is a bracket, or there is none."""
    low, high = estimate.interval
    if estimate.converged:
        return f"95%: {low:.4f} to {high:.4f}"
    if math.isfinite(high):
        return f"a check failed: log Z is from {low:.1f} to {high:.1f}"
    return f"no interval: a check shows that something was missed; log Z is above {low:.1f}"
