import doctest
import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()


def command(name):
    (found,) = re.findall(rf"<!-- {name} -->\n```sh\n(.+)\n```", README)
    return found


def test_the_first_screen_holds_both_commands():
    first_screen = "\n".join(README.splitlines()[:24])
    assert command("main command") in first_screen
    assert command("test command") in first_screen


def test_the_main_command_solves_a_shipped_corpus():
    corpus = re.search(r"solve (\S+) -o", command("main command")).group(1)
    assert (ROOT / corpus).is_file()


def test_the_examples_run():
    results = doctest.testfile(str(ROOT / "README.md"), module_relative=False)
    assert results.attempted >= 7
    assert results.failed == 0
