"""Which estimator: the questions lead somewhere, their code runs, and two pages say the same."""

import json
import re
import sys

import pytest
from bs4 import BeautifulSoup
from helpers_book import BOOK, source

import rbmlib as rl

sys.path.insert(0, str(BOOK / "_ext"))

import chooser

LIST = chooser.chooser()
ENDS, QUESTIONS = LIST["ends"], LIST["questions"]
CALLED = {name for end in ENDS.values() for name in re.findall(r"\brl\.(\w+)", end["code"])}


def led_to() -> list[str]:
    """Where answers lead, from the first question on."""
    found, ahead = [LIST["first"]], [LIST["first"]]
    while ahead:
        to = [a["to"] for a in QUESTIONS[ahead.pop()]["answers"]]
        found += to
        ahead += [name for name in to if name in QUESTIONS]
    return found


def test_questions_reach_every_end_and_no_answer_leads_nowhere():
    assert not set(QUESTIONS) & set(ENDS)
    assert set(led_to()) == {*QUESTIONS, *ENDS}


@pytest.mark.parametrize("name", ENDS)
def test_an_end_is_complete_and_its_code_is_short(name):
    end = ENDS[name]
    assert {"use", "why", "lesson", "code"} <= set(end) <= {"use", "why", "lesson", "code", "place"}
    assert len(end["code"].splitlines()) <= 5
    assert max(map(len, end["code"].splitlines())) <= 72, "it would be broken beside its answer"
    assert (BOOK / f"{end['lesson']}.ipynb").exists()
    named = set(re.findall(r"`rl\.([\w.]+)`", end["use"]))
    assert {name.split(".")[0] for name in named} <= set(dir(rl))


def test_what_an_end_advises_is_what_its_code_calls():
    for name, end in ENDS.items():
        advised = re.findall(r"`(rl\.[\w.]+)`", end["use"])
        missing = [call for call in advised if f"{call}(" not in end["code"]]
        assert missing in ([], ["rl.mbar"]), name  # the other one of two that fit


@pytest.fixture(scope="module")
def prepared():
    rbm = rl.testsystems.random_rbm(6, 3, rng=0)
    data = rl.sample(rbm, 200, rng=1).states
    plain = {"W": rbm.weights, "b": rbm.visible_bias, "a": rbm.hidden_bias}
    path = rl.GeometricPath(rbm, base=rl.base_rate(data))
    return {"rbm": rbm, "data": data, "path": path, **plain}


@pytest.mark.filterwarnings("ignore::rbmlib.ConvergenceWarning")
@pytest.mark.parametrize("name", ENDS)
def test_code_runs(name, prepared, capsys):
    code = ENDS[name]["code"].replace("0_000", "_000")  # a tenth of the steps
    exec(code, {"rl": rl, **prepared})
    assert re.search(r"\d\.\d", capsys.readouterr().out), "it shows a number"


# ---------------------------------------------------------------- pages


def texts() -> list[str]:
    answers = [answer["says"] for q in QUESTIONS.values() for answer in q["answers"]]
    ends = [end[part] for end in ENDS.values() for part in ("use", "why")]
    return [q["asks"] for q in QUESTIONS.values()] + answers + ends


def seen(text: str) -> str:
    return " ".join(text.replace("`", "").split())


def test_the_page_holds_every_text_once_and_every_line_of_code():
    page = BeautifulSoup(chooser.page(), "html.parser")
    parts = page.select(".ch-asks th, th[scope=row], .ch-use, .ch-why")
    for number in page.select(".ch-asks span"):
        number.extract()
    for link in page.select(".ch-why a"):
        link.extract()
    assert sorted(seen(part.get_text()) for part in parts) == sorted(map(seen, texts()))
    assert [block.get_text().strip() for block in page.select("pre")] == [
        ENDS[name]["code"].strip() for q in QUESTIONS.values()
        for name in (a["to"] for a in q["answers"]) if name in ENDS
    ]  # fmt: skip


def test_both_pages_are_filled_from_the_list():
    which = (BOOK / "which.md").read_text(encoding="utf-8")
    assert which.count(chooser.WHOLE) == 1
    assert chooser.WHOLE not in chooser.filled(which)
    compare = (BOOK / "compare.ipynb").read_text(encoding="utf-8")
    made = "\n".join(map(source, json.loads(chooser.filled(compare, is_notebook=True))["cells"]))
    assert chooser.BRIEF not in made
    for name in chooser.BRIEFLY:
        assert made.count(f"* {QUESTIONS[name]['asks']}\n") == 1


METHODS = {"AIS": "ais", "BAR": "bar", "RTS": "rts", "TAP": "tap", "SMC": "smc", "SAMS": "sams",
           "NRPT": "nrpt", "MBAR": "mbar"}  # fmt: skip


def test_the_race_advises_only_what_is_in_the_list():
    cells = [source(c) for c in json.loads((BOOK / "compare.ipynb").read_text())["cells"]]
    (summary,) = [text for text in cells if "## Summary" in text]
    text = summary.partition("## Summary")[2].partition("## Exercises")[0]
    named = set(re.findall(r"`rl\.(\w+)`", text))
    named |= {METHODS[word] for word in re.findall(r"\b[A-Z]{3,4}\b", text) if word in METHODS}
    assert {"ais", "bar", "log_z"} <= named <= CALLED
    assert "{doc}`which`" in "".join(cells)
