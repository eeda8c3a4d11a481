#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""A client without a TCP stack, which collects SYN cookies and uses them as it likes.

cookies.py collect DEV MAC SERVER PORT FIRST COUNT
    Sends a SYN from each of COUNT addresses, from FIRST upwards, each in another /24 or /48. Prints
    "SOURCE COOKIE OFFSET FLAGS" for each SYN-ACK: the last two are bytes 12 and 13 of its TCP header.
    The SYNs have 100 bytes of data, and all reserved bits and flags of congestion control.
cookies.py send DEV MAC SERVER PORT TIMES
    Sends the ACK for each of these lines, TIMES times.
"""
import ipaddress
import socket
import struct
import sys
import time

SPORT, SEQ = 40000, 1000
SYN, ACK, CONGESTION = 0x02, 0x10, 0xc0
RESERVED = 0x0f  # in byte 12
SYNACK = 0x12
SYN_OPTIONS = b'\2\4\5\xb4\4\2\3\3\7\0\0\0'  # MSS 1460, SACK, window scaling
STEP4, STEP6 = 1 << 8, 1 << 80
PATIENCE = 2  # seconds, after the last SYN-ACK


def checksum(data):
    total = sum(struct.unpack(f'!{len(data) // 2}H', data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff


class Wire:
    """Frames to one port of a server."""

    def __init__(self, dev, mac, server, port):
        self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
        self.socket.setsockopt(socket.SOL_SOCKET, 33, 1 << 25)  # SO_RCVBUFFORCE
        self.socket.bind((dev, 0))
        self.mac = bytes.fromhex(mac.replace(':', '')) + self.socket.getsockname()[4]
        self.server, self.port = ipaddress.ip_address(server), int(port)

    def send(self, source, seq, ack, offset, flags, rest=b''):
        tcp = struct.pack('!HHIIBBHHH', SPORT, self.port, seq, ack, offset, flags, 64240, 0, 0) + rest
        addresses = source.packed + self.server.packed
        check = checksum(addresses + struct.pack('!HH', 6, len(tcp)) + tcp)
        tcp = tcp[:16] + struct.pack('!H', check) + tcp[18:]
        if source.version == 4:
            ip = struct.pack('!BBHHHBBH', 0x45, 0, 20 + len(tcp), 0, 0x4000, 64, 6, 0) + addresses
            ip = ip[:10] + struct.pack('!H', checksum(ip)) + ip[12:]
        else:
            ip = struct.pack('!IHBB', 6 << 28, len(tcp), 6, 64) + addresses
        self.socket.send(self.mac + (b'\x08\x00' if source.version == 4 else b'\x86\xdd') + ip + tcp)

    def receive(self):
        """(destination, TCP header) of a segment from the port; None: another frame."""
        frame = self.socket.recv(2048)
        if self.server.version == 4:
            source, destination, tcp = frame[26:30], frame[30:34], frame[34:]
        else:
            source, destination, tcp = frame[22:38], frame[38:54], frame[54:]
        if source != self.server.packed or len(tcp) < 20 or tcp[:2] != struct.pack('!H', self.port):
            return None
        return ipaddress.ip_address(destination), tcp

    def print_cookies(self, seconds):
        """For as long as one comes every so many seconds; returns how many came."""
        self.socket.settimeout(seconds)
        end, count = time.monotonic() + seconds, 0
        try:
            while time.monotonic() < end:
                got = self.receive()
                if got and got[1][13] & SYNACK == SYNACK:
                    print(got[0], struct.unpack('!I', got[1][4:8])[0], got[1][12], got[1][13])
                    end, count = time.monotonic() + seconds, count + 1
        except TimeoutError:
            pass
        return count


def collect(wire, first, count):
    first, step = ipaddress.ip_address(first), STEP4 if wire.server.version == 4 else STEP6
    offset = (20 + len(SYN_OPTIONS)) << 2 | RESERVED
    for n in range(int(count)):
        wire.send(first + n * step, SEQ, 0, offset, SYN | CONGESTION, SYN_OPTIONS + bytes(100))
    wire.print_cookies(PATIENCE)


def send(wire, times):
    lines = [line.split() for line in sys.stdin]
    for _ in range(int(times)):
        for source, cookie, *_ in lines:
            wire.send(ipaddress.ip_address(source), SEQ + 1, (int(cookie) + 1) & 0xffffffff, 5 << 4, ACK)


{'collect': collect, 'send': send}[sys.argv[1]](Wire(*sys.argv[2:6]), *sys.argv[6:])
