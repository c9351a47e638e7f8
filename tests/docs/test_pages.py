"""Pages hold together: links lead somewhere, what is made is fresh, every service and module has its place."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pyhudi.client.registry import SERVICES
from scripts import reference
from tests.docs.pages import PAGES, ROOT, links, name, prose

pytestmark = pytest.mark.docs

SERVICE_HEADINGS = ["What it does", "What it will never do", "Settings", "What it writes on the timeline"]


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_a_page_has_one_title_and_its_links_lead_somewhere(page: Path) -> None:
    titles = re.findall(r"(?m)^# (.+)$", prose(page))
    assert len(titles) == 1, titles
    lost = [link for link in links(page) if ":" not in link and not (page.parent / link.split("#")[0]).exists()]
    assert not lost


@pytest.mark.parametrize("page", reference.pages(), ids=name)
def test_what_is_made_from_the_code_is_fresh(page: Path) -> None:
    assert page.read_text() == reference.pages()[page], "run `.venv/bin/python scripts/reference.py`"


def test_every_module_is_on_the_map_and_says_what_it_is() -> None:
    map_of_modules = (ROOT / "ARCHITECTURE.md").read_text()
    for path in sorted(reference.SOURCE.rglob("*.py")):
        assert f"| `{path.relative_to(reference.SOURCE)}` | " in map_of_modules, path
        assert reference.summary(path), f"{path}: a module begins with what it is"


@pytest.mark.parametrize("service", SERVICES, ids=lambda service: service.name)
def test_every_table_service_has_its_page(service: object) -> None:
    page = ROOT / "docs" / "services" / f"{service.name}.md"  # type: ignore[attr-defined]
    assert re.findall(r"(?m)^## (.+)$", page.read_text()) == SERVICE_HEADINGS


def test_every_decision_is_in_the_list_of_decisions() -> None:
    folder = ROOT / "docs" / "decisions"
    listed = set(links(folder / "README.md"))
    assert listed == {page.name for page in folder.glob("[0-9]*.md")}


def test_every_page_can_be_reached_from_the_readme() -> None:
    reached, new = set[Path](), [ROOT / "README.md"]
    while new:
        page = new.pop()
        if page.suffix == ".md" and page not in reached:
            reached.add(page)
            new += [(page.parent / link.split("#")[0]).resolve() for link in links(page) if ":" not in link]
    assert set(PAGES) - reached <= {ROOT / "CHANGELOG.md", ROOT / "SECURITY.md"}
