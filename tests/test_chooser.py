"""Which estimator: the questions lead somewhere, and the code of every way through them runs."""

import json
import re
import sys

import numpy as np
import pytest
from bs4 import BeautifulSoup
from helpers_book import BOOK, source

import rbmlib as rl

sys.path.insert(0, str(BOOK / "_ext"))

import chooser

LIST = chooser.chooser()
ENDS, QUESTIONS = LIST["ends"], LIST["questions"]
CALLED = {name for end in ENDS.values() for name in re.findall(r"\brl\.(\w+)", end["code"])}


def ways(name: str = LIST["first"], taken: tuple = ()) -> list[tuple]:
    """From a question: the answers of each way to an end, and the name of the end."""
    if name in ENDS:
        return [(*taken, name)]
    answers = QUESTIONS[name]["answers"]
    return [way for i, a in enumerate(answers) for way in ways(a["to"], (*taken, (name, i)))]


def code_of(way: tuple) -> str:
    *taken, end = way
    answers = [QUESTIONS[name]["answers"][i] for name, i in taken]
    return "".join(answer.get("code", "") for answer in answers) + ENDS[end]["code"]


def test_every_kind_of_rbm_is_asked_on_and_every_end_is_reached():
    found = ways()
    assert len(QUESTIONS) == 5
    assert not set(QUESTIONS) & set(ENDS)
    assert {way[-1] for way in found} == set(ENDS)
    kinds = [a["says"] for a in QUESTIONS[LIST["first"]]["answers"] if a["to"] == "want"]
    assert [kind for kind in kinds if "RBM" in kind] == kinds
    for sort in ("0 and 1", "−1 and +1", "Potts", "real-valued"):
        assert sum(sort in kind for kind in kinds) == 1


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
    code = code_of(way).replace("0_000", "_000")  # a tenth of the steps
    if "Gaussian" in kind and way[-1] == "mean_field":
        code = code[: code.index("broad")] + "print(estimate)"
    exec(code, names)
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
    codes = [ENDS.get(a["to"], a).get("code") for q in QUESTIONS.values() for a in q["answers"]]
    shown = [block.get_text().strip() for block in page.select("pre")]
    assert shown == [code.strip() for code in codes if code]


def test_the_page_has_the_mark():
    assert (BOOK / "which.md").read_text(encoding="utf-8").count(chooser.MARK) == 1


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
