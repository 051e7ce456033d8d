"""weir under a service manager: what it is told, and sockets that it was handed."""
import ctypes
import os
import signal
import socket
import sys
import time

import pytest

from kit import client
from kit.configs import config

STARTER = """import os, sys
for at, fd in enumerate(sys.argv[2].split(",")):
    os.dup2(int(fd), 3 + at)
os.environ.update(LISTEN_FDS=str(len(sys.argv[2].split(","))), LISTEN_PID=sys.argv[1] or str(os.getpid()), LISTEN_FDNAMES="web:more")
os.execv(sys.argv[3], sys.argv[3:])"""


class Manager:
    """Who listens at NOTIFY_SOCKET."""

    def __init__(self, name):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(name.replace("@", "\0", 1))
        self.env = {"NOTIFY_SOCKET": name}

    def hears(self, wanted, seconds=10):
        """Waits for a message with this line; all its lines."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.socket.settimeout(max(0.01, end - time.monotonic()))
            try:
                lines = self.socket.recv(65536).decode().splitlines()
            except TimeoutError:
                break
            if any(line == wanted or line.startswith(wanted + "=") for line in lines):
                return lines
        raise AssertionError(f"{wanted} was not told")

    def drain(self):
        """What was told and not asked about."""
        self.socket.settimeout(0)
        lines = []
        try:
            while True:
                lines += self.socket.recv(65536).decode().splitlines()
        except BlockingIOError:
            return lines


@pytest.fixture(params=["path", "abstract"])
def manager(request, tmp_path):
    name = str(tmp_path / "notify") if request.param == "path" else f"@weir-{os.getpid()}-{time.monotonic_ns()}"
    found = Manager(name)
    yield found
    found.socket.close()


def test_the_manager_is_told_what_happens(serve, manager):
    weir = serve({"g": ["d1"]}, env=manager.env)
    assert f"STATUS=Serves on http://127.0.0.1:{weir.port} (deployments: 1, groups: 1)" in manager.hears("READY=1")
    weir.signal(signal.SIGHUP)
    assert any(line.startswith("MONOTONIC_USEC=") for line in manager.hears("RELOADING=1"))
    manager.hears("READY=1")
    weir.write("model_list: 7\n")
    weir.signal(signal.SIGHUP)
    manager.hears("RELOADING=1")
    manager.hears("READY=1")
    weir.signal(signal.SIGTERM)
    assert any(line.startswith("EXTEND_TIMEOUT_USEC=") for line in manager.hears("STOPPING=1"))


def test_the_manager_learns_of_the_process_that_takes_over(serve, manager):
    weir = serve({"g": ["d1"]}, env={**manager.env, "WATCHDOG_USEC": 400_000})
    manager.hears("READY=1")
    before = weir.upgrade()
    assert manager.hears("MAINPID") == [f"MAINPID={weir.process.pid}"]
    manager.hears("READY=1")
    manager.hears("WATCHDOG=1")
    assert before.wait(15) == 0
    assert "STOPPING=1" not in manager.drain(), "the service goes on"


def test_a_failed_upgrade_leaves_the_manager_as_it_was(serve, manager):
    weir = serve({"g": ["d1"]}, env=manager.env)
    manager.hears("READY=1")
    weir.write("model_list: 7\n")
    weir.signal(signal.SIGUSR2)
    weir.log_line("not upgraded")
    told = manager.drain()
    assert "STOPPING=1" not in told and not any(line.startswith("MAINPID") for line in told)


def ptrace(request, tid):
    return ctypes.CDLL(None, use_errno=True).ptrace(request, tid, 0, 0)


def test_a_loop_that_hangs_is_no_sign_of_life(serve, manager):
    """The threads beside the main one are held, as a debugger holds them."""
    attach, detach, wait_for_all = 16, 17, 0x40000000
    weir = serve({"g": ["d1"]}, env={**manager.env, "WATCHDOG_USEC": 400_000})
    for _ in range(3):
        manager.hears("WATCHDOG=1", 1)
    held = [int(tid) for tid in os.listdir(f"/proc/{weir.process.pid}/task") if int(tid) != weir.process.pid]
    for tid in held:
        if ptrace(attach, tid) != 0:
            pytest.skip("this machine lets nobody be held")
        os.waitpid(tid, wait_for_all)
    time.sleep(0.3)
    manager.drain()
    time.sleep(0.6)
    assert "WATCHDOG=1" not in manager.drain()
    for tid in held:
        ptrace(detach, tid)
    manager.hears("WATCHDOG=1", 2)


def test_a_watchdog_of_another_process_is_not_fed(serve, manager):
    serve({"g": ["d1"]}, env={**manager.env, "WATCHDOG_USEC": 100_000, "WATCHDOG_PID": 1})
    time.sleep(0.4)
    assert "WATCHDOG=1" not in manager.drain()


def test_a_manager_that_is_gone_is_no_harm(serve, up, manager):
    manager.socket.close()
    weir = serve({"g": ["d1"]}, env={**manager.env, "WATCHDOG_USEC": 100_000})
    up.says("d1", "of d1")
    assert weir.ask("g").text == "of d1"


# ---- sockets that were handed over

def handed(weirs, up, sockets, pid="", start=True, **options):
    fds = ",".join(str(s.fileno()) for s in sockets)
    return weirs(config(up, {"g": ["d1"]}, **options), prefix=[sys.executable, "-c", STARTER, str(pid), fds],
                 pass_fds=[s.fileno() for s in sockets], start=start)


@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.parametrize("count", [1, 2])
def test_sockets_of_the_manager_are_listened_on(weirs, up, workers, count):
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    up.says("d1", "of d1")
    weir = handed(weirs, up, sockets, start=False, weir={"workers": workers}).launch()
    for listening in sockets:
        for _ in range(20):
            body = {"model": "g", "messages": [{"role": "user", "content": "hello"}]}
            assert client.ask(listening.getsockname()[1], body).text == "of d1"
    assert weir.log_line(f"ready on http://127.0.0.1:{sockets[0].getsockname()[1]} ")
    with pytest.raises(OSError):
        client.ask(weir.port, path="/health/liveliness", method="GET")
    weir.port = sockets[0].getsockname()[1]
    assert weir.upgrade().wait(15) == 0
    assert weir.ask("g").text == "of d1"
    weir.signal(signal.SIGTERM)
    assert weir.wait() == 0


def test_sockets_of_another_process_are_none(weirs, up):
    with socket.create_server(("127.0.0.1", 0)) as listening:
        weir = handed(weirs, up, [listening], pid=1)
        up.says("d1", "of d1")
        assert weir.ask("g").text == "of d1"


def test_sockets_that_others_reach_want_a_key(weirs, up):
    with socket.create_server(("0.0.0.0", 0)) as listening:
        weir = handed(weirs, up, [listening], start=False).launch()
        assert weir.wait() != 0 and "refusing to listen on sockets that others reach without a key" in weir.log


def test_what_is_no_listening_socket_is_refused(weirs, up):
    with socket.create_server(("127.0.0.1", 0)) as listening, socket.socket() as other:
        weir = handed(weirs, up, [listening, other], start=False).launch()
        assert weir.wait() != 0 and "descriptor 4 (more) of LISTEN_FDS is no TCP socket that listens" in weir.log
