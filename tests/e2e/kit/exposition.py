"""The text of /metrics, as sums."""
import re
from collections import Counter

SAMPLE = re.compile(r'([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)')
LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
ESCAPES = {"\\n": "\n", '\\"': '"', "\\\\": "\\"}


def samples(text):
    """(name, labels, value) of each line."""
    for line in text.splitlines():
        if line and not line.startswith("#"):
            name, labels, value = SAMPLE.fullmatch(line).groups()
            yield name, {key: re.sub(r'\\[n"\\]', lambda m: ESCAPES[m[0]], found) for key, found in LABEL.findall(labels or "")}, float(value)


class Exposition:
    def __init__(self, text):
        self.samples = list(samples(text))

    def by(self, name, *labels):
        """What a metric counts for each value of these labels (a tuple of them, where there are several), without zeros."""
        sums = Counter()
        for found, having, value in self.samples:
            if found == name:
                key = tuple(having[label] for label in labels)
                sums[key[0] if len(key) == 1 else key] += value
        return Counter({key: value for key, value in sums.items() if value})

    def sum(self, name):
        return sum(value for found, _, value in self.samples if found == name)
