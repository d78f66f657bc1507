"""What stands in the head of a page, for search engines and previews; and minutes of reading.

The description is the page's first paragraph. The preview picture is the figure of the front page;
`html_baseurl` makes its address absolute, which most readers of previews want.
"""

import html
import re
from pathlib import Path

import front
from docutils import nodes

WORDS_A_MINUTE, LONGEST = 200, 200  # characters of a description
CARD = "card.png"
SKIPPED = (nodes.comment, nodes.raw, nodes.substitution_definition)


def description(doctree) -> str:
    """The first sentence or two of a page, as plain text of at most `LONGEST` characters."""
    for paragraph in doctree.findall():
        if not isinstance(paragraph, (nodes.paragraph, nodes.raw)):
            continue
        text = paragraph.astext()
        if isinstance(paragraph, nodes.raw):  # the front page
            found = re.search(r"<p[^>]*>(.*?)</p>", text)
            text = html.unescape(re.sub(r"<[^>]*>", "", found[1])) if found else ""
        text = re.sub(r"\\(?=\w)", "", re.sub(r"\s+", " ", text)).strip()
        if len(text) < 40 or "gloss" in paragraph.parent.get("classes", []):
            continue
        sentences, made = re.split(r"(?<=[.?!])\s", text), ""
        for sentence in sentences:
            if len(made) >= 40 and len(made) + len(sentence) + 1 > LONGEST:
                break
            made = f"{made} {sentence}".strip()
        return made if len(made) <= LONGEST else made[:LONGEST].rsplit(" ", 1)[0] + " …"
    return ""


def minutes(doctree) -> int:
    """Of reading: the words of its text, without code and outputs."""
    words = 0
    for node in doctree.findall(nodes.Text):
        parents, parent = [], node.parent
        while parent is not None:
            parents.append(parent)
            parent = parent.parent
        if not any(
            isinstance(p, (nodes.literal_block, *SKIPPED)) or "gloss" in p.get("classes", [])
            for p in parents
        ):
            words += len(node.astext().split())
    return max(1, round(words / WORDS_A_MINUTE))


def give_head(app, pagename, templatename, context, doctree) -> None:
    icon = context["pathto"]("_static/icon.svg", resource=True)
    tags = [f'<link rel="icon" type="image/svg+xml" href="{icon}">']
    if doctree is not None and (said := description(doctree)):
        title = html.escape(re.sub(r"<[^>]*>", "", context.get("title", "")))
        tags += [
            f'<meta name="description" content="{html.escape(said)}">',
            f'<meta property="og:title" content="{title}">',
            f'<meta property="og:description" content="{html.escape(said)}">',
            '<meta property="og:type" content="article">',
        ]
        card = context["pathto"](f"_static/{CARD}", resource=True)
        if base := app.config.html_baseurl:
            card = f"{base.rstrip('/')}/_static/{CARD}"
        tags += [
            f'<meta property="og:image" content="{card}">',
            '<meta name="twitter:card" content="summary_large_image">',
        ]
    context["metatags"] = context.get("metatags", "") + "\n" + "\n".join(tags) + "\n"


def draw_card(app, exception) -> None:
    if not exception:
        inches = 8, 4.2  # 1200 × 630 dots, as previews are cut
        front.draw(Path(app.outdir, "_static", CARD), inches, "Is your log Z right?")
