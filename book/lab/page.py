"""Functions of the notebooks: one call per step, from data to a table or figure."""

from collections.abc import Callable, Mapping

import numpy as np
import pandas as pd

import rbmlib as rl
from rbmlib import datasets

from . import live, plots, tables
from .measured import Measured
from .stored import stored_results
from .tables import number as number
from .verdicts import Verdict, verdict_cell

FEWEST_SEQUENCES = 40  # distinct sequences


def begin(names: dict, **least: int) -> live.LiveModel | None:
    """Check the parameters of a page in ``globals()``, set its style, and load any model."""
    live.checked_parameters(names, **least)
    plots.use_style()
    if "model" not in names:
        return None
    threshold = names.get("threshold", live.NO_THRESHOLD)
    model = live.live_model(names["model"], names.get("data", ""), threshold)
    print(model.sentence())
    return model


def begin_families(names: dict, **least: int) -> None:
    """`begin` for the lesson on proteins, with ``model``, ``data`` and ``alphabet``."""
    live.checked_parameters(names, **least)
    plots.use_style()
    model, data, alphabet = (names[name] for name in ("model", "data", "alphabet"))
    with live.refused_parameter("data", data):
        ww = datasets.load_ww()
        if not data and alphabet != ww.alphabet:
            raise ValueError("the WW domain has an alphabet of its own: give data with yours")
        letters = (datasets.load_fasta(data, alphabet) if data else ww).letters
        if (n := len(np.unique(letters, axis=0))) < FEWEST_SEQUENCES:
            raise ValueError(f"it has {n} different sequences: expected {FEWEST_SEQUENCES} or more")
    if not model:
        return
    n_sites, q = letters.shape[1], len(alphabet)
    with live.refused_parameter("model", model):
        rbm = rl.load_rbm(model)
        fits = isinstance(rbm.visible, rl.Potts) and rbm.visible.q == q
        if not fits or rbm.n_visible != n_sites * q:
            raise ValueError(
                f"{rbm!r}: expected, as the data have, Potts of {n_sites} sites with {q} "
                "letters each"
            )


def stored(names: str, scheduler: str = "") -> list[pd.DataFrame]:
    """Tables of sweeps, given by names separated by blanks; each prints a line on its origin."""
    return [stored_results(name, scheduler) for name in names.split()]


def published(file: str, **where) -> pd.DataFrame:
    """Rows of ``data/published/<file>.csv`` that match ``where``; by default, all rows."""
    return pick(pd.read_csv(datasets.committed(f"published/{file}.csv")), **where)


def pick(frame: pd.DataFrame, **where) -> pd.DataFrame:
    """Rows whose columns have these values, or one of a list; it is an error if there are none.

    Examples
    --------
    >>> runs = pd.DataFrame({"model": ["h10", "h10", "h20"], "seed": [0, 1, 0]})
    >>> len(pick(runs, model="h10")), len(pick(runs, model=["h10", "h20"], seed=0))
    (2, 2)
    """
    keep = np.ones(len(frame), bool)
    for column, value in where.items():
        if column not in frame:
            raise ValueError(f"no column {column}: expected one of {', '.join(map(str, frame))}")
        keep &= frame[column].isin(value if isinstance(value, (list, tuple)) else [value])
    if not keep.any():
        raise ValueError(f"no row has {where}: expected one or more")
    return frame[keep]


def one(frame: pd.DataFrame, **where) -> pd.Series:
    """The only row that matches ``where``; it is an error if there is none or more than one."""
    found = pick(frame, **where)
    if len(found) != 1:
        raise ValueError(f"{len(found)} rows have {where}: expected one")
    return found.iloc[0]


def each(what, row: Callable[..., Mapping], by: str = "") -> pd.DataFrame:
    """A table of what ``row`` returns for each line of a table, item, or pair of a mapping.

    With columns ``by``, separated by blanks: ``row(key, ..., group)``, models in order of size.

    Examples
    --------
    >>> runs = pd.DataFrame({"model": ["h20", "h10", "h10"], "log_z": [3.0, 1.0, 2.0]})
    >>> made = each(runs, lambda model, g: {"model": model, "mean": g.log_z.mean()}, by="model")
    >>> made["model"].tolist(), made["mean"].tolist()
    (['h10', 'h20'], [1.5, 3.0])
    """
    if by:
        made = pd.DataFrame([row(*key, group) for key, group in what.groupby(by.split())])
        return made.sort_values("model", key=_sizes, kind="stable") if "model" in made else made
    if isinstance(what, Mapping):
        return pd.DataFrame([row(name, item) for name, item in what.items()])
    items = (line for _, line in what.iterrows()) if isinstance(what, pd.DataFrame) else what
    return pd.DataFrame([row(item) for item in items])


def _sizes(models: pd.Series) -> pd.Series:
    """The number at the end of a name such as ``pcd_20`` or h20; names without one come last."""
    return models.astype(str).str.extract(r"(\d+)\D*$")[0].astype(float)


def table(frame: pd.DataFrame, caption: str, decimals: int = 3, **digits):
    """A styled table: `Verdict` as symbol and word, `Measured` with its error, gaps as a dash.

    ``decimals`` is for all columns of floats. ``digits`` has the decimals of one column, or a
    function from a value to text.
    """
    cells = frame.map(_cell)
    if unknown := set(digits) - set(cells):
        raise ValueError(f"no column {', '.join(sorted(unknown))}: there are {', '.join(cells)}")
    floats = cells.columns[[pd.api.types.is_float_dtype(kind) for kind in cells.dtypes]]
    wanted = dict.fromkeys(floats, decimals) | digits
    formats = {c: x if callable(x) else f"{{:,.{x}f}}" for c, x in wanted.items()}
    identifier = "".join(c if c.isalnum() else "-" for c in caption.lower())[:40]
    styled = cells.style.set_uuid(identifier).hide(axis="index")
    return styled.format(formats, na_rep="–").set_caption(caption)


def _cell(x):
    return verdict_cell(x) if isinstance(x, Verdict) else pm(x) if isinstance(x, Measured) else x


def pm(found, error: float | None = None) -> str:
    """A value with its error, as text, from two numbers or a `Measured`.

    Examples
    --------
    >>> pm(460.38149, 0.018234), pm(Measured(2.0, 0.1, 9, 10))
    ('460.3815 ± 0.0182', '2.000 ± 0.100')
    """
    if not isinstance(found, Measured):
        return tables.with_error(found, error)
    if found.scale == "log":
        raise ValueError("a ratio is on the scale 'log': show its Verdict, or its interval")
    return tables.with_error(found.value, found.std_error)


def checks(sentences: Mapping[str, object]) -> None:
    """Raise an error if the numbers of a page contradict its text, and print what was checked.

    Each sentence has a truth value, or an array that must all hold. An empty array is refused.
    """
    empty = [s for s, holds in sentences.items() if np.size(holds) == 0]
    if empty:
        raise ValueError(f"nothing is checked: {'; '.join(empty)}")
    false = [s for s, holds in sentences.items() if not np.all(holds)]
    if false:
        raise AssertionError("; ".join(false))
    print("checked:", "; ".join(sentences))
