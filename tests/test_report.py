"""The report in a real browser: what is drawn, what it asks for, how it looks on a phone and on paper."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import airfair
import numpy as np
import pytest
from airfair import Scenario, experiment, network, quantities, report
from airfair.plots import seeds as over_seeds
from airfair.report import pictures
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.image import imread

from tests import browser
from tests.support import CATEGORIES, SCENARIOS, SHORT, THREE_PAIRS, json_of
from tests.support import airfair as command

NASTY = """
name = "<script>alert(1)</script> & 'q'"
description = "</style></title><img src='http://192.0.2.1/x.png' onerror=alert(1)><script src=x.js></script>"
duration = "2 s"
[radio]
standard = "802.11b"
data_rate = "11 Mbit/s"
propagation = { model = "two-ray", range = "250 m", carrier_sense = "550 m" }
[[node]]
id = "<b>a"
position = ["0 m", "0 m"]
[[node]]
id = "$\\\\frac$ {{ 7 * 7 }} &amp;"
position = ["100 m", "0 m"]
[[node]]
id = "far"
position = ["9000 m", "0 m"]
[[flow]]
id = "<i>f"
from = "<b>a"
to = "$\\\\frac$ {{ 7 * 7 }} &amp;"
traffic = { kind = "saturating", packet = "1000 B" }
[[flow]]
id = "_lost"
from = "<b>a"
to = "far"
traffic = { kind = "saturating", packet = "1000 B" }
"""

PICTURES = ["network", "flows", "differences", "fairness", "time-0", "time-1", "drops", "channel"]

DRAWN = """[...document.querySelectorAll('.picture')].map(picture => {
  const boxes = [...picture.querySelectorAll('path, use, text')]
    .filter(e => !e.closest('defs, pattern, clipPath')).map(e => e.getBoundingClientRect());
  const box = picture.querySelector('svg').getBoundingClientRect();
  return {id: picture.id, width: box.width, height: box.height, words: picture.getAttribute('aria-label'),
          drawn: boxes.filter(b => b.width + b.height > 0).length,
          cut: boxes.filter(b => b.right > box.right + 2 || b.left < box.left - 2).length};
})"""

REFERENCES = r"""[...document.querySelectorAll('.picture *')].flatMap(e => [...e.attributes].flatMap(a => {
  const inner = [...a.value.matchAll(/url\(#(.*?)\)/g)].map(m => m[1]);
  return a.name.endsWith('href') ? [...inner, a.value.slice(1)] : inner;
}))"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("report")


@pytest.fixture(scope="module")
def pairs(folder: Path) -> Path:
    """A report of three pairs, shorter than usual, by the command line."""
    file = folder / "out" / "pairs.html"
    options = ("--schemes", "droptail,red", "--seeds", "3", "--set", "duration=8 s", "--set", "warmup=1 s")
    done = command("compare", THREE_PAIRS, *options, "--report", file)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith(f"\nreport: {file}\n")
    assert [path.name for path in file.parent.iterdir()] == ["pairs.html"], "nothing half-written is left"
    return file


@pytest.fixture(scope="module")
def page() -> Iterator[browser.Page]:
    if browser.PROGRAM is None:
        pytest.skip("needs the browser chromium: apt-get install chromium")
    with browser.page() as opened:
        yield opened


@pytest.fixture
def seen(page: browser.Page) -> browser.Page:
    """The page, with nothing to complain about yet."""
    page.complaints.clear()
    page.requests.clear()
    return page


def colours(png: bytes) -> int:
    """How many different colours an image has."""
    image = imread(io.BytesIO(png))
    return len(np.unique(image.reshape(-1, image.shape[-1]), axis=0))


CUT = """
(() => {
  document.querySelectorAll('details').forEach(part => part.open = true);
  const cut = [...document.querySelectorAll('.scroll, pre')].filter(
    box => box.scrollWidth > box.clientWidth + 1);
  document.querySelectorAll('details').forEach(part => part.open = false);
  return cut.map(box => [box.closest('section').id, box.scrollWidth, box.clientWidth]);
})()
"""
"""Boxes whose content is wider than they are."""

CELLS = "[...document.querySelectorAll('.cards td')].map(cell => cell.getBoundingClientRect().height)"
"""Heights of the cells of tables with many numbers."""


@pytest.mark.parametrize(("width", "height"), [(360, 740), (390, 844), (1280, 900)])
def test_every_picture_is_drawn(seen: browser.Page, pairs: Path, width: int, height: int) -> None:
    seen.open(pairs, width, height)
    pictures = seen.value(DRAWN)
    assert [picture["id"] for picture in pictures] == PICTURES
    for picture in pictures:
        assert picture["width"] > 0.8 * min(width, 500)
        assert picture["height"] > 60
        assert picture["drawn"] > 20
        assert picture["cut"] == 0
        assert len(picture["words"]) > 30
    assert seen.value("document.documentElement.scrollWidth") <= width, "nothing is wider than the screen"
    assert seen.value(CUT) == [], "no table and no command is cut at the edge of its box"
    assert seen.value("innerWidth") == width
    if width < 480:
        heights = seen.value(CELLS)
        assert len(heights) > 50
        assert max(heights) < 36, "a number stands on one line"
    letters = seen.value(
        "Math.min(...[...document.querySelectorAll('svg text')].map(e => e.getBoundingClientRect().height))"
    )
    assert letters > 8, "letters that can be read"
    assert colours(seen.screenshot()) > 100
    assert colours(seen.screenshot(whole=True)) > 200
    assert seen.complaints == []
    assert set(seen.requests) == {pairs.resolve().as_uri()}


def test_pictures_do_not_share_ids(seen: browser.Page, pairs: Path) -> None:
    seen.open(pairs, 1280, 900)
    ids = seen.value("[...document.querySelectorAll('[id]')].map(e => e.id)")
    assert len(ids) == len(set(ids)) > 50
    references = seen.value(REFERENCES)
    assert len(references) > 50
    assert set(references) <= set(ids)
    assert (
        seen.value("document.querySelectorAll('svg style, script, link[rel=stylesheet], iframe').length") == 0
    )


def test_the_numbers_are_those_of_the_comparison(seen: browser.Page, pairs: Path) -> None:
    options = ("--set", "duration=8 s", "--set", "warmup=1 s")
    rows = json_of("compare", THREE_PAIRS, "--schemes", "droptail,red", "--seeds", "3", *options)
    seen.open(pairs, 1280, 900)
    cells = seen.value("[...document.querySelectorAll('section table td')].map(e => e.innerText.trim())")
    for row in rows:
        assert quantities.number_of(row["jain_index"], 3) in cells
        for flow in row["flows"]:
            assert quantities.rate_of(flow["goodput_bps"]) in cells
    change = quantities.rate_of(rows[1]["difference"]["aggregate_goodput_bps"], sign=True)
    assert change.replace("-", "\N{MINUS SIGN}") in cells
    text = seen.value("document.body.textContent")
    for told in (
        "3 seeds, 1 to 3",
        "Airfair 0.",
        "airfair compare three-pairs.toml --schemes droptail,red --seeds 3 --seed-from 1",
        f"--report {pairs}",
    ):
        assert told in text
    resolved = seen.value("[...document.querySelectorAll('pre')].at(-1).textContent")
    again = Scenario.parse(resolved)
    assert airfair.compare(again, schemes=["droptail"], seeds=[1, 2, 3])[0]["flows"] == rows[0]["flows"]


def test_paper_and_darkness(seen: browser.Page, pairs: Path) -> None:
    seen.open(pairs, 1280, 900)
    pdf = seen.pdf()
    assert pdf.startswith(b"%PDF-")
    assert 2 <= len(re.findall(rb"/Type\s*/Page\b", pdf)) <= 6
    background = "getComputedStyle(document.body).backgroundColor"
    light = seen.value(background)
    seen.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])
    assert seen.value(background) != light
    assert (
        seen.value("getComputedStyle(document.querySelector('.picture')).backgroundColor")
        == "rgb(255, 255, 255)"
    )
    seen.call("Emulation.setEmulatedMedia", features=[])


def test_names_are_text(seen: browser.Page, folder: Path) -> None:
    """Whatever a scenario calls things, a page of it runs nothing and asks nobody."""
    scenario, file = folder / "nasty.toml", folder / "nasty.html"
    scenario.write_text(NASTY)
    done = command("run", scenario, "--report", file)
    assert done.returncode == 0, done.stderr
    seen.open(file, 390, 844)
    assert seen.value("document.querySelector('h1').innerText") == "<script>alert(1)</script> & 'q'"
    assert seen.value("document.title").startswith("<script>alert(1)</script>")
    assert seen.value("document.querySelectorAll('script, img, b, i').length") == 0
    text = seen.value("document.querySelector('main').textContent")
    assert "$\\frac$ {{ 7 * 7 }} &amp;" in text
    labels = seen.value("[...document.querySelectorAll('#network text')].map(e => e.textContent)")
    assert "$\\frac$ {{ 7 * 7 }} &amp;" in labels
    assert "no route" in seen.value("document.querySelector('.warnings').innerText")
    assert "One run" in text
    assert seen.complaints == []
    assert set(seen.requests) == {file.resolve().as_uri()}
    assert seen.value("document.documentElement.scrollWidth") <= 390


def test_the_browser_tells_what_is_wrong(seen: browser.Page, folder: Path) -> None:
    """The checks above can fail: a page with every fault, and its content security taken away."""
    file = folder / "faulty.html"
    file.write_text(
        "<meta name='viewport' content='width=device-width'><div style='width:900px'>wide</div>"
        "<script>console.error('told'); setTimeout(() => nothing(), 0)</script><img src='missing.png'>"
        "<div class='picture' id='empty' aria-label='nothing'><svg width='0' height='0'></svg></div>"
    )
    seen.open(file, 390, 844)
    seen.value("new Promise(done => setTimeout(done, 100))")
    assert any("told" in complaint for complaint in seen.complaints)
    assert any("nothing is not defined" in complaint for complaint in seen.complaints)
    assert any(request.endswith("missing.png") for request in seen.requests)
    assert seen.value("document.documentElement.scrollWidth") > 390
    (picture,) = seen.value(DRAWN)
    assert (picture["drawn"], picture["width"]) == (0, 0)


def test_the_page_is_small_and_alone(pairs: Path) -> None:
    text = pairs.read_text()
    assert len(text) < 700_000
    assert "default-src 'none'" in text
    addresses = set(re.findall(r"https?://[^\s\"'<>]+", text))
    assert addresses <= {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}


MANY = 300
"""Flows of a scenario, more than fit one by one into a picture."""


def test_every_flow_of_many_is_drawn() -> None:
    """Over time each has a line; of the bars and the table the page says which flows they have, and where the
    others are."""
    text = 'name = "many"\nduration = "2 s"\n[[node]]\nid = "a"\n[[node]]\nid = "b"\n'
    text += '[[link]]\nends = ["a", "b"]\nrate = "10 Mbit/s"\n'
    for i in range(MANY):
        traffic = f'{{ kind = "constant", packet = "100 B", rate = "{i + 1} kbit/s" }}'
        text += f'[[flow]]\nid = "f{i}"\nfrom = "a"\nto = "b"\ntraffic = {traffic}\n'
    scenario = Scenario.parse(text)
    done = experiment.repeat(scenario, schemes=["droptail"], seeds=[1], interval="100 ms")
    rows, first = json.loads(done.rows), json.loads(done.runs[0][0].result)
    lines: list[int] = []
    bands = over_seeds.goodput_bands

    def counted(*arguments: Any, **options: Any) -> Figure:  # noqa: ANN401 - those of the picture
        figure = bands(*arguments, **options)
        (others,) = [part for part in figure.axes[0].collections if isinstance(part, LineCollection)]
        lines.append(len(others.get_segments()) + len(arguments[1]))
        assert len(others.get_segments()[0]) == 2 * 20, "a step for each interval"
        return figure

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(over_seeds, "goodput_bands", counted)
        drawn = pictures.draw(network(scenario), rows, first, done)
    assert lines == [MANY]
    assert "time-0" in {picture.id for picture in drawn}
    page = report.page(scenario, done)
    note = (
        f"Of the {MANY} flows the 25 with the least and the 25 with the most goodput under droptail have "
        f"bars of their own; one bar is the mean of the other {MANY - 50}. The table has the 50 flows with "
        "the least goodput; <code>airfair compare</code> prints those of every flow with <code>--json</code>."
    )
    assert note in page
    assert f"mean of {MANY - 50} others" in page
    assert len(page) < 2_000_000


@pytest.mark.parametrize(
    ("overrides", "schemes"),
    [
        (["flow=[]"], ["droptail"]),
        (["duration=100 ms", "warmup=0 s", "flow.left.stop=50 ms"], ["droptail", "red", "codel"]),
        (["warmup=59500 ms", "flow.left.stop=2 s", "flow.middle.stop=2 s", "flow.right.stop=2 s"], ["red"]),
    ],
    ids=["no flows", "short", "nothing measured"],
)
def test_odd_runs_have_a_report_too(folder: Path, overrides: list[str], schemes: list[str]) -> None:
    scenario = Scenario.read(THREE_PAIRS, overrides)
    file = folder / "odd.html"
    rows = airfair.compare(scenario, schemes=schemes, seeds=[2, 7], report=file)
    text = file.read_text()
    assert [row["scheme"] for row in rows] == schemes
    assert "airfair.compare(&#39;three-pairs.toml&#39;" in text, "the seeds are not in a row"
    assert text.endswith("</html>")


def test_queue_differentials_have_a_table(folder: Path) -> None:
    """Means over the runs, of schemes that have differentials: one with levels, one without."""
    overrides = ["radio.categories=diffq", "duration=4 s", "warmup=1 s"]
    scenario = Scenario.read(SCENARIOS / "chain.toml", overrides)
    file = folder / "differentials.html"
    schemes = ["droptail", "diffq:paper", "diffq-rc"]
    airfair.compare(scenario, schemes=schemes, seeds=[1, 2, 3], report=file)
    section = re.search(r'<section id="differentials">.*?</section>', file.read_text(), re.DOTALL)
    assert section is not None
    head, *rows = [
        re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row) for row in re.findall("<tr>(.*)</tr>", section.group())
    ]
    hops = [f"{node} → {node + 1}" for node in range(5)]
    expected = [(hop, scheme) for hop in ["all", *hops] for scheme in schemes[1:]]
    assert [tuple(row[:2]) for row in rows] == expected
    runs = [airfair.run(scenario, scheme="diffq:paper", seed=seed) for seed in (1, 2, 3)]
    (at,) = [row for row in rows if row[:2] == ["1 → 2", "diffq:paper"]]
    of = [q["differentials"][0] for run in runs for q in run["queues"] if q["node"] == "1"]
    mean, ci95 = airfair._core.estimate([one["mean_packets"] for one in of])
    assert at[3] == quantities.number_of({"mean": mean, "ci95": ci95}, 1)
    shares = [np.mean([one["levels"][level] / one["packets"] for one in of]) for level in range(8)]
    for name, text in zip(head[4:], at[4:], strict=True):
        share = shares[int(name.removeprefix("level "))]
        assert text == ("0" if share == 0 else "&lt;0.1 %" if share < 0.0005 else f"{100 * share:.1f} %")
    assert all(set(row[4:]) == {"-"} for row in rows if row[1] == "diffq-rc")
    airfair.compare(scenario, schemes=["droptail"], seeds=[1], report=file)
    assert "ifferentials" not in file.read_text().partition("The scenario, every default")[0]


def test_what_a_controller_gave_has_a_table(folder: Path) -> None:
    """The rates and the clique of the first seed, and who inhibits a link."""
    scenario = Scenario.read(SCENARIOS / "inhibited-link.toml", ["duration=60 s", "warmup=40 s"])
    file = folder / "allocations.html"
    airfair.compare(scenario, schemes=["droptail", "c3l:paper"], seeds=[2, 3], report=file)
    section = re.search(r'<section id="allocations">.*?</section>', file.read_text(), re.DOTALL)
    assert section is not None
    rows = [
        re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row) for row in re.findall("<tr>(.*)</tr>", section.group())
    ]
    result = airfair.run(scenario, scheme="c3l:paper", seed=2)
    given = {of["flow"]: of for of in result["allocations"]}
    assert [link["src"] for link in given["inhibited"]["links"]] == ["1", "3"]
    assert given["inhibited"]["controller"] == result["controllers"][0]["node"]
    assert sorted(row[0] for row in rows[1:]) == sorted(given) == ["inhibited", "inhibitor"]
    for flow, scheme, rate, goodput, capacity, links, _ in rows[1:]:
        assert (scheme, rate) == ("c3l:paper", quantities.rate(given[flow]["rate_bps"]))
        of = next(of for of in result["flows"] if of["id"] == flow)
        assert goodput == quantities.rate(of["goodput_bps"])
        assert capacity == f"{given[flow]['capacity']:.2f}"
        assert links == "1 → 2 and 3 → 4"
    assert "c3l:paper: Link 1 to 2 is inhibited by 3, as the controller has found out" in section.group()
    assert "seed 2:" in section.group()
    airfair.compare(scenario, schemes=["droptail"], seeds=[1], report=file)
    assert 'id="allocations"' not in file.read_text()


def test_access_categories_have_a_table(folder: Path) -> None:
    scenario = Scenario.parse(CATEGORIES, "categories")
    file = folder / "categories.html"
    airfair.compare(scenario, schemes=["droptail", "fq-codel"], seeds=[1, 2, 3], report=file)
    section = re.search(r'<section id="categories">.*?</section>', file.read_text(), re.DOTALL)
    assert section is not None
    rows = [
        re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row) for row in re.findall("<tr>(.*)</tr>", section.group())
    ]
    assert [row[:3] for row in rows[1:3]] == [["a", "VO", "droptail"], ["a", "VO", "fq-codel"]]
    assert [row[1] for row in rows[1::2]] == ["VO", "BE", "BK", "BE"], "VI has sent nothing"
    runs = [airfair.run(scenario, scheme="fq-codel", seed=seed) for seed in (1, 2, 3)]
    counts = [run["stations"][0]["categories"][0] for run in runs]
    waits = [q["mean_wait_s"] for run in runs for q in run["queues"] if q["towards"] == "default/BK"][::3]
    for head, values, show in (
        ("frames", [c["sent"] for c in counts], lambda e: quantities.number_of(e, 0)),
        (
            "internal collisions",
            [c["internal_collisions"] for c in counts],
            lambda e: quantities.number_of(e, 0),
        ),
        ("mean wait", waits, quantities.time_of),
    ):
        mean, ci95 = airfair._core.estimate([float(value) for value in values if value is not None])
        assert rows[6][rows[0].index(head)] == show({"mean": mean, "ci95": ci95})
    assert rows[6][:3] == ["a", "BK", "fq-codel"]
    plain = Scenario.parse(CATEGORIES, "categories", ["radio.categories=dcf"])
    airfair.compare(plain, schemes=["droptail"], seeds=[1], report=file)
    assert 'id="categories"' not in file.read_text()
    assert "#categories" not in file.read_text()


def test_intervals_and_windows_fit_the_run() -> None:
    def fitting(*overrides: str) -> tuple[str, list[str]]:
        scenario = Scenario.read(THREE_PAIRS, overrides)
        return report.default_interval(scenario), report.default_windows(scenario)

    assert fitting() == ("1 s", ["0.1 s", "0.2 s", "0.5 s", "1 s", "2 s", "5 s", "10 s"])
    assert fitting("duration=1000 s")[0] == "5 s"
    assert fitting("duration=2 s", "warmup=0 s") == ("0.1 s", ["0.1 s", "0.2 s", "0.5 s"])
    assert fitting("duration=10 ms", "warmup=0 s")[1] == ["0.0005 s", "0.001 s", "0.002 s"]


def test_a_report_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = command("compare", THREE_PAIRS, "--report", tmp_path / "file" / "x.html")
    assert (done.returncode, done.stdout) == (1, ""), "found before the runs"
    assert done.stderr == f"airfair: {tmp_path / 'file'}: Not a directory\n"
    done = command("run", THREE_PAIRS, *SHORT, "--report", "/dev/full/x.html")
    assert (done.returncode, done.stdout) == (1, "")
    done = command("run", THREE_PAIRS, *SHORT, "--report", tmp_path)
    assert done.returncode == 2
    done = command("run", THREE_PAIRS, "--report", tmp_path / "x.html", "--realtime")
    assert "--report and --realtime do not go together" in done.stderr
    done = command("run", THREE_PAIRS, "--report", tmp_path / "x.html", "--out", tmp_path / "x")
    assert "--out and --report do not go together (a report has series of its own" in done.stderr


def test_json_stays_alone(tmp_path: Path) -> None:
    file = tmp_path / "new" / "x.html"
    (row,) = json_of("compare", THREE_PAIRS, "--seeds", "2", *SHORT, "--report", file)
    plain: dict[str, Any] = json_of("compare", THREE_PAIRS, "--seeds", "2", *SHORT)[0]
    assert [window["window_s"] for window in row.pop("window_jain")] == [0.1, 0.2, 0.5]
    assert {**row, "perf": 0} == {**plain, "perf": 0}
    assert file.exists()
    result = json_of("run", THREE_PAIRS, *SHORT, "--report", tmp_path / "run.html")
    assert json.dumps(result["flows"]) == json.dumps(json_of("run", THREE_PAIRS, *SHORT)["flows"])
