"""Prometheus: its text format read as strictly as it is written, and the server itself as a process."""
import json
import re
import shutil
import subprocess
import urllib.parse
import urllib.request
from collections import Counter

import pytest
import yaml

from .ports import Port
from .wait import until

LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"')
SAMPLE = re.compile(r"([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)")
PARTS = ("_bucket", "_sum", "_count")


def labels_of(text):
    labels, at = {}, 0
    while at < len(text or ""):
        found = LABEL.match(text, at)
        assert found and found[1] not in labels, f"labels {text!r}"
        labels[found[1]] = re.sub(r"\\(.)", lambda c: "\n" if c[1] == "n" else c[1], found[2])
        at = found.end()
        assert at == len(text) or text[at] == ",", f"labels {text!r}"
        at += 1
    return labels


class Page:
    """An exposition: families in blocks, each with HELP and TYPE before its samples, no sample twice."""

    def __init__(self, text):
        self.types, self.helps, self.samples = {}, {}, []
        family, seen = None, set()
        assert text.endswith("\n")
        for line in text[:-1].split("\n"):
            if line.startswith("# HELP "):
                family, about = line[7:].split(" ", 1)
                assert family not in self.helps and about
                self.helps[family] = about
            elif line.startswith("# TYPE "):
                name, kind = line[7:].split(" ")
                assert name == family and name not in self.types
                self.types[name] = kind
            else:
                found = SAMPLE.fullmatch(line)
                assert found, f"line {line!r}"
                name, labels = found[1], labels_of(found[2])
                base = name
                if self.types[family] == "histogram":
                    assert name.endswith(PARTS), line
                    base = name[:name.rindex("_")]
                assert base == family, f"{line!r} within {family}"
                key = (name, *sorted(labels.items()))
                assert key not in seen, f"twice: {line!r}"
                seen.add(key)
                self.samples.append((name, labels, float(found[3])))

    def all(self, name, **labels):
        """[(labels, value)] of the samples that have these labels."""
        return [(own, value) for sample, own, value in self.samples if sample == name and labels.items() <= own.items()]

    def sum(self, name, **labels):
        return sum(value for _, value in self.all(name, **labels))

    def by(self, name, *labels):
        """Sums for each value of these labels (a tuple of them, where there are several), without zeros."""
        sums = Counter()
        for own, value in self.all(name):
            sums[own[labels[0]] if len(labels) == 1 else tuple(own[label] for label in labels)] += value
        return +sums


def scrape(weir, **more):
    reply = weir.ask(path="/metrics", method="GET", **more)
    assert reply.status == 200, reply
    assert reply.header("content-type") == "text/plain; version=0.0.4; charset=utf-8"
    return Page(reply.body.decode())


def scrape_when(weir, predicate, seconds=5, **more):
    """The first page that the predicate holds for: a request is counted when it is over, a moment after its client has the answer."""
    pages = []
    until(lambda: pages.append(scrape(weir, **more)) or predicate(pages[-1]), seconds)
    return pages[-1]


def promtool(*arguments, text=None):
    if not shutil.which("promtool"):
        pytest.skip("promtool is not installed")
    return subprocess.run(["promtool", *arguments], input=text, text=True, capture_output=True)


class Prometheus:
    """A server that scrapes one weir every half second, kept in a folder of its own."""

    def __init__(self, folder, weir, rules=(), key=None):
        if not shutil.which("prometheus"):
            pytest.skip("prometheus is not installed")
        self.folder, self.process, self._held = folder, None, Port()
        job = {"job_name": "weir", "static_configs": [{"targets": [f"127.0.0.1:{weir.port}"]}]}
        if key:
            job["authorization"] = {"credentials": key}
        config = {"global": {"scrape_interval": "500ms", "scrape_timeout": "500ms", "evaluation_interval": "500ms"},
                  "rule_files": [str(rule) for rule in rules], "scrape_configs": [job]}
        (folder / "prometheus.yml").write_text(yaml.safe_dump(config))

    def start(self):
        with open(self.folder / "prometheus.log", "wb") as log:
            self.process = subprocess.Popen(
                ["prometheus", f"--config.file={self.folder}/prometheus.yml", f"--storage.tsdb.path={self.folder}/data",
                 f"--web.listen-address=127.0.0.1:{self._held.number}"], stdout=log, stderr=subprocess.STDOUT)
        until(self.is_ready, 30)
        return self

    def is_ready(self):
        try:
            return self._get("/-/ready") is not None
        except OSError:
            assert self.process.poll() is None, (self.folder / "prometheus.log").read_text()
            return False

    def stop(self):
        if self.process:
            self.process.terminate()
            self.process.wait()
        self._held.release()

    def _get(self, path, **query):
        url = f"http://127.0.0.1:{self._held.number}{path}?{urllib.parse.urlencode(query)}"
        with urllib.request.urlopen(url, timeout=10) as reply:
            return reply.read()

    def query(self, expression):
        """[(labels, value)] of an instant vector."""
        answer = json.loads(self._get("/api/v1/query", query=expression))
        assert answer["status"] == "success", answer
        return [(found["metric"], float(found["value"][1])) for found in answer["data"]["result"]]

    def rules(self):
        """{alert: what became of its evaluation}"""
        groups = json.loads(self._get("/api/v1/rules"))["data"]["groups"]
        return {rule["name"]: rule for group in groups for rule in group["rules"]}
