"""Take the still pictures of the moving figures: what is shown where scripts do not run.

    python book/_tools/moving_stills.py   # needs Chromium and playwright

Each figure is drawn by its own script and moved on by some steps; random numbers have seeds, so
that the pictures are the same each time.
"""

import base64
import os
import shutil
from pathlib import Path

BOOK = Path(__file__).resolve().parent.parent
STATIC = BOOK / "_ext" / "static"
NAMES = {"digits": 60, "wells": 45, "ladder": 0, "tempering": 1500, "bracket": 0}


def page_of(body: str) -> str:
    """The figures alone, as a page of HTML whose scripts are beside it."""
    raw = "".join(part.split("```")[0] for part in body.split("```{raw} html\n")[1:])
    return f"<!DOCTYPE html><meta charset='utf-8'><body>{raw.replace('../_static/', '')}</body>"


def main() -> None:
    from playwright.sync_api import sync_playwright

    sheet = STATIC / "moving_stills.html"
    sheet.write_text(page_of((BOOK / "moving_figures.md").read_text("utf-8")), encoding="utf-8")
    browsers = ("chromium", "chromium-browser", "google-chrome")
    chromium = next(path for name in browsers if (path := shutil.which(name)))
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=chromium, args=["--no-sandbox"] if os.geteuid() == 0 else []
            )
            page = browser.new_page()
            page.goto(sheet.as_uri())
            for name, presses in NAMES.items():
                if presses:
                    page.locator(f"#moving-{name} button", has_text="One step").evaluate(
                        "(button, n) => { for (let i = 0; i < n; i++) button.click(); }", presses
                    )
                picture = page.locator(f"#moving-{name} canvas").evaluate(
                    "c => c.toDataURL('image/png')"
                )
                target = STATIC / "moving" / f"{name}.png"
                target.write_bytes(base64.b64decode(picture.split(",")[1]))
                print(f"{target.name}: {target.stat().st_size / 1000:.0f} kB", flush=True)
            browser.close()
    finally:
        sheet.unlink()


if __name__ == "__main__":
    main()
