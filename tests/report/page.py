"""The link map's page in a real browser, for a composition of three claims and one of more than 42."""
import json
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "e2e"))
import browser  # noqa: E402
import mixture  # noqa: E402
from support import ARCH, Skip, check, equal, main  # noqa: E402

SMALL = """
PIPELINK_BUFFER(tile, .bytes = 65536, .align = 1024);
PIPELINK_MBARRIERS(ready, .count = 2, .arrivals = 128);
PIPELINK_ROLE(run, .warps = 4, .registers = {24, 128})(pipelink::Self self) {
  tile.data<unsigned>(self)[run.thread(self)] = 1;
  pipelink::mbarrier::arrive(ready.address(self, 0));
}
"""
WIDTHS = (1280, 1000, 768, 400, 320)

# What the page's own geometry must keep to, read off the laid-out page.
LABELS = """JSON.stringify([...document.querySelectorAll('.memory .plot, .bars .plot, .pool')].flatMap(svg => {
  const shown = e => e.checkVisibility() && e.getBoundingClientRect().width > 0;
  const box = e => (r => [r.left, r.top, r.right, r.bottom])(e.getBoundingClientRect());
  const texts = [...svg.querySelectorAll('text')].filter(shown);
  const out = texts.map(t => {
    const fill = t.closest('.block')?.querySelector('rect.fill');
    return {text: t.textContent, box: box(t), within: fill ? box(fill) : null};
  });
  return [{svg: svg.className.baseVal, texts: out}];
}))"""
CONTRAST = """JSON.stringify((() => {
  const parse = c => (c.match(/[\\d.]+/g) || []).map(Number);
  const light = ([r, g, b]) => { const f = v => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
    return 0.2126 * f(r) + 0.7152 * f(g) + 0.0722 * f(b); };
  const ratio = (a, b) => { const [x, y] = [light(a), light(b)].sort((p, q) => q - p); return (x + 0.05) / (y + 0.05); };
  const behind = e => { for (; e; e = e.parentElement) { const c = parse(getComputedStyle(e).backgroundColor);
    if (c.length === 3 || (c.length === 4 && c[3] > 0)) return c; } return [255, 255, 255]; };
  const bad = [];
  for (const e of document.querySelectorAll('body *')) {
    const own = [...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim());
    if (!own || !e.checkVisibility() || ['SCRIPT', 'STYLE', 'title', 'desc'].includes(e.tagName)) continue;
    const svg = e instanceof SVGElement, style = getComputedStyle(e);
    const fill = svg && e.closest('.block, .node, .stages') ? e.closest('.block, .node')?.querySelector('.fill') : null;
    const back = fill ? parse(getComputedStyle(fill).fill) : behind(e);
    const ratio_ = ratio(parse(svg ? style.fill : style.color), back);
    if (ratio_ < 4.5) bad.push([e.tagName, e.getAttribute('class'), e.textContent.trim().slice(0, 30), ratio_.toFixed(2)]);
  }
  return bad;
})())"""
STRUCTURE = """JSON.stringify({
  language: document.documentElement.lang,
  main: document.querySelectorAll('main').length,
  headings: [...document.querySelectorAll('h1,h2,h3,h4')].map(h => Number(h.tagName[1])),
  unnamed: [...document.querySelectorAll('svg')].filter(s => !s.closest('[aria-hidden=true]') && !s.parentElement.closest('svg')
    && !s.querySelector(':scope > title')).length,
  headless: [...document.querySelectorAll('table')].filter(t => !t.querySelector('thead th[scope=col]')).length,
  unlabelled: [...document.querySelectorAll('section, nav, [role=region]')].filter(e => !e.ariaLabel && !e.getAttribute('aria-labelledby')).length,
  silent: [...document.querySelectorAll('a')].filter(a => !a.textContent.trim()).length,
})"""
PAINT = """new Promise(done => { new PerformanceObserver(list => {
  const paint = list.getEntriesByName('first-contentful-paint')[0];
  if (paint) done(paint.startTime); // a list may hold only the first paint, of the background
}).observe({type: 'paint', buffered: true}); setTimeout(() => done(-1), 20000); })"""


def path():
    found = browser.find()
    if not found:
        raise Skip("there is no Chromium (one of " + ", ".join(browser.NAMES) + "); ci/setup installs chromium-headless-shell")
    return found


def small(tools):
    return tools.linked("small", [tools.package("part", source=SMALL)])


def render(tools, linked, name=None):
    """The page of a link, made twice."""
    page = linked.folder / f"{name or linked.name}.{ARCH}.html"
    text = linked.folder / f"{linked.name}.{ARCH}.map.json"
    done = tools.must("inspect", text, "--html", page)
    equal(done.out + done.err, "", "what inspect --html says")
    first = page.read_bytes()
    page.unlink()
    tools.must("inspect", text, "--html", page)
    check(page.read_bytes() == first, "two pages of one map differ")
    return page


def pages(tools):
    links = small(tools), mixture.link(tools)
    counts = [sum(len(l.placement[k]) for k in ("shared", "rings", "named_barriers", "roles")) for l in links]
    equal(counts[0], 3, "claims of the small composition")
    check(counts[1] >= 42, f"the large composition has only {counts[1]} claims")
    return [render(tools, l) for l in links]


def opens(tools):
    """Small, quiet and quick; complete without its script; the same width as the window, whatever that is."""
    where, found = path(), pages(tools)
    with browser.Browser(where) as page:
        for file in found:
            check(file.stat().st_size < 1_000_000, f"{file.name} has {file.stat().st_size} bytes")
            paints = []
            for _ in range(3):
                page.open(file)
                paints.append(page.value(PAINT))
            check(0 < min(paints) < 1000, f"first paint of {file.name} after {paints} ms")
            text = page.value("document.body.innerText")
            page.open(file, scripts=False)
            page.call("Emulation.setScriptExecutionDisabled", value=False)
            check(page.value("document.body.innerText") == text, f"{file.name} reads differently without its script")
            for width in WIDTHS:
                for dark in (False, True):
                    page.open(file, width=width, dark=dark)
                    equal(page.value("document.documentElement.scrollWidth"), width, f"width of {file.name} in a window of {width}")
        equal(page.problems, [], "what the console said")


def squeezed(tools, linked):
    """The same map with the least registers for each role: bars too low for an upright name."""
    text = json.loads(linked.map_bytes)
    placement = text["placement"]
    placement["warpgroup_registers"] = [24] * len(placement["warpgroup_registers"])
    for role in placement["roles"]:
        role["registers"] = 24
    file, page = linked.folder / "squeezed.map.json", linked.folder / "squeezed.html"
    file.write_text(json.dumps(text))
    tools.must("inspect", file, "--html", page)
    return page


def overlap(a, b):
    return min(a[2], b[2]) - max(a[0], b[0]) > 0.5 and min(a[3], b[3]) - max(a[1], b[1]) > 0.5


def legible(tools):
    """No label runs out of its block or into another one; all text stands out from what is behind it."""
    where, found = path(), pages(tools)
    found.append(squeezed(tools, mixture.link(tools)))
    with browser.Browser(where) as page:
        for file in found:
            for width in WIDTHS:
                page.open(file, width=width)
                drawings = json.loads(page.value(LABELS))
                check(len(drawings) == 3, f"{file.name} has {len(drawings)} drawings with labels")
                for drawing in drawings:
                    for n, label in enumerate(drawing["texts"]):
                        what = f"{label['text']!r} of {drawing['svg']} in {file.name}, {width} wide"
                        if label["within"]:
                            (l, t, r, b), (left, top, right, bottom) = label["box"], label["within"]
                            check(l >= left - 1 and r <= right + 1 and t >= top - 2 and b <= bottom + 2,
                                  f"{what} runs out of its block: {label}")
                        for other in drawing["texts"][:n]:
                            check(not overlap(label["box"], other["box"]), f"{what} runs into {other['text']!r}")
            for dark in (False, True):
                page.open(file, dark=dark)
                equal(json.loads(page.value(CONTRAST)), [], f"text too faint in {file.name}, dark: {dark}")
            equal(page.value("getComputedStyle(document.body).backgroundColor === 'rgb(20, 22, 26)'"), True, "a dark ground")


def keyboard(tools):
    """Tab reaches everything that can be followed or scrolled, in the order of the page, and shows where it is."""
    where, found = path(), pages(tools)
    with browser.Browser(where) as page:
        for file in found:
            page.open(file)
            order = """[...document.querySelectorAll('a[href], [tabindex="0"]')].filter(e => e.checkVisibility())"""
            page.value(f"window.order = {order}; window.seen = []; window.blind = [];"
                       "document.addEventListener('focusin', e => { seen.push(order.indexOf(e.target)); const s = getComputedStyle(e.target);"
                       " const f = e.target.querySelector('rect.fill'), t = e.target.querySelector('text');"
                       " const marked = s.outlineStyle !== 'none' || (f && parseFloat(getComputedStyle(f).strokeWidth) >= 2.5)"
                       " || (t && getComputedStyle(t).textDecorationLine === 'underline');"
                       " if (!marked) blind.push(e.target.outerHTML.slice(0, 80)); });")
            count = page.value("order.length")
            for _ in range(count):
                page.press("Tab", 9)
            equal(page.value("JSON.stringify(seen)"), json.dumps(list(range(count)), separators=(",", ":")), f"tab order of {file.name}")
            equal(page.value("JSON.stringify(blind)"), "[]", f"focus that does not show in {file.name}")
            # The skip link leads to the map, a block to its row; pointing at it says what it is.
            page.open(file)
            page.press("Tab", 9)
            equal(page.value("document.activeElement.textContent"), "Skip to the link map", "the first stop")
            page.press("Enter", 13)
            equal(page.value("location.hash"), "#main", "where it leads")
            page.value("document.querySelector('a.block').focus()")
            check("B at" in page.value("document.querySelector('.readout').textContent"), "the readout does not say what has the focus")
            page.press("Enter", 13)
            equal(page.value("document.querySelector('tr:target').dataset.claim"), page.value("location.hash.slice(1)"), "the row of a block")


def accessible(tools):
    where, found = path(), pages(tools)
    with browser.Browser(where) as page:
        for file in found:
            page.open(file)
            made = json.loads(page.value(STRUCTURE))
            levels = made.pop("headings")
            equal(made, {"language": "en", "main": 1, "unnamed": 0, "headless": 0, "unlabelled": 0, "silent": 0}, f"structure of {file.name}")
            equal(levels.count(1), 1, "headings of the first level")
            check(all(b <= a + 1 for a, b in zip(levels, levels[1:])), f"heading levels skip: {levels}")


def printed(tools):
    """On paper nothing scrolls, so nothing may be cut off."""
    where, found = path(), pages(tools)
    with browser.Browser(where) as page:
        for file in found:
            page.open(file, width=700, medium="print", dark=True)
            equal(page.value("getComputedStyle(document.body).color"), "rgb(29, 31, 35)", "ink on paper")
            equal(page.value("""JSON.stringify([...document.querySelectorAll('.scroll, table, .plot, svg.stages')]
                .filter(e => e.getBoundingClientRect().right > innerWidth + 1).map(e => e.outerHTML.slice(0, 90)))"""), "[]",
                  f"what {file.name} loses on paper")
            target = file.with_suffix(".pdf")
            page.pdf(target)
            check(target.read_bytes().startswith(b"%PDF") and target.stat().st_size > 20_000, f"{target.name} is no print")


def untrusted(tools):
    """Names that are code elsewhere are text here: nothing runs, nothing is fetched."""
    where, linked = path(), mixture.link(tools)
    attack = "<script>window.hacked=1</script>\"'><img src=x onerror='window.hacked=1'></style></svg>"
    text = json.loads(linked.map_bytes)

    def spoil(value):
        if isinstance(value, dict):
            return {k: v if k in ("of", "kind") else spoil(v) for k, v in value.items()}
        if isinstance(value, list):
            return [spoil(v) for v in value]
        return value + attack if isinstance(value, str) else value

    file, out = linked.folder / "spoiled.map.json", linked.folder / "spoiled.html"
    file.write_text(json.dumps(spoil(text)))
    tools.must("inspect", file, "--html", out)
    with browser.Browser(where) as page:
        page.open(out)
        time.sleep(0.2)
        equal(page.value("[window.hacked ?? 0, document.images.length, document.scripts.length].join()"), "0,0,1", "what ran")
        check(attack in page.value("document.title"), "the name is not what it was")
        equal(page.problems, [], "what the console said")


def refused(tools):
    """No page of what is no map, and none half-written; a page needs a map."""
    folder = tools.work / "refused"
    folder.mkdir()
    bad, out = folder / "bad.map.json", folder / "bad.html"
    bad.write_text('{"schema": 1, "placement": {}}')
    done = tools.tool("inspect", bad, "--html", out)
    equal(done.status, 2, f"status of {done}")
    check("error[I-JSON]: bad.map.json is no link map" in done.err and "name is missing" in done.err, f"the message is not clear: {done.err}")
    check(not out.exists(), "a page was written all the same")
    done = tools.tool("inspect", tools.package("part", source=SMALL), "--html", out)
    equal((done.status, done.err), (2, f"error[U-USAGE]: --html is for a link map, and part.{ARCH}.plk is none\n"
                                       "  = help: of a package, inspect shows the contract: leave --html out, or use --json\n"), "a package has no page")
    composition = folder / "pair.json"
    composition.write_text('{"schema": 1, "name": "pair", "arch": "sm_90a", "components": []}')
    done = tools.tool("inspect", composition)
    equal((done.status, done.err), (2, "error[I-JSON]: pair.json is no link map\n  = reason: it is a composition\n  = help: the link map is "
                                       "NAME.ARCH.map.json, which a link writes; `pipelink check` places a composition\n"), "a composition is no map")
    bad = folder / "map.txt"
    bad.write_text("{")
    done = tools.tool("inspect", bad, "--html", out)
    check(done.status == 2 and "error[I-JSON]: map.txt is no link map" in done.err, f"a broken map of another name: {done}")
    good = small(tools)
    done = tools.tool("inspect", good.folder / f"small.{ARCH}.map.json", "--html", folder)
    check(done.status == 2 and "error[I-WRITE]" in done.err, f"a folder is no page: {done}")


if __name__ == "__main__":
    sys.exit(main({f.__name__: f for f in (opens, legible, keyboard, accessible, printed, untrusted, refused)}, __doc__))
