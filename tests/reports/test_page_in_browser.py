"""A page does what it should in a real browser, and what a record from elsewhere holds runs nothing there.

Skipped where there is no Chromium with its driver, or no selenium.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from reports.page import data_in, page
from reports.record import Outcome, Record
from tests.reports.hostile import HOSTILE, record_of
from tests.reports.samples import FAILED, HEADER, PASSED, whole

webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
from selenium.webdriver.chrome.service import Service  # noqa: E402
from selenium.webdriver.support.ui import WebDriverWait  # noqa: E402

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")
pytestmark = pytest.mark.skipif(not CHROMIUM or not DRIVER, reason="there is no Chromium with its driver here")

#: The second graph differs from the first in one line.
BEFORE = "p0: PlainAOTInput(idx=0)\nn0 = sin(p0)\nreturn n0: PlainAOTOutput(idx=0)"
HELD = replace(PASSED, origin="stored", graph=BEFORE, source="import torch", features=("op:sin", "kind:view", "kind:mutation"))
BROKEN = replace(HELD, outcome=Outcome.FAIL, violations=FAILED.violations, graph=BEFORE.replace("sin", "cos"))
OTHERS = tuple(replace(HELD, program=f"{number:02x}" * 8, position=number) for number in range(16, 80))
#: What no page of ours has.
STRANGERS = "img, iframe, base, object, [onerror], [onload], [onfocus], [autofocus], [href^=java]"
LATER = replace(HEADER, torch_version="2.15.0+cpu")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1280,900"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    found = webdriver.Chrome(options=options, service=Service(DRIVER))
    yield found
    found.quit()


@pytest.fixture(scope="module")
def step(tmp_path_factory: pytest.TempPathFactory) -> str:
    return written(tmp_path_factory.mktemp("page"), whole(HELD, *OTHERS), whole(BROKEN, *OTHERS, header=LATER))


def written(folder: Path, *records: Record) -> str:
    path = folder / "page.html"
    path.write_text(page(records), encoding="utf-8")
    return path.as_uri()


def opened(browser: Any, address: str) -> Any:
    browser.get("about:blank")
    browser.get_log("browser")
    browser.get(address)
    return browser


def found(browser: Any, selector: str) -> list[Any]:
    """The elements, once there is one: what opens is drawn a moment later."""
    elements: list[Any] = WebDriverWait(browser, 10).until(lambda browser: browser.find_elements("css selector", selector))
    return elements


def texts(browser: Any, selector: str) -> list[str]:
    return [element.text for element in found(browser, selector)]


def search(browser: Any, words: str) -> None:
    browser.find_element("id", "search").send_keys(words)


def test_it_opens_without_an_error(browser: Any, step: str) -> None:
    assert opened(browser, step).get_log("browser") == []


def test_every_section_is_drawn(browser: Any, step: str) -> None:
    opened(browser, step)
    sections = browser.find_elements("css selector", "main > section")
    assert [section.get_attribute("id") for section in sections if section.get_property("childElementCount") < 2] == []


def test_it_shows_the_worst_program_first(browser: Any, step: str) -> None:
    opened(browser, step)
    assert texts(browser, ".program > summary .became")[0] == "✓pass → ✕fail"


def test_a_search_filters_the_programs(browser: Any, step: str) -> None:
    search(opened(browser, step), "outputs[0].stride")
    assert texts(browser, ".program > summary .mono") == [BROKEN.program[:12]]


def test_an_outcome_filters_the_programs(browser: Any, step: str) -> None:
    opened(browser, step)
    browser.find_element("css selector", "option[value=fail]").click()
    assert texts(browser, "#tally")[0].startswith("1 of 65 programs")


def test_the_search_can_be_undone(browser: Any, step: str) -> None:
    search(opened(browser, step), "no such thing")
    browser.find_element("css selector", "#tally button").click()
    assert texts(browser, "#tally") == ["65 of 65 programs"]


def test_a_long_list_comes_in_parts(browser: Any, step: str) -> None:
    opened(browser, step)
    browser.find_element("css selector", "button.more-programs").click()
    assert len(browser.find_elements("css selector", ".program")) == 65


def test_what_changed_leads_to_the_failing_program(browser: Any, step: str) -> None:
    opened(browser, step)
    browser.find_element("css selector", ".changes summary").click()
    browser.find_element("css selector", ".changes a").click()
    assert "(3, 1)" in texts(browser, ".program[open] .stack")[0]


def test_a_program_shows_both_graphs_with_what_differs_marked(browser: Any, step: str) -> None:
    opened(browser, f"{step}#program={BROKEN.program}")
    marked = found(browser, ".sides .gone, .sides .come")
    assert [(line.get_attribute("data-mark"), line.text) for line in marked] == [("−", "n0 = sin(p0)"), ("+", "n0 = cos(p0)")]


def test_descriptors_are_coloured_by_their_family(browser: Any, step: str) -> None:
    opened(browser, f"{step}#program={BROKEN.program}")
    kinds = found(browser, ".sides figure:first-child .kind")
    assert [kind.get_attribute("class") for kind in kinds] == ["kind primal", "kind output"]


def test_a_program_can_be_opened_by_keyboard(browser: Any, step: str) -> None:
    opened(browser, step)
    browser.find_element("css selector", ".program > summary").send_keys("\n")
    assert len(found(browser, ".program[open] .sides")) == 1


def test_requirements_that_held_are_one_click_away(browser: Any, step: str) -> None:
    opened(browser, step)
    browser.find_elements("css selector", "#requirements .controls button")[-1].click()
    assert len(browser.find_elements("css selector", "#requirements tbody tr")) == len(HEADER.requirements)


def test_nothing_is_wider_than_a_phone(browser: Any, step: str) -> None:
    size = {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    opened(browser, f"{step}#program={BROKEN.program}")
    width = browser.execute_script("return document.documentElement.scrollWidth")
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    assert width == 390


def test_a_graph_that_stays_is_shown_once(browser: Any, step: str) -> None:
    opened(browser, f"{step}#program={OTHERS[0].program}")
    assert texts(browser, ".sides figcaption") == ["2.13.0 and 2.15.0: the same"]


def test_the_data_can_be_taken_out_again(browser: Any, step: str, tmp_path: Path) -> None:
    browser.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)})
    opened(browser, step).find_element("id", "save").click()
    saved = tmp_path / "joint-conformance-page.json"
    WebDriverWait(browser, 10).until(lambda browser: saved.exists())
    assert json.loads(saved.read_text()) == data_in(Path(step.removeprefix("file://")).read_text(encoding="utf-8"))


def test_of_three_runs_any_two_graphs_can_be_compared(browser: Any, tmp_path: Path) -> None:
    records = [whole(HELD), whole(BROKEN, header=LATER), whole(HELD, header=replace(HEADER, torch_version="2.16.0"))]
    opened(browser, f"{written(tmp_path, *records)}#program={BROKEN.program}")
    before = len(browser.find_elements("css selector", ".sides .gone"))
    found(browser, ".program[open] .controls label:last-child option[value='1']")[0].click()
    assert (before, len(browser.find_elements("css selector", ".sides .gone")), browser.get_log("browser")) == (0, 1, [])


def test_the_policy_refuses_a_script_that_is_not_ours(browser: Any, step: str, tmp_path: Path) -> None:
    text = Path(step.removeprefix("file://")).read_text(encoding="utf-8")
    (tmp_path / "other.html").write_text(text.replace("</main>", "<script>hacked=1</script></main>"), encoding="utf-8")
    opened(browser, (tmp_path / "other.html").as_uri())
    assert browser.execute_script("return typeof hacked") == "undefined"


def test_hostile_records_run_nothing(browser: Any, tmp_path: Path) -> None:
    opened(browser, f"{written(tmp_path, *map(record_of, HOSTILE))}#program={FAILED.program}")
    for _ in range(2):  # what opens holds more to open
        browser.execute_script("for (const part of document.querySelectorAll('details')) part.open = true")
        found(browser, ".program[open] .sides")
    browser.execute_script("for (const button of document.querySelectorAll('main button')) button.click()")
    strangers = browser.find_elements("css selector", STRANGERS)
    assert (browser.execute_script("return typeof hacked"), strangers, browser.get_log("browser")) == ("undefined", [], [])
