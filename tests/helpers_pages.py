"""What the page tests ask of a page in a browser: scripts, and what they find in words."""

from html.parser import HTMLParser

from axe_playwright_python.sync_playwright import Axe

RULES = ["wcag2a", "wcag2aa", "wcag21aa"]
BY_COLOUR = ["color-contrast", "link-in-text-block"]  # all that depends on the colour scheme

READY = """async () => {
  if (window.MathJax && MathJax.startup) await MathJax.startup.promise;
  await document.fonts.ready;
}"""

# What is unfolded fades in: half-way its colours would be judged.
STILL = "*, ::before, ::after { animation: none !important; transition: none !important; }"

# Three frames in a row of one width and height: margins have slid, lines are broken anew.
SETTLED = """async () => {
  const frame = () => new Promise(requestAnimationFrame);
  const size = () => [document.documentElement.scrollWidth, document.body.scrollHeight].join();
  for (let last = '', same = 0; same < 3; same = size() === last ? same + 1 : 0, last = size())
    await frame();
}"""

# Texts of one look are judged for three of them: look is all that their contrast is computed from,
# that is tags, colours, opacities and filters of the text and of all that it lies in.
ALIKE = """() => {
  const looks = new Map(), known = new Map(), controls = ['INPUT', 'SELECT', 'TEXTAREA', 'BUTTON'];
  const under = e => {
    if (!e || e === document) return '';
    if (!known.has(e)) {
      const s = getComputedStyle(e);
      known.set(e, under(e.parentElement) + '>' + [e.tagName, s.backgroundColor, s.backgroundImage,
        s.opacity, s.position, s.filter, s.mixBlendMode].join('|'));
    }
    return known.get(e);
  };
  document.querySelectorAll('[data-judged]').forEach(e => e.removeAttribute('data-judged'));
  for (const e of document.querySelectorAll('body, body *')) {
    const texts = [...e.childNodes].some(n => n.nodeType === Node.TEXT_NODE && n.data.trim());
    if (!texts && !controls.includes(e.tagName)) continue;
    const s = getComputedStyle(e);
    const look = controls.includes(e.tagName) ? e : [under(e), s.color, s.fontSize, s.fontWeight,
      s.textShadow, s.visibility, e.checkVisibility()].join('|');
    looks.set(look, (looks.get(look) || 0) + 1);
    if (looks.get(look) <= 3) e.setAttribute('data-judged', '');
  }
  axe.configure({rules: [{id: 'color-contrast', selector: '[data-judged]'}]});
  return looks.size;
}"""

# Everything in the article that a reader cannot see whole. What is folded is opened first.
CUT = """() => {
  const article = document.querySelector('article.bd-article') || document.querySelector('main');
  article.querySelectorAll('details').forEach(e => { e.open = true; });
  article.querySelectorAll('.toggle-hidden').forEach(e => e.classList.remove('toggle-hidden'));
  const edge = Math.min(article.getBoundingClientRect().right,
                        document.documentElement.clientWidth) + 1.5;
  const scrolls = e => ['auto', 'scroll'].includes(getComputedStyle(e).overflowX);
  const inBox = e => {
    for (let up = e.parentElement; up && up !== article; up = up.parentElement)
      if (scrolls(up)) return true;
    return false;
  };
  const found = [];
  const say = (e, what) => {
    const name = e.tagName.toLowerCase() + '.' + [...e.classList].join('.');
    found.push({what, name, text: e.textContent.trim().slice(0, 60)});
  };
  for (const e of article.querySelectorAll('*')) {
    if (e.closest('.visually-hidden, .sr-only, script, style, svg, mjx-container mjx-container'))
      continue;
    if (e.closest('mjx-container') && !e.matches('mjx-container')) continue;
    if (!e.checkVisibility() || getComputedStyle(e).display === 'inline') continue;
    const box = e.getBoundingClientRect();
    if (box.width < 2 || box.height < 2) continue;
    if (box.right > edge && !inBox(e)) { say(e, 'sticks out'); continue; }
    if (box.left < -1.5 && !inBox(e)) { say(e, 'sticks out'); continue; }
    if (e.scrollWidth <= e.clientWidth + 1) continue;
    const formula = e.matches('span.math') && e.querySelector('mjx-container');
    if (formula && formula.getBoundingClientRect().width <= box.width + 1.5) continue;
    const style = getComputedStyle(e), overflow = style.overflowX;
    const bar = e.offsetHeight - e.clientHeight
      - parseFloat(style.borderTopWidth) - parseFloat(style.borderBottomWidth);
    if (['hidden', 'clip'].includes(overflow)) say(e, 'cut');
    else if (scrolls(e)) say(e, bar >= 4 ? 'scrolls' : 'scrolls unseen');
  }
  return found;
}"""


# Texts smaller than some pixels as they are shown, in figures as well; TeX sets the formulas.
SMALL = """least => [...document.querySelectorAll('main *')].filter(e =>
    !e.closest('mjx-container, .vh, .visually-hidden, .sr-only') && e.checkVisibility() &&
    [...e.childNodes].some(n => n.nodeType === Node.TEXT_NODE && n.data.trim())).map(e => {
  const m = e.closest('svg') && e.getScreenCTM ? e.getScreenCTM() : {a: 1, b: 0};
  const size = parseFloat(getComputedStyle(e).fontSize) * Math.hypot(m.a, m.b);
  return [size, e.textContent.trim().slice(0, 40)];
}).filter(([size]) => size < least - 0.05).map(found => found.join(' px: '))"""


def violations(page, by_colour: bool = False) -> list[str]:
    """What axe finds in a page: everything, or what depends on colours.

    Contrast is judged for three texts of each look.
    """
    by, rules = ("rule", BY_COLOUR) if by_colour else ("tag", RULES)
    if not page.evaluate("'axe' in window"):
        page.evaluate(Axe().axe_script)
    assert page.evaluate(ALIKE) > 3, "hardly any text?"
    options = {"runOnly": {"type": by, "values": rules}, "resultTypes": ["violations"]}
    found = page.evaluate(
        "async options => { const found = await axe.run({...options, preload: false});"
        " return {violations: found.violations, passes: found.passes.length}; }",
        options,
    )
    assert found["passes"] >= 1, "axe judged nothing"
    return [
        f"{rule['id']}: {node['target']} {node['html'][:200]} {node.get('failureSummary', '')}"
        for rule in found["violations"]
        for node in rule["nodes"]
    ]


LINKS = {"a": "href", "link": "href", "script": "src", "img": "src"}


class Places(HTMLParser):
    """Ids and names of a page, and the addresses of its links, style sheets, scripts, images."""

    def __init__(self, text: str):
        super().__init__()
        self.anchors, self.links = set(), []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.anchors |= {attrs[key] for key in ("id", "name") if key in attrs}
        if attrs.get(LINKS.get(tag)):
            self.links.append(attrs[LINKS[tag]])
