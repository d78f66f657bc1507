"""Make a deck of slides a week from the figures of the book: one HTML file each, for any browser.

    python book/_tools/slides.py [folder]

``book/slides/week*.md`` are in Markdown: ``---`` parts slides, ``![fig-start-agree]`` shows the
stored figure of that name with its alternative text, and ``$$...$$`` is a formula that matplotlib
sets. ``??? 5 min`` begins the teacher's notes of a slide and says how long it takes; the key N
shows them, with the minutes of the session so far, and the key P shows them in a window of their
own, for the teacher's screen: each of the two turns the other. Nothing is fetched: pictures and
script stand in the file.
"""

import base64
import html
import io
import json
import re
import sys
from pathlib import Path

from markdown_it import MarkdownIt

from rbmbook.claims import notebooks

BOOK = Path(__file__).resolve().parent.parent
TALL = re.compile(r"book-tall:[A-Za-z0-9+/=]+")  # the variant for phones

STYLE = """
*{box-sizing:border-box} body{margin:0;font:1.5rem/1.4 system-ui,sans-serif;color:#1b2330;
background:#fdfcfa} section{min-height:100vh;padding:4vh 6vw;display:none;flex-direction:column;
justify-content:center} section.now{display:flex} h1{font-size:2.6rem;margin:0 0 1rem}
h2{font-size:2rem;margin:0 0 1rem;color:#0b5394} img{max-width:100%;max-height:62vh;
mix-blend-mode:multiply;object-fit:contain;align-self:center}
img.formula{max-height:22vh;margin:.6rem 0} ul,ol{margin:0}
table{border-collapse:collapse} td,th{border-bottom:1px solid #999;padding:.2rem 1rem}
footer{position:fixed;right:2vw;bottom:1.5vh;font-size:1rem;color:#595959}
aside{display:none;font-size:1.1rem;border-top:1px solid #999;margin-top:1rem;max-width:60rem}
.notes aside{display:block} .notes img{max-height:40vh} aside b{color:#0b5394}
@media print{section{display:flex;page-break-after:always} footer{display:none}}
"""
SCRIPT = """
const slides=[...document.querySelectorAll('section')];const foot=document.querySelector('footer');
let at=Math.min(Math.max(Number(location.hash.slice(1))||1,1),slides.length)-1;
const clock=[];let spent=0;slides.forEach(s=>{if(/^Session/.test(s.innerText.trim()))spent=0;
spent+=Number(s.dataset.minutes);clock.push(spent)});
let other=window.name==='notes'?window.opener:null;
if(other)document.body.classList.add('notes');
addEventListener('message',e=>{if(e.source===other){at=e.data;show(false)}});
function show(tell=true){if(tell&&other)other.postMessage(at,'*');
slides.forEach((s,i)=>s.classList.toggle('now',i===at));
foot.textContent=`${at+1} / ${slides.length}`+(document.body.className?`, to minute ${clock[at]}`:
', N: notes, P: notes in a window');history.replaceState(null,'',`#${at+1}`);}
addEventListener('keydown',e=>{if(e.key==='n'||e.key==='N'){document.body.classList.toggle('notes');
show();return}if(e.key==='p'||e.key==='P'){other=open(location.href,'notes','width=900,height=700');
return}const step={ArrowRight:1,PageDown:1,' ':1,ArrowLeft:-1,PageUp:-1,
Home:-1e9,End:1e9}[e.key];if(!step)return;e.preventDefault();
at=Math.min(Math.max(at+step,0),slides.length-1);show();});
addEventListener('click',e=>{at=Math.min(Math.max(at+(e.clientX<innerWidth/3?-1:1),0),
slides.length-1);show();});show();
"""


KINDS = ("image/svg+xml", "image/png")


def figures() -> dict[str, tuple[str, str]]:
    """Every stored figure of the book by its name: its address as data, alternative text."""
    found = {}
    for path in notebooks(BOOK):
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            look = cell["metadata"].get("mystnb", {})
            for output in cell.get("outputs", []):
                data = output.get("data", {})
                kind = next((kind for kind in KINDS if kind in data), None)
                if kind and "figure" in look:
                    text = "".join(data[kind]).strip()
                    if kind == "image/svg+xml":
                        text = base64.b64encode(TALL.sub("", text).encode()).decode()
                    address = f"data:{kind};base64,{text}"
                    found[look["figure"]["name"]] = (address, look["image"]["alt"])
    return found


def formula(tex: str) -> str:
    """A formula as an image in the page, its source as the alternative text."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import mathtext

    picture = io.BytesIO()
    mathtext.math_to_image(f"${tex}$", picture, dpi=260, format="png")
    data = base64.b64encode(picture.getvalue()).decode()
    return f'<img class="formula" alt="{html.escape(tex)}" src="data:image/png;base64,{data}">'


def slide(text: str, pictures: dict) -> str:
    def picture(match):
        address, alt = pictures[match[1]]
        return f'<img alt="{html.escape(alt)}" src="{address}">'

    shown, minutes, notes = re.fullmatch(r"(?s)(.+)^\?\?\? (\d+) min\n(.+)", text, re.M).groups()
    shown = re.sub(r"(?s)\$\$(.+?)\$\$", lambda m: formula(m[1].strip()), shown)
    shown = re.sub(r"!\[(fig-[\w-]+)\]", picture, shown)
    read = MarkdownIt("commonmark", {"html": True}).enable("table").render
    aside = f"<aside><b>{minutes} min</b> {read(notes)}</aside>"
    return f'<section data-minutes="{minutes}">{read(shown)}{aside}</section>'


def deck(text: str, pictures: dict) -> str:
    title = re.search(r"(?m)^# (.+)$", text)[1]
    slides = "\n".join(slide(part, pictures) for part in re.split(r"(?m)^---$", text))
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        f'<meta name="viewport" content="width=device-width"><style>{STYLE}</style></head>\n'
        f"<body><main>{slides}</main><footer></footer><script>{SCRIPT}</script></body></html>\n"
    )


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    pictures = figures()
    for source in sorted((BOOK / "slides").glob("week*.md")):
        target = folder / f"{source.stem}.html"
        target.write_text(deck(source.read_text(encoding="utf-8"), pictures), encoding="utf-8")
        print(f"{target}: {target.stat().st_size / 1e6:.1f} MB", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "_build/slides"))
