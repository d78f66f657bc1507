"""Small corrections to the stock theme, as one local Sphinx extension (with static/book.css)."""

from pathlib import Path

HERE = Path(__file__).parent


def drop_thebe(app, pagename, templatename, context, doctree):
    """Jupyter Book registers sphinx-thebe twice: its second `const` is an error in the console."""

    def is_thebe(script):
        body = getattr(script, "attributes", {}).get("body") or ""
        return "THEBE_JS_URL" in body or "sphinx-thebe" in str(getattr(script, "filename", ""))

    context["script_files"] = [s for s in context["script_files"] if not is_thebe(s)]


def add_style(app):
    app.config.html_static_path.append(str(HERE / "static"))
    app.add_css_file("book.css")
    app.add_js_file("book.js")


def setup(app):
    app.connect("builder-inited", add_style)
    app.connect("html-page-context", drop_thebe, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
