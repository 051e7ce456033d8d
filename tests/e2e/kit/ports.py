"""Ports for servers that are told their port on the command line."""
import random
import socket

# Below the range from which Linux takes the ports of outgoing connections, above what services usually have.
LOWEST, HIGHEST = 17000, 32000


def free_port():
    """A port that nobody listens on now; whoever wants it must be ready to lose the race and to ask again."""
    while True:
        port = random.randrange(LOWEST, HIGHEST)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port


def dead_port():
    """A port that refuses connections: bound, so that nobody takes it, but not listening. Keep the socket."""
    holder = socket.socket()
    holder.bind(("127.0.0.1", 0))
    return holder, holder.getsockname()[1]
