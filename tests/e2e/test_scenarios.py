"""The rules of routing, as scenarios/*.yaml tell them; SCENARIOS=20 plays so many, chosen at random, SCENARIOS=20:7 the same ones again."""
import os
import random

import pytest

from kit.scenario import load_all, play


def chosen():
    found = load_all()
    if "SCENARIOS" not in os.environ:
        return found
    count, seed = os.environ["SCENARIOS"].split(":")    # conftest.py has chosen the seed
    return random.Random(int(seed)).sample(found, min(int(count), len(found)))


@pytest.mark.parametrize("scenario", [pytest.param(scenario, id=name) for name, scenario in chosen()])
def test_scenario(scenario, up, weirs):
    play(scenario, up, weirs)
