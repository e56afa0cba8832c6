"""The pages of docs/: that they name what there is, all of it, and lead somewhere."""

import re
from pathlib import Path

import pytest

import batchsolve as bs

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))


def test_the_page_of_commands_is_what_the_commands_say():
    from make_reference import PAGE, page

    assert PAGE.read_text(encoding="utf-8") == page()


def test_the_page_of_python_has_every_public_name_once():
    text = (DOCS / "reference" / "python.md").read_text()
    assert sorted(re.findall(r"^::: batchsolve\.(\w+)$", text, re.M)) == sorted(bs.__all__)


def test_every_page_is_in_the_menu():
    menu = (ROOT / "mkdocs.yml").read_text()
    assert [str(page) for page in PAGES if str(page.relative_to(DOCS)) not in menu] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(DOCS)))
def test_links_lead_somewhere(page):
    for link in re.findall(r"\]\((?!http)([^)#]+)(?:#[^)]*)?\)", page.read_text()):
        assert (page.parent / link).exists(), link


def test_the_commands_of_the_first_page_are_those_of_the_readme():
    command = re.compile(r"^python3 .*$", re.M)
    readme, first = (ROOT / "README.md").read_text(), (DOCS / "index.md").read_text()
    assert command.findall(first) == command.findall(readme)


def test_the_pictures_are_those_that_the_script_draws():
    from make_pictures import PICTURES

    for draw in PICTURES:
        assert (DOCS / "pictures" / f"{draw.__name__}.svg").read_text() == draw()
