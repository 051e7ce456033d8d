"""Ports for servers that are told their port on the command line."""
import random
import socket

# Below the range from which Linux takes the ports of outgoing connections, above what services usually have.
LOWEST, HIGHEST = 17000, 32000


class Port:
    """A port that nobody listens on, kept from other tests on this machine until it is released.

    The program that is to listen there must be able to bind it, so what is held is the UDP port of the same number.
    """

    def __init__(self):
        while True:
            self.number = random.randrange(LOWEST, HIGHEST)
            self._holder = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            try:
                self._holder.bind(("127.0.0.1", self.number))
                with socket.socket() as probe:
                    probe.bind(("127.0.0.1", self.number))
                return
            except OSError:
                self._holder.close()

    def release(self):
        self._holder.close()
