"""The front pages: their numbers come from stored results, their sentences hold, and the code of
every way through the questions of `which` runs."""

import re

import chooser
import front
import numpy as np
import pytest
from helpers_book import BOOK, REPOSITORY

import rbmlib as rl
from rbmbook.claims import by_name
from rbmlib.__main__ import main

PAGES = ["intro", "which"]


@pytest.fixture(scope="module")
def facts():
    return front.facts()


def test_every_number_is_known_and_used(facts):
    texts = "".join((BOOK / f"{page}.md").read_text(encoding="utf-8") for page in PAGES)
    assert set(front.MARK.findall(texts)) == set(facts)
    assert "@@" not in front.filled(texts)
    with pytest.raises(KeyError, match="no_such"):
        front.filled("@@no_such@@")


def blocks(page: str, kind: str) -> list[str]:
    """What stands in the fences of one kind, with its numbers in place."""
    text = front.filled((BOOK / f"{page}.md").read_text(encoding="utf-8"))
    return re.findall(rf"(?s)```{kind}\n(.*?)```", text)


def test_the_answers_on_the_front_page_are_those_of_its_lines(capsys):
    (lines, _), (command,) = blocks("intro", "python"), blocks("intro", "console")
    in_python, on_command_line = blocks("intro", "text")
    exec(lines, {})
    assert capsys.readouterr().out == in_python
    readme = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    assert f"```python\n{lines}```\n\n```text\n{in_python}```" in readme
    assert main(command.split()[3:]) == 0
    assert capsys.readouterr().out.startswith(on_command_line)


def test_what_pages_say_of_adding_up_is_what_was_measured():
    seconds = front.stored("speed_exact").set_index("units in the smaller layer").iloc[:, -1]
    words = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
    lesson = (BOOK / "learn/01_start.ipynb").read_text(encoding="utf-8")
    exercises = (BOOK / "exercises/start.md").read_text(encoding="utf-8")
    said = r"a (\w+) of a second with 20 hidden units and (\w+) minutes with 30"
    share, minutes = re.search(said, lesson).groups()
    assert minutes == words[round(2**4 * seconds[26] / 60)]
    part, days = re.search(r"A (\w+) of a second becomes (\w+) days", exercises).groups()
    assert share == part == {2: "half", 3: "third", 4: "quarter"}[round(1 / seconds[20])]
    assert days == words[round(2**20 * seconds[20] / 86_400)]


def test_chains_that_missed_a_mode_agree_with_one_another(facts):
    missed, chains = int(facts["h20_missed"]), int(facts["h20_chains"])
    assert 0.4 < missed / chains < 0.6
    assert float(facts["h20_spread"]) < 0.1 * float(facts["h20_gap"])
    assert facts["h20_good"] == "100%"
    first_lesson = (BOOK / "learn/01_start.ipynb").read_text(encoding="utf-8")
    assert f"the {missed} agreeing chains" in first_lesson


def test_tempering_wins_on_two_models_and_not_on_the_third():
    errors = {m: {name: front.rmse_of(name, m) for name in front.SAMPLERS} for m in front.MODELS}
    for model in ("pcd_10", "pcd_200"):
        assert min(errors[model], key=errors[model].get) == "RTS"
        assert errors[model]["AIS"] > 2 * errors[model]["RTS"]
    assert min(errors["cd25_500"], key=errors["cd25_500"].get) != "RTS"


def test_at_equal_time_tempering_is_cheaper_on_one_model_and_the_others_are_not_decided():
    intervals = {model: front.cost_of_rts(model)[1:] for model in front.MODELS}
    assert intervals["pcd_10"][1] < 1
    for model in ("pcd_200", "cd25_500"):
        assert intervals[model][0] < 1 < intervals[model][1]


def test_the_cost_is_time_times_squared_error():
    runs = {method: front.runs_of(method, "pcd_10") for method in ("RTS", "AIS")}
    assert {len(r) for r in runs.values()} == {20}
    cost = {m: r["seconds"].median() * (r["off"] ** 2).mean() for m, r in runs.items()}
    assert front.cost_of_rts("pcd_10")[0] == pytest.approx(cost["RTS"] / cost["AIS"])


def test_forward_and_reverse_meet_with_many_steps_only():
    for steps, meet in ((100_000, True), (10_000, False)):
        low, high = front.bracket("h500", steps)
        error = (low["std_error"] ** 2 + high["std_error"] ** 2) ** 0.5
        assert (abs(low["log_z"] - high["log_z"]) < 3 * error) == meet


# ---------------------------------------------------------------- which estimator

LIST = chooser.chooser()
ENDS, QUESTIONS = LIST["ends"], LIST["questions"]


def ways(name: str = LIST["first"], taken: tuple = ()) -> list[tuple]:
    """From a question: the answers of each way to an end, and the name of the end."""
    if name in ENDS:
        return [(*taken, name)]
    answers = QUESTIONS[name]["answers"]
    return [way for i, a in enumerate(answers) for way in ways(a["to"], (*taken, (name, i)))]


def test_every_end_is_reached_and_leads_to_a_lesson():
    assert {way[-1] for way in ways()} == set(ENDS)
    assert {end["lesson"] for end in ENDS.values()} <= set(by_name(BOOK))


def test_what_an_end_advises_is_what_its_code_calls():
    for name, end in ENDS.items():
        advised = re.findall(r"`(rl\.[\w.]+)`", end["use"])
        missing = [call for call in advised if f"{call}(" not in end["code"]]
        assert missing in ([], ["rl.mbar"]), name  # the other one of two that fit


@pytest.fixture(scope="module")
def plain():
    rng = np.random.default_rng(0)
    shapes = {"W": (6, 3), "b": (6,), "a": (3,)}
    return {name: rng.normal(scale=0.5, size=shape) for name, shape in shapes.items()}


FOR_BITS = {"tap"}  # as its end says; and real units have no broader base than the default


@pytest.mark.filterwarnings("ignore::rbmlib.ConvergenceWarning")
@pytest.mark.parametrize("way", ways(), ids=lambda way: "-".join(f"{i}" for _, i in way[:-1]))
def test_code_of_every_way_runs(way, plain, capsys):
    kind = QUESTIONS[LIST["first"]]["answers"][way[0][1]].get("code", "")
    names = {"rl": rl, **plain, "rbm": rl.BernoulliRBM(plain["W"], plain["b"], plain["a"])}
    exec(kind, names)
    if kind and way[-1] in FOR_BITS:
        return
    names["data"] = rl.sample(names["rbm"], 200, rng=1).states
    names["path"] = rl.GeometricPath(names["rbm"])
    answers = [QUESTIONS[name]["answers"][i] for name, i in way[:-1]]
    code = "".join(answer.get("code", "") for answer in answers) + ENDS[way[-1]]["code"]
    code = code.replace("0_000", "_000")  # a tenth of the steps
    if "Gaussian" in kind and way[-1] == "mean_field":
        code = code[: code.index("broad")] + "print(estimate)"
    exec(code, names)
    assert re.search(r"\d\.\d", capsys.readouterr().out), "it shows a number"
