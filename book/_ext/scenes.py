"""The moving figures, from ``scenes.yml``: one opens each lesson, and all stand on a page."""

import html
from functools import cache
from pathlib import Path

import yaml

from rbmbook.claims import by_name, short

BOOK = Path(__file__).parent.parent
SOURCE = BOOK / "scenes.yml"
MARK = "<!-- the moving figures -->"


@cache
def scenes() -> dict[str, dict]:
    return yaml.safe_load(SOURCE.read_text(encoding="utf-8"))


def figure(name: str) -> str:
    """A figure that asks first; without a script it is a question whose answer can be opened."""
    scene = scenes()[name]
    choices = "".join(
        f"<li{' data-right' if n == scene['right'] else ''}>{html.escape(choice)}</li>"
        for n, choice in enumerate(scene["choices"])
    )
    asks, answer = html.escape(scene["asks"]), html.escape(scene["answer"])
    return (
        f'<figure class="scene" data-scene="{name}"><p class="scene-asks">{asks}</p>'
        f'<ul class="scene-choices">{choices}</ul><details class="scene-answer"><summary>The answer'
        f" at the first setting</summary><p>{answer}</p></details></figure>"
    )


def scripts(body: str, pathto) -> str:
    """What the moving figures of a page need: a page without any needs nothing."""
    names = ["hills", "scenes"]
    if 'data-scene="digits"' in body:
        names += ["pcd_20", "digits"]
    if 'id="cockpit"' in body:
        names.append("cockpit")
    elif "data-scene=" not in body:
        return ""
    files = (pathto(f"_static/moving/{name}.js", resource=True) for name in names)
    return "".join(f'<script src="{file}" defer></script>' for file in files)


def page() -> str:
    """A section a figure, under the name of what it shows, with the lesson that it belongs to."""
    lessons = by_name(BOOK)
    return "\n".join(
        f"(moving-{name})=\n## {scene['title']}\n\n"
        f"Lesson: {{doc}}`{lessons[scene.get('lesson', name)]}`.\n\n"
        f"```{{raw}} html\n{figure(name)}\n```\n"
        for name, scene in scenes().items()
    )


def opening(pagename: str) -> str:
    """The figure that opens a lesson, with a link to all of them."""
    name = short(pagename)
    if not pagename.startswith("book/learn/") or name not in scenes():
        return ""
    more = '<p class="scene-more"><a href="../moving_figures.html">All moving figures</a></p>'
    return figure(name).replace("</figure>", f"{more}</figure>")
