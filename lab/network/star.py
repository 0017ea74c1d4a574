"""Star of emulated network links on one machine. Every node has TUN devices in its own namespace; this program forwards the
packets between them with the configured delay, loss and rate.

Commands on standard input, one JSON object per line: {"id", "do": "link", "link", "pid", "device", "address"},
{"id", "do": "shape", "link", …} or {"id", "do": "count"}. Each is answered by one line with the same id. The program and its
devices end with its input.
"""

import ctypes
import fcntl
import heapq
import json
import os
import random
import selectors
import struct
import sys
import time

TUNSETIFF, IFF_TUN, IFF_NO_PI, CLONE_NEWNET = 0x400454CA, 0x0001, 0x1000, 0x40000000
TCP, UDP = 6, 17
libc = ctypes.CDLL(None, use_errno=True)
random.seed(7)


class Link:
    """Conditions of each direction: `delay` in ms, `loss` from 0 to 1, `rate` in kbit/s (0: unlimited), `queue` in ms,
    `tcpPorts` that are let through (empty: all)."""

    def __init__(self, fd):
        self.fd = fd
        self.shape = {"delay": 0, "loss": 0, "rate": 0, "queue": 500, "udp": True, "tcpPorts": [], "up": True}
        self.free = {"out": 0.0, "in": 0.0}
        self.counts = {direction: {"packets": 0, "bytes": 0, "udp": 0, "udpPackets": 0, "lost": 0} for direction in self.free}

    def forward(self, direction, packet, now):
        """Returns when a packet that arrives at `now` leaves the link, or None if it is dropped. Counts sent packets for
        direction "out", received ones for direction "in"."""
        shape, count = self.shape, self.counts[direction]
        is_udp = packet[9] == UDP
        if direction == "out":
            self.meter(count, packet, is_udp)
        is_blocked = (is_udp and not shape["udp"]) or not self.allows_tcp(packet)
        if not shape["up"] or is_blocked or random.random() < shape["loss"]:
            count["lost"] += 1
            return None
        if shape["rate"]:
            start = max(now, self.free[direction])
            if start - now > shape["queue"] / 1000:
                count["lost"] += 1
                return None
            now = self.free[direction] = start + len(packet) * 8 / (shape["rate"] * 1000)
        if direction == "in":
            self.meter(count, packet, is_udp)
        return now + shape["delay"] / 1000

    def allows_tcp(self, packet):
        ports = self.shape["tcpPorts"]
        if not ports or packet[9] != TCP:
            return True
        return any(port in ports for port in struct.unpack_from("!HH", packet, 4 * (packet[0] & 15)))

    @staticmethod
    def meter(count, packet, is_udp):
        count["packets"] += 1
        count["bytes"] += len(packet)
        if is_udp:
            count["udp"] += len(packet)
            count["udpPackets"] += 1


def open_tun(pid, device):
    """Opens a TUN device in the network namespace of a process."""
    home = os.open("/proc/self/ns/net", os.O_RDONLY)
    there = os.open(f"/proc/{pid}/ns/net", os.O_RDONLY)
    try:
        if libc.setns(there, CLONE_NEWNET) != 0:
            raise OSError(ctypes.get_errno(), "setns")
        fd = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
        fcntl.ioctl(fd, TUNSETIFF, struct.pack("16sH", device.encode(), IFF_TUN | IFF_NO_PI))
        return fd
    finally:
        libc.setns(home, CLONE_NEWNET)
        os.close(there)
        os.close(home)


links, by_address, waiting = {}, {}, []
order = 0
selector = selectors.DefaultSelector()
os.set_blocking(0, False)
selector.register(0, selectors.EVENT_READ, None)
unread = b""


def handle_command(command):
    do = command["do"]
    if do == "link":
        link = Link(open_tun(command["pid"], command["device"]))
        links[command["link"]] = link
        by_address[bytes(int(part) for part in command["address"].split("."))] = link
        selector.register(link.fd, selectors.EVENT_READ, link)
    elif do == "shape":
        links[command["link"]].shape.update(command["shape"])
    return {"counts": {name: link.counts for name, link in links.items()}}


def read_commands():
    global unread
    chunk = os.read(0, 65536)
    if not chunk:
        sys.exit(0)
    *lines, unread = (unread + chunk).split(b"\n")
    for line in lines:
        command = json.loads(line)
        try:
            answer = handle_command(command)
        except Exception as error:  # reported to the caller
            answer = {"error": str(error)}
        print(json.dumps({"id": command["id"], **answer}), flush=True)


def read_packets(link):
    global order
    for _ in range(64):
        try:
            packet = os.read(link.fd, 2048)
        except (BlockingIOError, OSError):
            return
        target = by_address.get(packet[16:20]) if packet[0] >> 4 == 4 else None
        if not target:
            continue
        at = link.forward("out", packet, time.monotonic())
        if at is not None:
            order += 1
            heapq.heappush(waiting, (at, order, target, packet, True))


def deliver(now):
    global order
    while waiting and waiting[0][0] <= now:
        at, _, target, packet, is_outbound = heapq.heappop(waiting)
        if is_outbound:
            at = target.forward("in", packet, at)
            if at is not None:
                order += 1
                heapq.heappush(waiting, (at, order, target, packet, False))
            continue
        try:
            os.write(target.fd, packet)
        except OSError:
            target.counts["in"]["lost"] += 1


while True:
    wait = max(0, waiting[0][0] - time.monotonic()) if waiting else None
    for key, _ in selector.select(wait):
        if key.data is None:
            read_commands()
        else:
            read_packets(key.data)
    deliver(time.monotonic())
