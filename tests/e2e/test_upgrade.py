"""Another process takes over the listening sockets: no call is lost by it, and none when it does not come to that."""
import os
import shutil
import signal
import threading
import time

import pytest

from kit import answers
from kit.answers import Wait
from kit.client import request_bytes
from kit.configs import config
from kit.weir import BINARY

ENDED = 15


@pytest.fixture
def own_binary(tmp_path):
    """A copy of the program that a test may replace."""
    path = tmp_path / "weir"
    shutil.copy(BINARY, path)
    return path


def replace(path, text):
    fresh = path.with_suffix(".new")
    fresh.write_text(text)
    fresh.chmod(0o755)
    fresh.replace(path)


class Load:
    """Clients that ask without a pause, on kept and on fresh connections, for plain answers and for streams."""

    def __init__(self, weir, clients=8):
        self.weir, self.wrong, self.good, self.ended = weir, [], 0, threading.Event()
        self.threads = [threading.Thread(target=self._ask, args=(bool(number & 1), bool(number & 2))) for number in range(clients)]

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        for thread in self.threads:
            thread.join(60)

    def _ask(self, stream, keep):
        connection = None
        request = request_bytes({"model": "g", "stream": stream, "messages": [{"role": "user", "content": "hello"}]})
        while not self.ended.is_set():
            try:
                connection = connection or self.weir.connect()
                connection.send(request)
                reply = connection.reply()
            except OSError as error:
                self.wrong.append(error)
                connection = None
                continue
            if reply.status != 200 or reply.text != "one two three" or reply.cut:
                self.wrong.append(reply)
            self.good += 1
            if not keep or (reply.header("connection") or "").lower() == "close" or reply.cut:
                connection.close()
                connection = None
        if connection:
            connection.close()


def speaks(up, *names):
    slow = answers.stream("one ", Wait(0.03), "two ", Wait(0.03), "three")
    for name in names:
        up.says(name, answers.Answer(lambda call: (slow if call.json.get("stream") else answers.text("one two three")).steps(call)))


def test_upgrades_under_load_lose_nothing(serve, up):
    weir = serve({"g": ["d1", "d2"]}, router={"num_retries": 0, "disable_cooldowns": True})
    speaks(up, "d1", "d2")
    befores = []
    with Load(weir) as load:
        for _ in range(5):
            time.sleep(0.3)
            befores.append(weir.upgrade())
        time.sleep(0.3)
    assert not load.wrong and load.good > 50, load.wrong[:5]
    assert [before.wait(ENDED) for before in befores] == [0] * 5


@pytest.mark.parametrize("numbers", [(3, 1, 2), (1, 3)])
def test_the_number_of_workers_may_be_another_one(weirs, up, numbers):
    made = [config(up, {"g": ["d1"]}, weir={"workers": number}, router={"num_retries": 0, "disable_cooldowns": True}) for number in numbers]
    weir = weirs(made[0])
    speaks(up, "d1")
    with Load(weir) as load:
        for following in made[1:]:
            weir.write(following)
            assert weir.upgrade().wait(ENDED) == 0
        for _ in range(60):
            assert weir.ask("g").status == 200, "a socket belongs to nobody"
    assert not load.wrong, load.wrong[:5]


def test_a_stream_ends_where_it_began(serve, up):
    weir = serve({"g": ["d1"]})
    up.says("d1", answers.stream("one ", Wait(1.5), "two"))
    got = []
    thread = threading.Thread(target=lambda: got.append(weir.ask({"model": "g", "stream": True})))
    thread.start()
    assert up.wait_for(lambda u: u.hits() == 1)
    before = weir.upgrade()
    up.says("d1", "of the new one")
    assert weir.ask("g").text == "of the new one" and before.poll() is None
    thread.join(20)
    assert got[0].text == "one two" and not got[0].failed
    assert before.wait(ENDED) == 0


def test_connections_that_were_made_are_served(serve, up):
    weir = serve({"g": ["d1"]})
    up.says("d1", "of d1")
    used, fresh = [weir.connect() for _ in range(5)], [weir.connect() for _ in range(20)]
    for connection in used:
        connection.send(request_bytes({"model": "g", "messages": [{"role": "user", "content": "hello"}]}))
        assert connection.reply().status == 200
    before = weir.upgrade()
    for connection in used + fresh:
        connection.send(request_bytes({"model": "g", "messages": [{"role": "user", "content": "hello"}]}))
        assert connection.reply().status == 200
        connection.close()
    assert before.wait(ENDED) == 0


def test_idle_connections_do_not_hold_the_process_before(serve):
    weir = serve({"g": ["d1"]})
    with weir.connect() as idle:
        before = weir.upgrade()
        assert before.wait(ENDED) == 0
        assert idle.is_closed()


def test_the_process_before_obeys_sigterm(serve, up):
    weir = serve({"g": ["d1"]})
    up.says("d1", answers.stream("one ", Wait(1), "two"))
    got = []
    thread = threading.Thread(target=lambda: got.append(weir.ask({"model": "g", "stream": True})))
    thread.start()
    assert up.wait_for(lambda u: u.hits() == 1)
    with weir.connect():
        before = weir.upgrade()
        before.send_signal(signal.SIGTERM)
        thread.join(20)
        assert got[0].text == "one two", "the first one only asks for the end"
        assert before.wait(3) == 0, "idle connections are not waited for any more"


# ---- it does not come to that

@pytest.mark.parametrize("text, why", [
    ("#!/bin/sh\nexit 3\n", "the new process ended with status 3"),
    ("#!/bin/sh\nkill -SEGV $$\n", "the new process was ended by signal 11"),
    ("#!/bin/sh\nexec sleep 60\n", "did not serve within 0.7 seconds"),
    ("\x7fELF, but only so far\n", "the program cannot be run: Exec format error"),
])
def test_a_broken_program_changes_nothing(weirs, up, own_binary, text, why):
    weir = weirs(config(up, {"g": ["d1"]}, weir={"upgrade_timeout": 0.7}), binary=own_binary)
    speaks(up, "d1")
    replace(own_binary, text)
    with Load(weir, 4) as load:
        weir.signal(signal.SIGUSR2)
        weir.log_line(f"not upgraded, process {weir.process.pid} goes on: .*{why}")
        time.sleep(0.2)
    assert not load.wrong and weir.process.poll() is None
    made = own_binary.with_suffix(".good")
    shutil.copy(BINARY, made)
    made.replace(own_binary)
    weir.write(config(up, {"g": ["d1"]}))
    weir.reload()
    assert weir.upgrade().wait(ENDED) == 0, "the next one may be better"
    assert weir.ask("g").status == 200


def test_a_program_that_is_gone_changes_nothing(weirs, up, own_binary):
    weir = weirs(config(up, {"g": ["d1"]}), binary=own_binary)
    speaks(up, "d1")
    own_binary.unlink()
    weir.signal(signal.SIGUSR2)
    weir.log_line("the program cannot be run: No such file or directory")
    assert weir.ask("g").status == 200


def test_a_broken_configuration_changes_nothing(serve, up):
    weir = serve({"g": ["d1"]})
    speaks(up, "d1")
    weir.write("model_list: 7\n")
    weir.signal(signal.SIGUSR2)
    weir.log_line("not upgraded, process .* goes on: the new process ended with status")
    assert weir.ask("g").status == 200


def test_twice_in_a_row(weirs, up, own_binary):
    weir = weirs(config(up, {"g": ["d1"]}, weir={"upgrade_timeout": 1}), binary=own_binary)
    speaks(up, "d1")
    replace(own_binary, "#!/bin/sh\nexec sleep 60\n")
    weir.signal(signal.SIGUSR2)
    weir.log_line("starting the process that takes over")
    weir.signal(signal.SIGUSR2)
    weir.log_line("goes on: one is under way")
    weir.log_line("did not serve within")
    assert weir.ask("g").status == 200


def test_not_while_draining(serve, up):
    weir = serve({"g": ["d1"]})
    up.says("d1", answers.late(answers.text("finished"), 1))
    got = []
    thread = threading.Thread(target=lambda: got.append(weir.ask("g")))
    thread.start()
    assert up.wait_for(lambda u: u.hits() == 1)
    weir.signal(signal.SIGTERM)
    weir.log_line("draining")
    weir.signal(signal.SIGUSR2)
    weir.log_line("SIGUSR2: not upgraded, this process is ending")
    thread.join(20)
    assert got[0].text == "finished" and weir.wait(5) == 0


def test_sigterm_ends_the_one_that_was_started_as_well(weirs, up, own_binary, tmp_path):
    weir = weirs(config(up, {"g": ["d1"]}), binary=own_binary)
    replace(own_binary, f"#!/bin/sh\necho $$ > {tmp_path}/pid\nexec sleep 60\n")
    weir.signal(signal.SIGUSR2)
    end = time.monotonic() + 5
    while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text():
        assert time.monotonic() < end
        time.sleep(0.01)
    weir.signal(signal.SIGTERM)
    assert weir.wait(5) == 0
    assert not os.path.exists(f"/proc/{(tmp_path / 'pid').read_text().strip()}")
