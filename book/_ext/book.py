"""The API page, the page of all verdicts, and corrections to the theme: one Sphinx extension."""

import json
from pathlib import Path

import api_page
import front
import notes_page

HERE = Path(__file__).parent

TOGGLE = '<summary><span class="toctree-toggle"'

# All that a page loads of MathJax: the one script and its fonts, 2 of 24 MB.
MATHJAX_USED = ("tex-chtml.js", "output/chtml/fonts")


def write_api_page(app, docname, source):
    """Fill the API page as it is read, so that it cannot lag behind the library."""
    if api_page.MARK in source[0]:
        source[0] = source[0].replace(api_page.MARK, api_page.page())


def write_notes_page(app, docname, source):
    """Fill the page of all verdicts from the executed notebooks beside it."""
    if notes_page.MARK in source[0]:
        folder = Path(app.env.doc2path(docname)).parent
        for notebook in notes_page.chapters(folder):
            app.env.note_dependency(str(notebook))
        source[0] = source[0].replace(notes_page.MARK, notes_page.page(folder))


def write_numbers(app, docname, source):
    """Put the stored numbers into the front pages as they are read."""
    source[0] = front.filled(source[0])


def draw_front_figure(app):
    target = Path(app.srcdir, front.FIGURE)
    target.parent.mkdir(parents=True, exist_ok=True)
    front.draw(target)


def use_fork(app, config):
    """Buttons to the repository, its issues and Binder, once `fork` has an address."""
    if config.fork:
        config.html_theme_options.update(
            repository_url=config.fork.rstrip("/"),
            use_repository_button=True,
            use_issues_button=True,
            launch_buttons={
                "binderhub_url": "https://mybinder.org",
                "notebook_interface": "jupyterlab",
            },
        )


def add_style(app):
    app.config.html_static_path.append(str(HERE / "static"))
    app.add_css_file("book.css")


def drop_thebe(app, pagename, templatename, context, doctree):
    """Jupyter Book registers sphinx-thebe twice: its second `const` is an error in the console."""

    def is_thebe(script):
        body = getattr(script, "attributes", {}).get("body") or ""
        return "THEBE_JS_URL" in body or "sphinx-thebe" in str(getattr(script, "filename", ""))

    context["script_files"] = [s for s in context["script_files"] if not is_thebe(s)]


def drop_roles(app, pagename, templatename, context, doctree):
    """docutils gives bibliographies roles that are deprecated or miss their list items."""
    if "body" in context:
        body = context["body"].replace('role="list" class="citation-list"', 'class="citation-list"')
        context["body"] = body.replace(' role="doc-biblioentry"', "")


def prune_mathjax(app, exception):
    folder = Path(app.outdir, "_static", "mathjax")
    if exception or not folder.is_dir():
        return
    kept = [folder / name for name in MATHJAX_USED]
    for path in sorted(folder.rglob("*"), reverse=True):
        if path.is_dir():
            if not any(path.iterdir()):
                path.rmdir()
        elif not any(path == keep or keep in path.parents for keep in kept):
            path.unlink()


def empty_downloads(app, exception):
    """The notebooks that pages offer for download have no outputs: 17 of 19 MB, made by a run."""
    if exception:
        return
    for path in Path(app.outdir, "_sources").rglob("*.ipynb"):
        notebook = json.loads(path.read_text(encoding="utf-8"))
        for cell in notebook["cells"]:
            if cell["cell_type"] == "code":
                cell.update(outputs=[], execution_count=None)
        path.write_text(json.dumps(notebook, ensure_ascii=False, indent=1), encoding="utf-8")


def name_toggles(app, exception):
    """The theme gives what opens a part of the contents no name that could be read aloud."""
    if exception:
        return
    for page in Path(app.outdir).rglob("*.html"):
        html = page.read_text(encoding="utf-8")
        named = html.replace(TOGGLE, TOGGLE.replace(">", ' aria-label="Pages under it">', 1))
        if named != html:
            page.write_text(named, encoding="utf-8")


def setup(app):
    app.add_config_value("fork", "", "html", str)
    app.connect("config-inited", use_fork)
    app.connect("source-read", write_api_page)
    app.connect("source-read", write_notes_page)
    app.connect("source-read", write_numbers)
    app.connect("builder-inited", add_style)
    app.connect("builder-inited", draw_front_figure)
    app.connect("html-page-context", drop_thebe, priority=900)
    app.connect("html-page-context", drop_roles, priority=900)
    app.connect("build-finished", prune_mathjax, priority=900)
    app.connect("build-finished", name_toggles, priority=900)
    app.connect("build-finished", empty_downloads, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
