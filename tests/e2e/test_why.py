"""docs/why.md tells what weir does: its incidents are played, and must be told as they are there (scripts/why writes them anew)."""
import os

import pytest

from kit import incidents
from kit.weir import ROOT

PAGE = ROOT / "docs" / "why.md"


def titles():
    return [pytest.param(number, id=section.splitlines()[0][3:60]) for number, section in enumerate(incidents.sections(PAGE.read_text()))]


@pytest.mark.parametrize("number", titles())
def test_an_incident_is_told_as_the_page_has_it(number, weirs, tmp_path):
    section = incidents.sections(PAGE.read_text())[number]
    retold = incidents.retold(section, weirs, tmp_path)
    if os.environ.get("WHY") == "write":
        PAGE.write_text(PAGE.read_text().replace(section, retold))
    else:
        assert incidents.normal(retold).splitlines() == incidents.normal(section).splitlines()


def test_there_are_five_and_each_is_explained():
    found = incidents.sections(PAGE.read_text())
    assert len(found) == 5
    assert all(any(command.startswith("weir explain") for command in incidents.commands(section)) for section in found)


def test_what_varies_is_not_compared_and_all_else_is():
    line = "       12 ms  attempt 1 on a failed after 1.5 s: timeout (408); a retry follows at once"
    assert incidents.normal(line) == incidents.normal(line.replace("   12 ms", "1.23 s").replace("1.5 s", "1 min 5 s"))
    assert incidents.normal(line) != incidents.normal(line.replace("408", "429"))
    assert incidents.normal("until 10:00:07 (6.9 s more)") == incidents.normal("until 23:59:00 (7 s more)")
    assert incidents.normal("call 0b0e7f3c-21c9-4b6a-9d5e-8a1b2c3d4e5f of 1") != incidents.normal("call 0b0e7f3c-21c9-4b6a-9d5e-8a1b2c3d4e5f of 2")
