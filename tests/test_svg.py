"""Figures as SVG: the same bytes twice, another digest for other data; one colour a method, told
apart by a colour-blind reader too."""

import base64
import re

import figures
import matplotlib.pyplot as plt
import numpy as np
import pytest
from helpers_book import BOOK

from rbmbook import plots


@pytest.fixture
def figure():
    def draw(moved=0.0, columns=2):
        plots.use_style()
        made, axes = plt.subplots(
            1, columns, figsize=(3.3 * columns, 3), sharey=True, squeeze=False
        )
        for ax in axes.flat:
            ax.plot([0, 1, 2], [1, 2 + moved, 3], **plots.method("AIS"))
            ax.scatter([0, 1], [2, 2 - moved], c=[0.1, 0.2])
            ax.bar([0, 1], [1, 2 + moved])
            ax.set(xlabel="steps", title="one")
        axes[0, 0].set_ylabel("nats")
        return made

    yield draw
    plt.close("all")


def test_a_figure_is_the_same_text_in_two_runs_and_its_variant_is_inside(figure):
    first, second = plots.bundle(figure()), plots.bundle(figure())
    assert first == second
    text = first["image/svg+xml"]
    inside = base64.b64decode(re.search(r"book-tall:([\w+/=]+)", text)[1]).decode()
    size = [float(re.search(r'viewBox="0 0 ([\d.]+) ', t)[1]) for t in (text, inside)]
    assert size[1] < 72 * plots.PHONE + 10 < size[0]
    assert (text.count(">nats<"), inside.count(">nats<")) == (1, 2)
    assert "<dc:date>" not in text


@pytest.mark.parametrize("moved", [0.01, -1e-3])
def test_the_digest_changes_with_one_point_and_not_with_rounding(figure, moved):
    digest = plots.drawn(figure())
    assert plots.drawn(figure(moved=1e-9)) == digest
    assert plots.drawn(figure(moved=moved)) != digest
    zero, nearly = (
        plt.figure().add_subplot().plot([0.0, 1.0], [y, 1.0])[0].figure for y in (0.0, -1e-17)
    )
    assert plots.drawn(zero) == plots.drawn(nearly)
    image = plt.figure().add_subplot().imshow(np.eye(3)).figure
    other = plt.figure().add_subplot().imshow(np.eye(3) * [1, 1, 0.5]).figure
    assert plots.drawn(image) != plots.drawn(other)


def test_each_kind_of_artist_counts():
    def digest(y, kind):
        made, ax = plt.subplots()
        getattr(ax, kind)([0.0, 1.0, 2.0], y)
        plt.close(made)
        return plots.drawn(made)

    for kind in ("plot", "scatter", "bar", "fill_between", "errorbar", "stem"):
        assert digest([1, 2, 3], kind) == digest([1, 2, 3], kind)
        assert digest([1, 2, 3], kind) != digest([1, 2, 3.01], kind), kind


def test_many_points_are_a_picture_and_panels_of_images_stay(figure):
    made = figure(columns=1)
    made.axes[0].plot(np.arange(2000), np.arange(2000) % 7, "o")
    text = plots.bundle(made)["image/svg+xml"]
    assert text.count("<image ") == 1
    assert len(text) < 200_000
    pictures, axes = plt.subplots(2, 5)
    for ax in axes.flat:
        ax.imshow(np.eye(4))
        ax.axis("off")
    assert not plots.tall(pictures)


def test_colours_follow_the_theme(figure, tmp_path):
    text = plots.bundle(figure())["image/svg+xml"].replace("#0b5394", "#7b6cd9", 1)
    (tmp_path / "a.svg").write_text(text, encoding="utf-8")
    page = '<head></head><img alt="two panels" src="a.svg">'
    html = figures.inlined(page, tmp_path / "p.html")
    assert "var(--c-7b6cd9, #7b6cd9)" in html
    assert f"--c-7b6cd9:{figures.seen('7b6cd9', 'dark')}" in html
    assert not re.search(r"(?:fill|stroke): ?#", html)
    assert html.count('aria-label="two panels"') == 2


CSS = (BOOK / "_ext" / "static" / "book.css").read_text(encoding="utf-8")


@pytest.mark.parametrize(("theme", "least"), [("light", 3.4), ("dark", 8)])
def test_lines_of_every_method_are_seen_on_the_paper_of_both_themes(theme, least):
    own = CSS[CSS.index(f'html[data-theme="{theme}"] {{') :].partition("}")[0]
    names = dict(re.findall(r"(--[\w-]+): #([0-9a-f]{6})", own))
    assert figures.GROUNDS[theme][0] == names["--paper"]
    for colour in set(plots.METHOD_COLOURS.values()):
        name = figures.COLOURS.get(colour)
        shown = names[name] if name else figures.seen(colour[1:], theme)[1:]
        assert figures._contrast(figures._parts(shown), names["--paper"]) >= least, colour
