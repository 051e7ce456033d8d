"""Waiting: for what is to come about, and for what runs beside a test."""
import threading
import time


def until(predicate, seconds=5):
    """Asks again and again until it holds; returns when that was."""
    end = time.monotonic() + seconds
    while not predicate():
        assert time.monotonic() < end, "it did not come about"
        time.sleep(0.005)
    return time.monotonic()


def in_background(function):
    """Runs it in a thread; call the result to wait for what it returned."""
    results = []
    thread = threading.Thread(target=lambda: results.append(function()))
    thread.start()

    def wait():
        thread.join(60)
        return results[0]
    return wait
