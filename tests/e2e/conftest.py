"""Fixtures: everything that a test starts is stopped and judged when the test is over."""
import contextlib
import itertools
import os
import random
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from kit.certificates import Certificates  # noqa: E402
from kit.configs import config as make_config  # noqa: E402
from kit.proxy import Proxy  # noqa: E402
from kit.upstream import Upstream  # noqa: E402
from kit.weir import BINARY, Weir  # noqa: E402

for variable in [name for name in os.environ if name.lower().endswith("_proxy")]:
    del os.environ[variable]  # clients of these tests talk to this machine


def pytest_configure(config):
    """One choice of scenarios for all processes of a run."""
    wanted = os.environ.get("SCENARIOS")
    if wanted and ":" not in wanted:
        os.environ["SCENARIOS"] = f"{wanted}:{random.SystemRandom().randrange(10000)}"


def pytest_report_header(config):
    return f"SCENARIOS={os.environ['SCENARIOS']} plays the same scenarios again" if "SCENARIOS" in os.environ else None


def pytest_sessionstart(session):
    if not os.path.exists(BINARY):
        pytest.exit(f"{BINARY} is not built; scripts/build release, or WEIR=PATH", returncode=2)


@pytest.fixture
def weirs(tmp_path):
    """Makes processes: weirs(config, ...) -> a weir that serves."""
    numbers = itertools.count()
    with contextlib.ExitStack() as stack:
        def make(config, start=True, **options):
            folder = tmp_path / f"weir-{next(numbers)}"
            folder.mkdir()
            weir = Weir(config, folder, **options)
            if start:
                weir.start()
            stack.callback(weir.stop if start else weir.kill)
            return weir
        yield make


@pytest.fixture
def upstreams(weirs):
    """Makes upstreams: upstreams(tls) -> one that listens. They end before the weirs do, so that no call is left in flight."""
    with contextlib.ExitStack() as stack:
        def make(tls=None, **options):
            upstream = Upstream(tls, **options).start()
            stack.callback(upstream.stop)
            return upstream
        yield make


@pytest.fixture
def up(upstreams):
    return upstreams()


@pytest.fixture
def serve(weirs, up):
    """serve(groups, ...) -> a weir in front of the upstream `up`, configured as kit.configs tells."""
    def make(groups, env=None, arguments=(), **sections):
        return weirs(make_config(up, groups, **sections), env=env, arguments=arguments)
    return make


@pytest.fixture
def proxies(weirs):
    with contextlib.ExitStack() as stack:
        def make(*credentials):
            proxy = Proxy(*credentials).start()
            stack.callback(proxy.stop)
            return proxy
        yield make


@pytest.fixture(scope="session")
def certificates(tmp_path_factory):
    return Certificates(tmp_path_factory.mktemp("certificates"))
