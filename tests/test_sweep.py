"""Sweeps: declarations, the store, tables, and what goes wrong before any work starts."""

import csv
import json
import sqlite3
import subprocess
import sys
import threading
from collections import namedtuple
from contextlib import closing
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import rbmlib as rl
from rbmlib import Sweep, _engine, sweep, tasks
from rbmlib.__main__ import main
from rbmlib.store import Record, ResultsStore, StoreError

TASKS = [{"n": n} for n in (3, 1, 2)]
SMALL = {"model": "pcd_20", "n_temperatures": 20, "n_chains": 10, "seed": 1}


def square(n):
    if n < 0:
        raise ArithmeticError("too small")
    return {"square": n * n, "root": n**0.5}


def read(path: Path) -> list[dict]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def run(declared, folder, function=square, **more):
    made = Sweep(declared, function, folder=folder, **more)
    return made, made.run(n_workers=0)


# results ------------------------------------------------------------------------------------


def test_table_is_sorted_and_provenance_goes_with_it(tmp_path):
    made, summary = run(TASKS, tmp_path)
    assert (summary.n_tasks, summary.n_before, summary.n_finished) == (3, 0, 3)
    text = made.to_csv().read_text()
    assert text == f"n,square,root\n1,1,1.0\n2,4,{2**0.5!r}\n3,9,{3**0.5!r}\n"
    provenance = read(tmp_path / "sweep.provenance.csv")
    assert [row["key"] for row in provenance] == [made._key({"n": n}) for n in (1, 2, 3)]
    assert all(float(row["seconds"]) < 1 and row["rbmlib"] for row in provenance)


def test_order_of_declaration_does_not_matter(tmp_path):
    first, _ = run(TASKS, tmp_path, name="first")
    second, _ = run(TASKS[::-1], tmp_path, name="second")
    assert first.to_csv().read_bytes() == second.to_csv().read_bytes()


def test_second_run_computes_only_what_is_new(tmp_path):
    run(TASKS, tmp_path)
    made, summary = run([*TASKS, {"n": 7}], tmp_path)
    assert (summary.n_before, summary.n_finished) == (3, 1)
    assert len(made.rows()) == 4
    _, other = run(TASKS, tmp_path, name="other", version="2")
    assert other.n_before == 0


def test_failed_task_is_recorded_and_tried_again(tmp_path):
    made, summary = run([{"n": -1}, {"n": 4}], tmp_path)
    assert list(summary.failed.values()) == ["ArithmeticError: too small"]
    assert read(made.to_csv()) == [
        {"n": "-1", "square": "", "root": "", "error": "ArithmeticError: too small"},
        {"n": "4", "square": "16", "root": "2.0", "error": ""},
    ]
    assert "in square" in made.records()[0].error  # the whole traceback is kept
    repaired = Sweep([{"n": -1}, {"n": 4}], lambda n: {"square": 1, "root": 1}, folder=tmp_path)
    repaired.version, repaired.tasks = made.version, made.tasks
    assert repaired.run(n_workers=0).n_finished == 1
    assert len(read(repaired.to_csv())) == 2


@pytest.mark.parametrize("result", [3, {}, {"x": [1]}, {"n": 1}, {"x": np.zeros(2)}])
def test_results_that_are_no_row_are_failures(tmp_path, result):
    _, summary = run([{"n": 1}], tmp_path, lambda n: result)
    assert len(summary.failed) == 1


def test_table_of_an_unfinished_sweep_is_refused(tmp_path):
    run(TASKS, tmp_path)
    with pytest.raises(ValueError, match="1 of 4 tasks have not been run"):
        Sweep([*TASKS, {"n": 9}], square, folder=tmp_path).to_csv()


def test_time_is_judged_by_runs_of_the_same_kind(tmp_path):
    made, _ = run([SMALL | {"seed": s} for s in range(3)], tmp_path, tasks.estimate)
    assert made.expected_seconds() == (0, 0.0)
    each = np.mean([r.provenance["seconds"] for r in made.records()])
    larger = Sweep([SMALL | {"n_chains": 20, "seed": s} for s in (4, 5)], folder=tmp_path)
    assert larger.expected_seconds() == (2, pytest.approx(4 * each))
    assert Sweep([SMALL | {"base": "own biases"}], folder=tmp_path).expected_seconds() == (1, None)
    made.to_csv()
    made.store.unlink()  # as in a fresh checkout: the table alone says how long
    assert made.expected_seconds() == (3, pytest.approx(3 * each, abs=0.01))


# the vocabulary -----------------------------------------------------------------------------


def test_a_task_is_the_call_it_names():
    row = tasks.estimate(**SMALL, test_set="mnist")
    rbm = rl.load_rbm("pcd_20")
    path = rl.GeometricPath(rbm, rl.base_rate(rl.datasets.load_mnist().train))
    with pytest.warns(rl.ConvergenceWarning):
        run = rl.ais(path, rl.schedules.linear(20), n_chains=10, rng=1)
    assert row["log_z"] == round(run.log_z, 6)
    assert row["ess"] == round(run.ess, 6)
    assert row["converged"] is False
    total = rl.log_likelihood(rbm, rl.datasets.load_mnist().test, run.log_z).sum()
    assert row["log_likelihood"] == pytest.approx(total, abs=1e-5)
    assert row["log_likelihood_error"] == pytest.approx(10_000 * run.std_error, abs=1e-5)


# Results of RESULTS_VERSION 1. If one of these changes, so did the meaning of every store:
# raise RESULTS_VERSION, and write the new values beside it.
HELD = {
    1: {
        ("linear", "ais"): 185.316775,
        ("sm08", "ais"): 145.830253,
        ("random", "ais"): 181.836169,
        ("linear", "reverse_ais"): 227.147618,
    }
}


@pytest.mark.parametrize(("schedule", "estimator"), HELD[tasks.RESULTS_VERSION])
def test_results_of_this_version_are_held(schedule, estimator):
    row = tasks.estimate(**SMALL | {"schedule": schedule, "estimator": estimator})
    expected = HELD[tasks.RESULTS_VERSION][schedule, estimator]
    assert row["mean_log_z"] == pytest.approx(expected, abs=2e-6)


def test_a_model_file_that_changes_is_read_again(tmp_path):
    """In one process: the key follows the file, and so does the result."""
    task = {"model": str(tmp_path / "m.npz"), "estimator": "exact"}
    found = []
    for seed in (1, 2):
        rbm = rl.testsystems.random_rbm(n_visible=6, n_hidden=3, rng=seed)
        rbm.save(task["model"])
        found.append((tasks.estimate(**task)["log_z"], rl.exact(rbm).log_z))
    assert [a for a, _ in found] == pytest.approx([b for _, b in found], abs=1e-6)
    assert found[0][0] != found[1][0]


def test_both_ways_in_one_task():
    """The forward columns are those of `ais`; from above of exact samples; intervals around."""
    task = SMALL | {"estimator": "two_way_ais", "n_reversed": 20}
    row, plain = tasks.estimate(**task), tasks.estimate(**SMALL)
    same = ("log_z", "std_error", "mean_log_z", "ess")
    assert {name: row[name] for name in same} == {name: plain[name] for name in same}
    assert row["ess_low"] < row["ess"] < row["ess_high"]
    assert row["variance_low"] < row["variance"] < row["variance_high"]
    assert row["largest_step"] == pytest.approx(1.0)
    exact = tasks.estimate(model=SMALL["model"], estimator="exact")["log_z"]
    assert row["mean_log_z"] < exact < row["reverse_mean"] + 4 * row["reverse_mean_error"]
    assert "reverse_mean" not in tasks.estimate(**task | {"n_reversed": 0})


@pytest.mark.parametrize(
    "schedule", ["varopt", "friction", "equal_rejection", "ess_bisection", "gms13"]
)
def test_schedules_from_pilots_are_tasks(schedule, monkeypatch):
    pilots = {"pilot_chains": 20} | (
        {"pilot_steps": 60} if schedule in ("varopt", "equal_rejection", "friction") else {}
    )
    monkeypatch.setattr(
        rl.schedules, "gms13", partial(rl.schedules.gms13, n_sweeps=20, n_burn_in=5)
    )
    settings = SMALL | pilots | {"schedule": schedule, "estimator": "two_way_ais"}
    row = tasks.estimate(**settings)
    assert row["largest_step"] > 1.001
    assert row == tasks.estimate(**settings)


def test_variances_are_foretold():
    pilot = {"estimator": "foretold", "pilot_steps": 200, "pilot_chains": 20}
    row = tasks.estimate(model="pcd_20", n_temperatures=20, seed=1, **pilot)
    assert 0 < row["perfect"] < row["measured"]


@pytest.mark.parametrize(
    ("grid", "message"),
    [
        ("{model: pcd_20, model: pcd_500, estimator: exact}", "model given twice"),
        ("{model: pcd_500, estimator: exact}", "too many units"),
        ("{model: pcd_20, estimator: exact, seed: []}", "seed is empty"),
        ("{model: pcd_20, estimator: ais, seed: {first: 0, count: -3}}", "seed is"),
        ("{model: pcd_20, estimator: ais, seed: {first: 0, count: 1000000000000}}", "seed is"),
    ],
)
def test_declarations_that_would_lose_tasks_are_refused(tmp_path, grid, message):
    (tmp_path / "s.yaml").write_text(f"grids:\n  - {grid}\n")
    with pytest.raises(ValueError, match=message):
        Sweep.from_yaml(tmp_path / "s.yaml")


def test_a_task_that_exits_is_recorded(tmp_path):
    _, summary = run([{"n": n} for n in range(3)], tmp_path, exits_at_one)
    assert summary.n_finished == 2
    assert list(summary.failed.values()) == ["SystemExit: 3"]


def exits_at_one(n):
    if n == 1:
        sys.exit(3)
    return {"square": n * n}


def test_committed_tables_are_those_of_their_sweeps():
    """Every row is a task of the declaration, none is missing, and the code is this one."""
    scales = Path(__file__).parents[1] / "book" / "scales"
    for source in sorted(scales.glob("*.yaml")):
        declared = Sweep.from_yaml(source, check_models=False)
        rows = read(declared.folder / f"{source.stem}.provenance.csv")
        assert sorted(row["key"] for row in rows) == sorted(declared.tasks), source.name
        assert {row["results_version"] for row in rows} == {str(tasks.RESULTS_VERSION)}


def test_a_new_schedule_is_one_function(monkeypatch):
    monkeypatch.setitem(tasks.SCHEDULES, "power", None)  # forgotten again afterwards

    @tasks.register(tasks.SCHEDULES, "power")
    def power(path, *, n_temperatures: int, power: float = 2.0):
        return np.linspace(0, 1, n_temperatures + 1) ** power

    whole = tasks.checked(SMALL | {"schedule": "power"})
    assert whole["power"] == 2.0
    straight = tasks.estimate(**SMALL | {"schedule": "power", "power": 1})
    assert straight["log_z"] == tasks.estimate(**SMALL)["log_z"]
    with pytest.raises(ValueError, match="did you mean power"):
        tasks.checked(SMALL | {"schedule": "power", "powr": 1.0})


def test_model_file_is_known_by_its_content(tmp_path):
    model = tmp_path / "m.npz"
    keys = []
    for seed in (0, 1):
        rl.testsystems.random_rbm(5, 3, rng=seed).save(model)
        made = Sweep([SMALL | {"model": str(model), "base": "mean field"}], folder=tmp_path)
        keys += made.tasks
    assert keys[0] != keys[1]


def test_sweeps_of_the_book_are_well_declared(repository, monkeypatch):
    monkeypatch.setattr(tasks, "check_models", lambda tasks: None)  # published ones may be absent
    found = sorted((repository / "book" / "scales").glob("*.yaml"))
    assert found
    for path in found:
        made = Sweep.from_yaml(path)
        assert made.tasks
        assert made.folder == (repository / "data" / "results").resolve()


# declarations that are wrong ----------------------------------------------------------------

GRID = "{model: pcd_20, n_temperatures: 20, seed: 0%s}"
WRONG = {
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
        Sweep.from_yaml(source)
    assert str(caught.value).startswith("wrong.yaml")
    assert main(["run", str(source)]) == 2
    assert capsys.readouterr().err.startswith("error: wrong.yaml")
    assert [path.name for path in tmp_path.iterdir()] == ["wrong.yaml"]


def test_wrong_tasks_are_refused_from_python(tmp_path):
    for wrong in (["n"], [{}], [{"n": [1]}], [{"n": 1}, {"n": 1}]):
        with pytest.raises(ValueError, match="task"):
            Sweep(wrong, square, folder=tmp_path)


# the store ----------------------------------------------------------------------------------


def record(key, **more):
    return Record(**({"key": key, "task": {"n": 1}, "result": {"x": 1.5}, "error": None,
                      "provenance": {}} | more))  # fmt: skip


def test_a_result_is_never_replaced_but_an_error_is(tmp_path):
    with ResultsStore(tmp_path / "s.sqlite", "v") as store:
        store.put([record("a"), record("b", result=None, error="bad")])
        store.put([record("a", result={"x": 2.5}), record("b")])
    with ResultsStore(tmp_path / "s.sqlite", "v") as store:
        assert store.records() == {"a": record("a"), "b": record("b")}


def test_values_come_back_exactly(tmp_path):
    values = {
        "a": 0.1 + 0.2,
        "b": 5e-324,
        "c": -(2**63),
        "d": True,
        "e": None,
        "f": "ß",
        "g": 1e300,
    }
    with ResultsStore(tmp_path / "s.sqlite", "v") as store:
        store.put([record("k", result=values)])
        assert store.records()["k"].result == values


def spoil(kind, path):
    if kind == "not a database":
        path.write_bytes(b"not a database at all" * 100)
        return
    if kind == "foreign":
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("CREATE TABLE songs (name TEXT)")
        return
    ResultsStore(path, "another version" if kind == "version" else f"{__name__}.square 1").close()
    if kind == "form":
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("PRAGMA user_version = 99")


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("version", "another version of the code"),
        ("form", "another rbmlib"),
        ("foreign", "no store of sweep results"),
        ("not a database", "damaged, or no SQLite"),
    ],
)
def test_other_stores_are_refused_and_left_alone(tmp_path, monkeypatch, kind, words):
    monkeypatch.setattr(sweep, "connected", None)  # no work may start
    store = tmp_path / "sweep.sqlite"
    spoil(kind, store)
    before = store.read_bytes()
    with pytest.raises(StoreError, match=words):
        Sweep(TASKS, square, folder=tmp_path).run()
    assert store.read_bytes() == before


def test_a_store_in_use_is_refused(tmp_path):
    with ResultsStore(tmp_path / "sweep.sqlite", f"{__name__}.square 1"):
        code = f"import rbmlib.store as s; s.ResultsStore({str(tmp_path / 'sweep.sqlite')!r}, 'v')"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "another process is using it" in done.stderr


# what else may be missing -------------------------------------------------------------------


def test_no_room_is_said_before_any_work(tmp_path, monkeypatch):
    usage = namedtuple("usage", "total used free")(10**9, 10**9, 1000)
    monkeypatch.setattr(sweep.shutil, "disk_usage", lambda path: usage)
    monkeypatch.setattr(sweep, "connected", None)
    with pytest.raises(StoreError, match="make room first"):
        Sweep(TASKS, square, folder=tmp_path).run()
    with pytest.raises(StoreError, match="no folder"):
        Sweep(TASKS, square, folder=tmp_path / "gone").run()
    assert not list(tmp_path.iterdir())


FULL = """
import resource, sys
from rbmlib.store import Record, ResultsStore, StoreError
store = ResultsStore(sys.argv[1], "v")
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
try:
    for i in range(1000):
        store.put([Record(str(i), {"n": i}, {"x": "y" * 1000}, None, {})])
        print(i, flush=True)
except StoreError as error:
    sys.exit(str(error))
"""


def test_disk_that_fills_on_the_way_loses_nothing_that_was_stored(tmp_path):
    target = str(tmp_path / "s.sqlite")
    done = subprocess.run([sys.executable, "-c", FULL, target], capture_output=True, text=True)
    assert "make room, and start again" in done.stderr
    n = len(done.stdout.split())
    assert n > 10
    with ResultsStore(target, "v") as store:
        assert set(store.records()) >= {str(i) for i in range(n)}
        store.put([record("more")])


def test_unreachable_scheduler_is_said(tmp_path, monkeypatch):
    monkeypatch.setattr(_engine, "CONNECT_SECONDS", 0.5)
    for address in ("tcp://127.0.0.1:9", "nowhere", "10.0.0.5"):
        with pytest.raises(RuntimeError, match="no Dask scheduler answers there"):
            Sweep(TASKS, square, folder=tmp_path).run(address)


def test_workers_with_other_code_are_refused(tmp_path, monkeypatch):
    def version():  # of the worker, which is another thread here
        return threading.current_thread() is threading.main_thread()

    monkeypatch.setattr(_engine, "worker_version", version)
    with pytest.raises(RuntimeError, match="install the same rbmlib everywhere"):
        Sweep(TASKS, square, folder=tmp_path).run(n_workers=0)


# the command line ---------------------------------------------------------------------------


def test_command_line(tmp_path, capsys):
    source = tmp_path / "mine.yaml"
    grid = {
        "model": "pcd_20",
        "n_temperatures": 20,
        "n_chains": 10,
        "seed": {"first": 0, "count": 3},
    }
    source.write_text(json.dumps({"grids": [grid]}))
    assert main(["run", str(source), "--dry-run"]) == 0
    assert capsys.readouterr().out.startswith("mine: 3 tasks, 3 to do")
    assert [path.name for path in tmp_path.iterdir()] == ["mine.yaml"]
    assert main(["run", str(source), "--workers", "0"]) == 0
    assert "3 finished" in capsys.readouterr().out
    assert len(read(tmp_path / "mine.csv")) == 3
    assert main(["run", str(source), "--workers", "0"]) == 0
    assert "0 finished" in (out := capsys.readouterr().out)
    assert "3 were there" in out
