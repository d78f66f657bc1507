"""Tables of verdicts, as pages show and keep them."""

import json
import math

import pytest

from rbmbook import judge
from rbmbook import measured as ms
from rbmbook import verdicts as vs


def test_a_table_has_five_columns_and_carries_its_verdicts(monkeypatch):
    import IPython.display

    kept, ratio = [], ms.measured(2, 0.1, scale="log")
    monkeypatch.setattr(IPython.display, "display", lambda data, raw: kept.append(data))
    every = [
        judge.effect("carlson-f4-flat", ratio, direction=+1, size=(2, math.inf)),
        *judge.unchecked("wang-rts-f5", "a < b"),
    ]
    vs.show_verdicts([every])
    data = kept[0]
    assert data["text/html"].count("<th ") == data["text/html"].count("<td ") / 2 == 5
    assert 'id="wang-rts-f5"' in data["text/html"]
    assert "a &lt; b" in data["text/html"]
    assert "✔" not in data["text/html"].replace("✔</span> reproduced", ""), "always with its word"
    assert (
        data["text/plain"] == f"carlson-f4-flat: {every[0].words}\nwang-rts-f5: – cannot be checked"
    )
    back = [vs.from_json(fields) for fields in json.loads(json.dumps(data[vs.MIME]))]
    assert [v._replace(effect=0, low=0, high=0) for v in back] == [
        v._replace(effect=0, low=0, high=0) for v in every
    ]
    assert back[0].low == pytest.approx(every[0].low, rel=1e-5)
    assert math.isnan(back[1].low)


@pytest.mark.parametrize(
    ("numbers", "text"),
    [
        ((-0.1234567, -0.4567, 0.2098), "−0.123 [−0.457, 0.210]"),
        ((1234.567, 1200.1, 1269.0), "1,234.6 [1,200.1, 1,269.0]"),
        ((2.0, 1.5, math.inf), "2.000 [1.500, ∞]"),
        ((2.0, 2.0, 2.0), "2"),
    ],
)
def test_digits_of_an_effect(numbers, text):
    assert vs.in_brackets(*numbers) == text
