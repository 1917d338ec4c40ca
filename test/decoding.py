# SPDX-License-Identifier: MIT
# Functions that the tests of the console and of the decoder page share: counting, the command, and the drawing of an ID.
import json
import os
import subprocess
import sys

SAMPLES = ("541815603606036480", "0192f0c8-d1e3-7a55-9e37-79b97f4a7c15", "01ARZ3NDEKTSV4RRFFQ69G5FAV",
           "507f1f77bcf86cd799439011", "0ujtsYcgvSTl8PAuAdqWYSMnLOv", "c232ab00-9414-11ec-b3c8-9f6bdeced846",
           "00000000-0000-0000-0000-000000000000")

checks = failures = 0


def check(sentence, good, why=""):
    global checks, failures
    checks += 1
    if not good:
        failures += 1
    print("%s %d - %s" % ("ok" if good else "not ok", checks, sentence))
    if not good and why != "":
        print("\n".join("# " + line for line in str(why)[:2000].split("\n")))
    sys.stdout.flush()


def same(sentence, expected, found):
    check(sentence, expected == found, "expected: %s\nfound:    %s" % (expected, found))


def firn(*words):
    return subprocess.run([sys.argv[2], *words], check=True, capture_output=True, text=True, timeout=30).stdout


def shown(id):
    """The command's reading; a number is read as its most frequent scheme, which `choose` chooses in the page."""
    done = subprocess.run([sys.argv[2], "show", "--json", "--all", id], capture_output=True, text=True, timeout=30)
    best = json.loads(done.stdout)
    if best["sure"] != "possible":
        return best
    named = json.loads(firn("show", "--json", "--scheme", best["candidates"][0], id))
    return {**named, "candidates": best["candidates"], "readings": best["readings"]}


def choose(browser, id):
    """A number shows no scheme: the page lists those that are possible, as the command does."""
    readings = shown(id).get("readings", [])
    if not readings:
        return
    browser.until("!document.querySelector('#possible').hidden && document.querySelector('#reading').hidden")
    same("%s may be what `firn show` lists" % id,
         [[one["scheme"] or one["format"], one["time"], one["owner"]] for one in readings if one["owner"]],
         browser.evaluate("[...document.querySelectorAll('#possible-list tr')].map((row) => [...row.cells].map((cell) => cell.textContent))"))
    browser.evaluate("document.querySelector('#possible-list button').click()")
    browser.until("!document.querySelector('#reading').hidden && document.querySelector('#possible').hidden")


DRAWN = """({
    digits: [...document.querySelectorAll('#bits b')].map((cell) => cell.textContent).join(''),
    slices: [...document.querySelectorAll('#bits .slice')].map((piece) =>
        [piece.dataset.field, piece.tagName === 'BUTTON', piece.querySelectorAll('b').length]),
    legend: Object.fromEntries([...document.querySelectorAll('#legend tbody tr')].map((row) =>
        [row.dataset.field, row.cells[1].textContent])),
    tones: [...document.querySelectorAll('#legend .swatch')].map((one) => one.className),
    scheme: document.querySelector('#read-scheme').textContent,
    time: document.querySelector('#times').hidden ? null : document.querySelector('#time-utc').textContent,
    candidates: [...document.querySelectorAll('#candidates button')].map((button) => button.textContent),
})"""


def slices_drawn(pieces):
    """The parts of a slice that continues on the next line count once."""
    slices = []
    for field, begins, width in pieces:
        if begins:
            slices.append([field, width])
        else:
            slices[-1][1] += width
    return slices


def check_drawing(browser, schemes, id, scheme=None):
    if scheme:
        browser.until("document.querySelector('#read-scheme').textContent === '%s'" % scheme)
    drawn = browser.evaluate(DRAWN)
    words = ["--scheme", drawn["scheme"], id]
    shown = json.loads(firn("show", "--json", *words))
    digits = firn("convert", "--to", "bin", *words).strip()
    row = schemes[shown["scheme"]]
    fields = {name: str(value) for name, value in shown["fields"].items()}
    legend = {name: value for name, value in drawn["legend"].items() if name in fields}
    slices = [[one["name"] or "fixed", one["bits"]] for one in row["slices"]]
    right = (drawn["digits"] == digits and slices_drawn(drawn["slices"]) == slices and legend == fields
             and drawn["time"] == shown["time"])
    check("%s is drawn as `firn show` reads it, as %s" % (id, drawn["scheme"]), right, "%s\n%s\n%s" % (drawn, shown, digits))
    return drawn


def check_forms(browser, id, scheme):
    """Other forms as `firn convert` writes them, and the bounds of the day as `firn range` does."""
    found = browser.evaluate("Object.fromEntries([...document.querySelectorAll('#forms tr')].map((row) =>"
                             "[row.cells[0].textContent, row.cells[1].textContent]))")
    wrong = {form: text for form, text in found.items() if not form.startswith("as ") and text !=
             firn("convert", "--scheme", scheme, "--to", form, id).strip()}
    check("%s has the forms of `firn convert`" % id, len(found) > 3 and not wrong, (found, wrong))
    if browser.sees("#span"):
        days = browser.evaluate("['from', 'to'].map((end) => document.querySelector('#span-' + end).value)")
        ids = browser.evaluate("[...document.querySelectorAll('#span-ids td.mono')].map((one) => one.textContent)")
        same("its day %s has the bounds of `firn range`" % days[0], firn("range", scheme, *days).split(), ids)


def finish():
    print("1..%d" % checks)
    return failures > 0


# The lowest contrast of any visible text with its background, and the element that has it.
CONTRAST = """(() => {
    const context = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
    const colour = (text) => { context.clearRect(0, 0, 1, 1); context.fillStyle = text; context.fillRect(0, 0, 1, 1);
        return [...context.getImageData(0, 0, 1, 1).data]; };
    const light = (c) => c.slice(0, 3).map((v) => v / 255).map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
        .reduce((all, v, i) => all + v * [0.2126, 0.7152, 0.0722][i], 0);
    const background = (element) => { for (let at = element; at; at = at.parentElement) {
        const c = colour(getComputedStyle(at).backgroundColor); if (c[3] === 255) return c; } return [255, 255, 255, 255]; };
    let least = [99, ''];
    const judge = (element, text, what) => {
        const a = light(colour(text)), b = light(background(element));
        const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
        if (ratio < least[0]) least = [ratio, what];
    };
    let texts = 0;
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        const element = node.parentElement;
        if (!node.data.trim() || !element.checkVisibility() || element.closest('option, noscript, .hidden')) continue;
        texts++;
        judge(element, getComputedStyle(element).color, element.className + ' ' + node.data.trim());
    }
    for (const input of document.querySelectorAll('input, select')) {
        if (!input.checkVisibility()) continue;
        judge(input, getComputedStyle(input).color, '#' + input.id);
        if (input.placeholder) judge(input, getComputedStyle(input, '::placeholder').color, 'placeholder of #' + input.id);
    }
    return [...least, texts];
})()"""
