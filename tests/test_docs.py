"""The README and the pages of docs/: they name all that exists, and nothing else.

For what their examples print, see test_pages.py and test_learning_page.py.
"""

import doctest
import inspect
import re
from pathlib import Path

import pytest

import batchsolve as bs
from batchsolve.engines import engine_names, walk

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
README = (ROOT / "README.md").read_text()


def test_the_first_screen_of_the_readme_solves_a_shipped_corpus_and_runs_the_tests():
    first_screen = "\n".join(README.splitlines()[:24])
    main, tests = re.findall(r"<!-- \w+ command -->\n```sh\n(.+)\n```", first_screen)
    assert (ROOT / re.search(r"solve (\S+) -o", main)[1]).is_file()
    assert tests.endswith("-m pytest -n 3 --dist loadfile")


def test_the_examples_of_the_readme_run():
    results = doctest.testfile(str(ROOT / "README.md"), module_relative=False)
    assert results.attempted >= 7
    assert results.failed == 0


def test_the_page_of_engines_describes_each():
    page = (DOCS / "engines.md").read_text()
    assert [name for name in engine_names() if f"`{name}`" not in page] == []


def test_the_page_of_commands_is_what_the_commands_say():
    from make_reference import PAGE, page

    assert PAGE.read_text(encoding="utf-8") == page()


def test_the_page_of_python_has_every_public_name_once():
    text = (DOCS / "reference" / "python.md").read_text()
    assert sorted(re.findall(r"^::: batchsolve\.(\w+)$", text, re.M)) == sorted(bs.__all__)


def test_every_page_is_in_the_menu():
    menu = (ROOT / "mkdocs.yml").read_text()
    assert [str(page) for page in PAGES if str(page.relative_to(DOCS)) not in menu] == []


@pytest.mark.parametrize("page", [ROOT / "README.md", *PAGES], ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for link in re.findall(r"\]\((?!http)([^)#]+)(?:#[^)]*)?\)", page.read_text()):
        assert (page.parent / link).exists(), link


def test_the_commands_of_the_first_page_are_those_of_the_readme():
    command = re.compile(r"^python3 .*$", re.M)
    assert command.findall((DOCS / "index.md").read_text()) == command.findall(README)


def test_the_pictures_are_those_that_the_script_draws():
    from make_pictures import PICTURES

    for draw in PICTURES:
        assert (DOCS / "pictures" / f"{draw.__name__}.svg").read_text() == draw()


def test_no_page_shows_a_backslash():
    """Markdown may show one outside of code blocks, and before a bar in a code span."""
    for page in PAGES:
        text = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.M | re.S)
        assert re.findall(r"^.*\\.*$", text, re.M) == [], page


def test_tables_have_heads():
    """Otherwise the first cell of each would be an empty box."""
    assert [page for page in PAGES if re.search(r"^\| *\|", page.read_text(), re.M)] == []


def test_the_reference_engine_has_the_names_and_steps_of_the_pseudocode():
    page = (DOCS / "algorithm.md").read_text()
    code = inspect.getsource(walk)
    blocks = "".join(re.findall(r"^```text$(.*?)^```$", page, re.M | re.S))
    functions = re.findall(r"(?:^| {4})(\w+)\([^()]*\):", blocks, re.M)
    assert len(functions) >= 9
    assert [name for name in functions if not re.search(rf"def _?{name}\(", code)] == []
    for k in range(1, 9):
        [told] = set(re.findall(rf"X{k}\. \[[^]]+\]", page))
        assert told in code
    arrays = re.findall(r"`(\w+)\[[pi]\]`", page)
    assert [name for name in arrays if f"self.{name}" not in code] == []


def test_the_numbers_of_the_pseudocode_are_those_of_the_reference_engine():
    page = (DOCS / "algorithm.md").read_text()
    rows = re.findall(r"^\| `(\w+:\w+)` \| ([\d,]+) \| ([\d,]+) \|$", page, re.M)
    assert len(rows) == 3
    for name, nodes, covers in rows:
        done = bs.count(name, engine="dancing-links" if name == "queens:8" else "dlx", budget=1000)
        assert (f"{done.nodes:,}", f"{done.count:,}") == (nodes, covers)


def public_functions():
    """Yield the functions of the reference, methods included."""
    for name in bs.__all__:
        thing = getattr(bs, name)
        members = vars(thing) if inspect.isclass(thing) else {}
        methods = [each for key, each in members.items() if not key.startswith("_")]
        for each in [thing, *(getattr(method, "__func__", method) for method in methods)]:
            if inspect.isfunction(each):
                yield each


@pytest.mark.parametrize("function", list(public_functions()), ids=lambda each: each.__qualname__)
def test_parameters_of_one_entry_have_one_type_and_one_default(function):
    """The reference shows those of the first parameter for all of them."""
    parameters = inspect.signature(function).parameters
    entries = re.findall(r"^(\w+(?:, [\w*]+)+)(?: :.*)?$", inspect.getdoc(function) or "", re.M)
    for names in (entry.split(", ") for entry in entries):
        of_entry = [parameters[name] for name in names if name in parameters]
        assert len({(str(each.annotation), str(each.default)) for each in of_entry}) <= 1, names
