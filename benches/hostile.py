"""Random and damaged frames, written to a device of the node in which it runs: `hostile.py NUMBER DEVICE`.

Root in the node may write what it likes to its device, past its own stack. The frames are one third random
bytes, two thirds right packets (IPv4, IPv6, ARP, TCP, UDP, ICMP, fragments, options) with changed, cut and
added bytes, for stations that exist, for others, and for groups. The same number gives the same frames.
"""

from __future__ import annotations

import json
import random
import socket
import struct
import sys
import time
from pathlib import Path

RATE = 12_000
"""Frames a second: what the emulator can take beside the stacks; more would be lost at the device."""

BURST = 100
"""At most so many at once."""

LARGEST = 1514
POOL = 4096
"""Frames that are made before, and then sent with some bytes changed: making each anew is too slow."""


def packets() -> list[bytes]:
    """Right packets with their types."""
    ipv4 = bytes([10, 0, 0, 1, 10, 0, 0, 2])
    ipv6 = bytes.fromhex("fd00" + 12 * "00" + "0001" + "fd00" + 12 * "00" + "0002")

    def four(protocol: int, payload: bytes, fragment: int = 0, tos: int = 2, options: bytes = b"") -> bytes:
        head = struct.pack(
            "!BBHHHBBH",
            0x45 + len(options) // 4,
            tos,
            20 + len(options) + len(payload),
            7,
            fragment,
            64,
            protocol,
            0,
        )
        total = sum(struct.unpack(f"!{(20 + len(options)) // 2}H", head + ipv4 + options))
        total = (total & 0xFFFF) + (total >> 16)
        total = ~((total & 0xFFFF) + (total >> 16)) & 0xFFFF
        return b"\x08\x00" + head[:10] + struct.pack("!H", total) + ipv4 + options + payload

    def six(next_header: int, payload: bytes) -> bytes:
        return b"\x86\xdd" + struct.pack("!IHBB", 0x60200000, len(payload), next_header, 64) + ipv6 + payload

    udp = struct.pack("!HHHH", 9000, 9, 108, 0) + bytes(100)
    tcp = struct.pack("!HHIIBBHHH", 1, 2, 3, 4, 0x50, 0x10, 512, 0, 0)
    longest = struct.pack("!HHIIBBHHH", 1, 2, 3, 4, 0xF0, 0x18, 512, 0, 0) + bytes(40) + bytes(1000)
    arp = bytes.fromhex("0806000108000604000102af000000000a00000100000000000000000a000002")
    return [
        four(17, udp),
        four(17, udp, fragment=0x2000),
        four(17, udp[8:], fragment=185),
        four(6, tcp),
        four(6, longest),
        four(6, tcp, options=bytes([7, 39, 4, *36 * [0], 0])),
        four(1, b"\x08\x00" + bytes(60)),
        four(250, bytes(30)),
        six(17, udp),
        six(6, tcp),
        six(58, b"\x87\x00" + bytes(30)),
        six(0, b"\x11\x00" + bytes(6) + udp),
        six(44, b"\x11\x00\x00\x01" + bytes(4) + udp),
        six(43, b"\x3c\xff\x00\xff" + bytes(40)),
        arp,
        b"\x81\x00\x00\x05" + four(17, udp),
        b"\x88\xa8\x00\x05\x81\x00\x00\x06" + six(17, udp),
        b"\x00\x2e" + bytes(46),
        b"\xff\xff" + bytes(46),
    ]


def frame(chance: random.Random, own: bytes, near: bytes, known: list[bytes]) -> bytes:
    """One frame."""
    to = chance.choice((near, near, near, b"\xff" * 6, b"\x33\x33\x00\x00\x00\x01", own, chance.randbytes(6)))
    if chance.random() < 1 / 3:
        size = chance.choice((0, 1, 5, 20, 60, chance.randrange(LARGEST - 13)))
        kind = chance.choice((b"\x08\x00", b"\x86\xdd", b"\x08\x06", chance.randbytes(2)))
        return to + own + kind + chance.randbytes(size)
    made = bytearray(to + own + chance.choice(known))
    for _ in range(chance.choice((0, 1, 1, 2, 8))):
        made[chance.randrange(12, len(made))] = chance.randrange(256)
    if chance.random() < 0.3:
        del made[chance.randrange(14, len(made) + 1) :]
    if chance.random() < 0.1:
        made += chance.randbytes(chance.randrange(LARGEST - len(made) + 1))
    return bytes(made)


def main() -> None:
    number, name = int(sys.argv[1]), sys.argv[2]
    files = Path("/sys/class/net") / name
    chance, known = random.Random(number), packets()
    own = bytes.fromhex((files / "address").read_text().strip().replace(":", ""))
    # Stations have consecutive addresses by the order of the scenario: the next is a neighbour.
    near = own[:5] + bytes([own[5] + 1])
    pool = [frame(chance, own, near, known) for _ in range(POOL)]
    device = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    device.bind((name, 0))
    began, written, refused = time.monotonic(), 0, 0
    for at in range(number):
        if at % BURST == 0:
            ahead = at / RATE - (time.monotonic() - began)
            if ahead > 0:
                time.sleep(ahead)
        if at % 4 == 0:
            # A new one takes the place of an old one, so that no two rounds are the same.
            pool[at % POOL] = frame(chance, own, near, known)
        sent = pool[chance.randrange(POOL)]
        try:
            device.send(sent)
            written += 1
        except OSError:
            refused += 1
    seconds = time.monotonic() - began
    time.sleep(1)
    counts = {of: int((files / "statistics" / of).read_text()) for of in ("tx_packets", "tx_dropped")}
    print(json.dumps({"written": written, "refused": refused, "seconds": seconds, **counts}), flush=True)


if __name__ == "__main__":
    main()
