# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Opens pages of the Lab in headless Chromium and looks at what a reader meets.

    python browser.py PAGE... FOLDER

Needs the distribution's Chromium (apt-get install chromium; or $CHROMIUM) and,
from PyPI, playwright and axe-core-python. Each page must open without a message
on the console or a request, pass axe-core's rules in light and dark, and show all
five steps to somebody who has a keyboard alone; nothing moves under reduced
motion. Pictures of it go to FOLDER.
"""
import os
import pathlib
import shutil
import sys

import axe_core_python
from playwright.sync_api import sync_playwright

AXE = next(pathlib.Path(axe_core_python.__file__).parent.rglob("axe.min.js")).read_text(encoding="utf-8")
STEPS = ["Scores", "Scale", "Mask", "Softmax", "Context"]
LOOKS = {
    "light": {"color_scheme": "light"},
    "dark": {"color_scheme": "dark"},
    "still": {"color_scheme": "light", "reduced_motion": "reduce"},
    "narrow": {"color_scheme": "light", "viewport": {"width": 400, "height": 800}},
    "print": {"color_scheme": "dark"},
}


class Visit:
    """A page in one look, and what is wrong with it."""

    def __init__(self, browser, file, look, folder):
        self.name, self.look, self.folder, self.faults = file.stem, look, folder, []
        self.context = browser.new_context(**{"viewport": {"width": 1100, "height": 900}, **LOOKS[look]})
        self.page = self.context.new_page()
        self.page.on("console", lambda m: self.fault(f"console: {m.type}: {m.text}"))
        self.page.on("pageerror", lambda e: self.fault(f"error: {e}"))
        self.page.on("request", lambda r: r.url.startswith(("file:", "data:")) or self.fault(f"requests {r.url}"))
        self.page.goto(file.resolve().as_uri())

    def fault(self, text):
        self.faults.append(f"{self.name}, {self.look}: {text}")

    def picture(self, what):
        self.page.screenshot(path=self.folder / f"{self.name}-{what}.png", full_page=True)

    def expect(self, true, text):
        true or self.fault(text)

    def shown(self):
        """The heading of the step that is on show."""
        return self.page.locator(".panel:not([hidden]) h3").all_inner_texts()

    def axe(self, where):
        self.page.evaluate(AXE)
        results = self.page.evaluate("axe.run({resultTypes: ['violations']})")
        # axe gives up silently on forms of colours that it does not know.
        judged = {rule["id"] for rule in results["violations"] + results["passes"]}
        self.expect("color-contrast" in judged, f"axe, {where}: contrast was not judged")
        for found in results["violations"]:
            nodes = "; ".join(n["html"][:120] + " " + n["failureSummary"].replace("\n", " ")[:200] for n in found["nodes"][:2])
            self.fault(f"axe, {where}: {found['id']} ({len(found['nodes'])} places): {nodes}")


def tab_to(visit, selector):
    """Presses Tab until the element has the focus, and looks that the focus can be seen."""
    for _ in range(60):
        visit.page.keyboard.press("Tab")
        if visit.page.evaluate("s => document.activeElement.matches(s)", selector):
            outline = visit.page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
            visit.expect(outline != "none", f"no focus is seen at {selector}")
            return
    visit.fault(f"Tab does not reach {selector}")


def walk_by_keyboard(visit):
    keyboard = visit.page.keyboard
    for i, step in enumerate(STEPS):
        visit.expect(visit.shown() == [f"{i + 1}. {step}"], f"after {i} times the right arrow: {visit.shown()}")
        if i:
            visit.expect(step in visit.page.inner_text("#say"), f"step {step} is not announced")
        keyboard.press("ArrowRight")
    for _ in STEPS:
        keyboard.press("ArrowLeft")
    visit.expect(visit.shown() == ["1. Scores"], f"the left arrow does not lead back: {visit.shown()}")
    tab_to(visit, "#query")
    last = visit.page.locator("#query option").last
    keyboard.press("End")
    visit.expect(visit.page.input_value("#query") == last.get_attribute("value"), "the keyboard does not choose a query")
    tab_to(visit, "#next")
    for i in range(1, len(STEPS)):
        keyboard.press("Enter")
        visit.expect(visit.shown() == [f"{i + 1}. {STEPS[i]}"], f"Enter on Next, {i} times: {visit.shown()}")
    for i, step in enumerate(STEPS):
        visit.page.evaluate("document.activeElement.blur()")
        tab_to(visit, f"#stepper li:nth-child({i + 1}) button")
        keyboard.press("Space")
        visit.expect(visit.shown() == [f"{i + 1}. {step}"], f"Space on the button {step}: {visit.shown()}")


def check_steps(visit):
    """The rules of axe at every step, and what moves at the last."""
    for i, step in enumerate(STEPS):
        visit.page.locator("#stepper button").nth(i).click()
        # A table of thousands of cells takes axe seconds, and the steps leave it as it is.
        if visit.look in ("light", "dark") and not visit.page.locator(".map.dense").count() or i == len(STEPS) - 1:
            visit.axe(step)
    visit.page.locator("#again").dispatch_event("click")
    moving = visit.page.evaluate("document.getAnimations().length")
    if visit.look == "still":
        visit.expect(moving == 0, f"{moving} animations under reduced motion")
    else:
        visit.expect(moving > 0, "the weights do not flow")
        visit.page.wait_for_timeout(1200)
    visit.expect(visit.page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "the page is wider than the window")


def check_zoom(visit):
    """The map of many tokens: zooming in shows fewer queries."""
    where = visit.page.locator("#where")
    whole = where.inner_text()
    tab_to(visit, "#map canvas")
    for key in ("+", "+", "ArrowDown", "ArrowRight"):
        visit.page.keyboard.press(key)
    visit.expect(where.inner_text() != whole, "the map does not zoom by keys")
    visit.picture("zoomed")
    visit.page.get_by_role("button", name="Whole map").click()
    visit.expect(where.inner_text() == whole, "the map does not return to its whole")
    visit.page.locator("#map canvas").click()
    visit.expect(where.inner_text() != whole, "the map does not zoom by a click")
    visit.page.get_by_role("button", name="Whole map").click()


def look_at(browser, file, look, folder):
    visit = Visit(browser, file, look, folder)
    if look == "print":
        visit.page.emulate_media(media="print")
        visit.expect(visit.page.locator(".panel:visible").count() == len(STEPS), "print does not show all steps")
        visit.page.pdf(path=folder / f"{file.stem}.pdf", print_background=True)
    else:
        if look == "light":
            walk_by_keyboard(visit)
            if visit.page.locator("#where").count():
                check_zoom(visit)
        check_steps(visit)
    visit.picture(look)
    visit.context.close()
    return visit.faults


def main():
    *files, folder = map(pathlib.Path, sys.argv[1:])
    if not files:
        sys.exit(__doc__)
    folder.mkdir(parents=True, exist_ok=True)
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    if not chromium:
        sys.exit("cannot find chromium")
    faults = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for file in files:
            found = [fault for look in LOOKS for fault in look_at(browser, file, look, folder)]
            print(f"{file.name}: {file.stat().st_size / 1024:.1f} KiB, {len(found)} faults")
            faults += found
        browser.close()
    print("\n".join(faults))
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
