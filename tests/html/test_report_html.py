#!/usr/bin/env python3
"""The HTML report in a headless Chromium: no console error, nothing loaded, filter, sort, hover and links work, and a
hostile name stays text.

    test_report_html.py PROGRAM [CSV [SCREENSHOTS]]

TAP; exit status 77 when there is no Chromium. With CSV (the paper's turns) screenshots are taken into a folder.
"""
import json
import os
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from browser import Browser  # noqa: E402  (beside this file)

EVIL = "<img src=x onerror=\"console.error('owned')\">'\"</script><script>console.error('owned')</script>"
checks = failures = 0


def check(name, got, wanted):
    global checks, failures
    checks += 1
    failures += got != wanted
    print(f"{'ok' if got == wanted else 'not ok'} {checks} - {name}")
    if got != wanted:
        print(f"#   got:    {got!r}\n#   wanted: {wanted!r}")


def make_run(folder):
    """Two models on two definitions, three trajectories of four turns; kernels and verdicts of one model."""
    os.makedirs(folder)
    with open(folder + "/run.json", "w", encoding="utf-8") as file:
        json.dump({"schema": "ptxbench.run.v1"}, file)
    with open(folder + "/turns.jsonl", "w", encoding="utf-8") as file:
        for m, model in enumerate(["plain", EVIL]):
            for definition in ("gemm", "mha"):
                for t in range(3):
                    name = f"{definition} {m} {t}"
                    for turn in range(4):
                        place = f"{folder}/trajectories/{name}/turn_{turn}"
                        os.makedirs(place)
                        if m == 0:
                            open(place + "/kernel.cu", "w", encoding="utf-8").write("// kernel\n")
                            open(place + "/verdict.json", "w", encoding="utf-8").write("{}\n")
                        outcome = ["compile", "runtime", "hang", "numerical"][(m + t + turn) % 4]
                        json.dump({"schema": "ptxbench.turn.v1", "model": model, "run": "r", "trajectory": name,
                                   "turn": turn, "planned_turns": 4, "outcome": outcome, "definition": definition,
                                   "arch": "sm_90a", "reasoning_tokens": 100 * (m + 1) * (turn + 1)}, file)
                        file.write("\n")
                    open(f"{folder}/trajectories/{name}/events.jsonl", "w", encoding="utf-8").write('{"no": "turn"}\n')


def write_report(program, *arguments):
    import subprocess

    subprocess.run([program, "report", *arguments], check=True, stderr=subprocess.DEVNULL)


def column(page, table, number):
    return page.evaluate(
        f"[...document.querySelectorAll('#{table} tbody tr')].filter(r => !r.hidden)"
        f".map(r => r.cells[{number}].dataset.v ?? r.cells[{number}].textContent)")


def check_hostile(page, program, work):
    make_run(work + "/run")
    write_report(program, work + "/run", "--turns", "1,4", "--format", "html", "--out", work + "/run.html")
    page.open("file://" + work + "/run.html")
    check("the page is drawn", page.evaluate("document.body.dataset.ready"), "yes")
    check("a hostile name makes no element", page.evaluate("document.images.length + document.scripts.length"), 2)
    check("but is shown", page.evaluate("[...document.querySelectorAll('#models label')].map(l => l.textContent.trim())"),
          [EVIL, "plain"])
    link = "[...document.querySelectorAll('#turns a')].map(a => a.getAttribute('href'))"
    check("no links where the run has no files", page.evaluate(link), [])
    page.evaluate("(() => { const s = document.getElementById('turn-series'); "
                  "s.value = [...s.options].find(o => o.textContent.includes('plain · gemm')).value; "
                  "s.dispatchEvent(new Event('change')); })()")
    links = page.evaluate(link)
    check("a link to code and verdict for each turn", len(links), 24)
    check("relative to the page", links[:2], ["./run/trajectories/gemm%200%200/turn_0/kernel.cu",
                                              "./run/trajectories/gemm%200%200/turn_0/verdict.json"])
    check("and to files that are there", os.path.exists(os.path.join(work, links[0].replace("%20", " "))), True)


def check_sorting(page):
    before = column(page, "table-cost", 1)
    page.evaluate("document.querySelectorAll('#table-cost th button')[1].click()")
    check("a click sorts text upwards", column(page, "table-cost", 1), sorted(before))
    page.evaluate("document.querySelectorAll('#table-cost th button')[1].click()")
    check("a second one downwards", column(page, "table-cost", 1), sorted(before, reverse=True))
    page.evaluate("document.querySelectorAll('#table-cost th button')[6].click()")
    values = [float(v) for v in column(page, "table-cost", 6)]
    check("numbers begin with the largest", values, sorted(values, reverse=True))
    check("the order is told", page.evaluate("document.querySelectorAll('#table-cost th')[6].ariaSort"), "descending")


def check_filter(page):
    page.evaluate("(() => { const t = document.getElementById('text'); t.value = 'PLAIN'; "
                  "t.dispatchEvent(new Event('input')); })()")
    check("a text filters rows", column(page, "table-cost", 1), ["plain"])
    check("and charts", page.evaluate("document.querySelectorAll('#outcomes svg').length"), 1)
    check("and is counted", page.evaluate("document.getElementById('count').textContent"), "2 of 4 series")
    page.evaluate("(() => { const t = document.getElementById('text'); t.value = ''; "
                  "t.dispatchEvent(new Event('input')); })()")
    page.evaluate("[...document.querySelectorAll('#models input')].find(b => b.value === 'plain').click()")
    check("a model can be left out", column(page, "table-cost", 1), [EVIL])
    page.evaluate("document.getElementById('models-all').click()")
    check("and all shown again", len(column(page, "table-cost", 1)), 2)
    page.evaluate("(() => { const d = document.getElementById('definition'); d.value = 'mha'; "
                  "d.dispatchEvent(new Event('change')); })()")
    check("a definition filters", page.evaluate("document.getElementById('count').textContent"), "2 of 4 series")
    page.evaluate("(() => { const d = document.getElementById('definition'); d.value = ''; "
                  "d.dispatchEvent(new Event('change')); })()")


def check_hover(page):
    page.evaluate("document.querySelector('#outcomes rect').scrollIntoView({block: 'center'})")
    x, y = page.evaluate("(() => { const b = document.querySelector('#outcomes rect').getBoundingClientRect(); "
                         "return [b.x + b.width / 2, b.y + b.height / 2]; })()")
    page.mouse(x, y)
    text = page.evaluate("getComputedStyle(document.getElementById('tip')).display === 'block' && "
                         "document.getElementById('tip').textContent")
    check("hovering a bar tells its count", isinstance(text, str) and "of 6 turns" in text, True)


def check_comparison(page, program, work):
    write_report(program, "diff", work + "/run@plain", work + "/run@plain", "--turns", "4", "--format", "html", "--out",
                 work + "/diff.html")
    page.open("file://" + work + "/diff.html")
    check("a comparison is a page, too", page.evaluate("document.body.dataset.ready"), "yes")
    check("of one table", page.evaluate("document.querySelectorAll('table').length"), 1)
    check("without charts", page.evaluate("document.getElementById('fastp').checkVisibility()"), False)


def take_screenshots(page, program, csv, work, folder):
    write_report(program, csv, "--keep-infrastructure", "--format", "html", "--out", work + "/paper.html")
    page.open("file://" + work + "/paper.html")
    check("the paper's page is drawn", page.evaluate("document.body.dataset.ready"), "yes")
    check("every series is there", page.evaluate("document.getElementById('count').textContent"), "105 of 105 series")
    page.evaluate("(() => { const a = document.getElementById('arch'); a.value = 'Hopper'; "
                  "a.dispatchEvent(new Event('change')); })()")
    page.evaluate("for (const b of document.querySelectorAll('#models input')) if (/-s|\\+/.test(b.value)) b.click()")
    page.mouse(420, 420)
    os.makedirs(folder, exist_ok=True)
    page.screenshot(folder + "/report-curves.png", (0, 0, 1200, 760))
    for name, anchor, height in (("outcomes", "outcomes", 480), ("turns", "turns", 420), ("tables", "table-cost", 330)):
        top = page.evaluate(f"document.getElementById('{anchor}').getBoundingClientRect().top + scrollY")
        page.screenshot(f"{folder}/report-{name}.png", (0, max(0, top - 60), 1200, height))


def main():
    program = os.path.abspath(sys.argv[1])
    chromium = next((p for p in ("chromium", "chromium-browser", "google-chrome") if shutil.which(p)), None)
    if not chromium:
        print("1..0 # SKIP no chromium (Debian: apt-get install chromium)")
        return 77
    work = tempfile.mkdtemp(prefix="ptxbench-html.")
    try:
        with Browser(chromium) as page:
            page.size(1200, 900)
            check_hostile(page, program, work)
            check_sorting(page)
            check_filter(page)
            check_hover(page)
            check_comparison(page, program, work)
            if len(sys.argv) > 3:
                take_screenshots(page, program, sys.argv[2], work, sys.argv[3])
            check("no console error, nothing loaded from elsewhere", page.problems, [])
    finally:
        shutil.rmtree(work, ignore_errors=True)
    print(f"1..{checks}")
    return failures > 0


sys.exit(main())
