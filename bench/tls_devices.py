"""Many devices over TLS, told what to do as those of `fanout.c`: python -m bench.tls_devices PORT COUNT HELLO."""

import selectors
import socket
import ssl
import sys
import time
from pathlib import Path

from .kit import many_files

ASK = (
    "GET /ws HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
)


class Device:
    """One connection, and how many messages it has got."""

    def __init__(self, context: ssl.SSLContext, port: int, hello: bytes) -> None:
        self.socket = context.wrap_socket(socket.create_connection(("127.0.0.1", port)))
        self.socket.sendall(ASK.format(port).encode())
        self.messages = 0
        self._rest = b""
        while b"\r\n\r\n" not in self._rest:
            self._rest += self.socket.recv(65536)
        self._rest = self._rest.partition(b"\r\n\r\n")[2]
        self.socket.sendall(hello)
        self._parse(b"")
        while not self.messages:
            self._parse(self.socket.recv(65536))
        self.socket.setblocking(False)

    def read(self) -> int:
        """Take what there is; the bytes of it."""
        size = 0
        while True:
            try:
                data = self.socket.recv(1 << 18)
            except ssl.SSLWantReadError:
                return size
            size += len(data)
            self._parse(data)

    def _parse(self, data: bytes) -> None:
        self._rest += data
        while len(self._rest) > 1:
            kind = self._rest[1] & 127
            header = 2 + {126: 2, 127: 8}.get(kind, 0)
            size = kind if header == 2 else int.from_bytes(self._rest[2:header], "big")
            if len(self._rest) < header + size:
                return
            self._rest = self._rest[header + size :]
            self.messages += 1


def main(port: int, count: int, hello: bytes) -> None:
    """Connect, then wait for messages as stdin asks."""
    many_files()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE  # of this machine, made a moment ago
    devices = [Device(context, port, hello) for _ in range(count)]
    selector = selectors.DefaultSelector()
    for device in devices:
        selector.register(device.socket, selectors.EVENT_READ, device)
    print("ready", flush=True)
    wanted, size = 1, 0
    for line in sys.stdin:
        wanted += int(line)
        while any(device.messages < wanted for device in devices):
            for key, _ in selector.select():
                size += key.data.read()
        print(size, time.monotonic_ns(), flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]).read_bytes())
