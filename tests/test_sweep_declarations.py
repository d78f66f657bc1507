"""Declarations of sweeps: those of the book, and wrong ones."""

import pytest
from helpers_sweep import read, square

from rbmbook.__main__ import main
from rbmbook.experiments import book_sweep
from rbmbook.sweeps import Sweep, kind
from rbmbook.sweeps.task import MAY_BE_ZERO, checked, declared


def test_committed_tables_are_those_of_their_sweeps(repository):
    """Every row is a task of the declaration, none is missing, and the code is this one."""
    sources = sorted((repository / "book" / "scales").glob("*.yaml"))
    assert sources
    for source in sources:
        declared = book_sweep(source, check_models=False)
        assert declared.folder == (repository / "data" / "results").resolve()
        rows = read(declared.folder / f"{source.stem}.csv")
        assert sorted(row["key"] for row in rows) == sorted(declared.tasks), source.name
        assert {row["results_version"] for row in rows} == {str(kind.RESULTS_VERSION)}


GRID = "{model: pcd_20, n_temperatures: 20, seed: 0%s}"
WRONG = {
    "twice": ("{model: pcd_20, model: pcd_500, estimator: exact}", "model given twice"),
    "negative count": (GRID % ", n_chains: {first: 1, count: -3}", "n_chains is"),
    "endless count": (GRID % ", n_chains: {first: 1, count: 1000000000000}", "n_chains is"),
    "unknown setting": (GRID % ", n_chain: 5", "n_chain.*did you mean n_chains"),
    "unknown key": (None, "unknown.*'gird'"),
    "wrong type": (GRID % ", n_chains: ten", "n_chains is 'ten': expected a whole number"),
    "exponent": (GRID % ", n_chains: 1e2", "n_chains is '1e2'.*YAML"),
    "zero chains": (GRID % ", n_chains: 0", "n_chains is 0"),
    "bool": (GRID % ", n_chains: true", "n_chains is True"),
    "missing": ("{model: pcd_20, seed: 0}", "n_temperatures is missing"),
    "missing model": ("{n_temperatures: 20, seed: 0}", "model is missing"),
    "duplicate": (GRID % ", n_chains: [10, 20, 10]", "task 3 is the same as task 1"),
    "same by default": (GRID % ", n_chains: [10, 10.0]", "task 2 is the same as task 1"),
    "no such schedule": (
        GRID % ", schedule: cubic",
        "schedule is 'cubic': expected one of 'linear'",
    ),
    "no such estimator": (GRID % ", estimator: magic", "estimator is 'magic'"),
    "no such base": (GRID % ", base: flat", "base is 'flat'"),
    "no such model": ("{model: h21, n_temperatures: 20, seed: 0}", "h21"),
    "no such file": ("{model: gone.npz, n_temperatures: 20, seed: 0}", "gone.npz"),
    "another size of model": (
        "{model: gaussian_cifar10, n_temperatures: 20, seed: 0}",
        "it has 3072 visible units, and the base 'base rate' is that of MNIST",
    ),
    "no enumeration": (
        "{model: gaussian_cifar10, estimator: exact}",
        "too many units for the estimator 'exact': 500 in its smaller layer",
    ),
    "useless setting": ("{model: pcd_20, estimator: exact, n_chains: 5}", "unknown.*n_chains"),
    "bad range": (GRID % ", n_chains: {from: 1, to: 3}", "n_chains is.*first"),
    "a list in a list": (GRID % ", n_chains: [[1, 2]]", "n_chains is"),
    "no YAML": ("{model: [", "no YAML"),
    "not a mapping": ("pcd_20", "expected a list of mappings"),
    "empty": ("{model: [], n_temperatures: 20, seed: 0}", "model is empty"),
    "code": ("{model: !!python/object/apply:os.getcwd []}", "no YAML"),
}


@pytest.mark.parametrize(("grid", "words"), WRONG.values(), ids=WRONG)
def test_wrong_declarations_are_refused(tmp_path, capsys, grid, words):
    source = tmp_path / "wrong.yaml"
    source.write_text(f"grids:\n  - {grid}\n" if grid else "gird: []\n")
    with pytest.raises((ValueError, OSError), match=words) as caught:
        book_sweep(source)
    assert str(caught.value).startswith("wrong.yaml")
    assert main(["run", str(source)]) == 2
    assert capsys.readouterr().err.startswith("error: wrong.yaml")
    assert [path.name for path in tmp_path.iterdir()] == ["wrong.yaml"]


def test_wrong_tasks_are_refused_from_python(tmp_path):
    for wrong in (["n"], [{}], [{"n": [1]}], [{"n": 1}, {"n": 1}]):
        with pytest.raises(ValueError, match="task"):
            Sweep(wrong, square, folder=tmp_path)


@pytest.mark.parametrize("estimator", ["ais", "reverse_ais", "sams", "rounds", "both sides"])
def test_zero_is_a_number_where_it_is_the_default_or_means_something(estimator):
    """Elsewhere the least is 1."""
    known = declared({"estimator": estimator})
    whole = {"model": "pcd_10", "estimator": estimator} | {
        name: 3 for name, (of, default) in known.items() if of is int and default is None
    }
    for name, (of, default) in known.items():
        if of is not int:
            continue
        if default == 0 or name in MAY_BE_ZERO:
            assert checked(whole | {name: 0})[name] == 0
        else:
            with pytest.raises(ValueError, match=name):
                checked(whole | {name: 0})
