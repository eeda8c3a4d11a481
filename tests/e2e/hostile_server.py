#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Replies to any client like a broken or hostile Redis: hostile_server.py PORT WAY [SEED]

Each WAY is a function; the values that it yields are sent, one after each piece that the client sends.
"""
import random
import socketserver
import sys

chance = random.Random()


def unasked():
    """Two replies to each call."""
    while True:
        yield b'+OK\r\n+OK\r\n'


def greeting():
    """A reply before any call; the first piece is sent immediately."""
    while True:
        yield b'+OK\r\n'


def array():
    while True:
        yield b'*100000000\r\n'


def arrays():
    """Each array is small, but their total is large."""
    while True:
        yield b'*1000\r\n' + b'*1000\r\n' + (b'*1000\r\n' + b':1\r\n' * 1000) * 1000


def bulk():
    yield b'$500000000\r\n'
    while True:
        yield b'x' * 1000000 * 100


def line():
    while True:
        yield b'+' + b'x' * 1000000 * 100


def values(depth):
    """Any value of the protocol, including values that no call expects."""
    kind = chance.randrange(7 if depth else 5)
    if kind == 0:
        return b'$-1\r\n'
    if kind == 1:
        return b':%d\r\n' % chance.choice((0, 1, -1, 2**63 - 1, -2**63))
    if kind == 2:
        return b'+%s\r\n' % chance.choice((b'', b'OK', b'PONG', b'QUEUED'))
    if kind == 3:
        return b'-%s\r\n' % chance.choice((b'', b'ERR', b'MOVED', b'MOVED 1', b'MOVED 99999 :0', b'MOVED 1 10.77.1.1:70000',
                                          b'ASK 1 x:y', b'NOAUTH', b'NOPERM', b'LOADING', b'ERR Function not found',
                                          b'CLUSTERDOWN', b'TRYAGAIN', b'READONLY', b'OOM', b'BUSY', b'\x00\xff%s%n'))
    if kind == 4:
        text = bytes(chance.randrange(256) for _ in range(chance.choice((0, 1, 3, 8, 17, 43, 72, 300))))
        return b'$%d\r\n%s\r\n' % (len(text), text)
    count = chance.choice((-1, 0, 1, 2, 3, 16, 40))
    return b'*%d\r\n' % count + b''.join(values(depth - 1) for _ in range(max(0, count)))


def any_value():
    while True:
        yield values(3)


def any_bytes():
    while True:
        yield bytes(chance.choice(b'+-:$*0123456789\r\n\r\n\x00x') for _ in range(chance.randrange(200)))


def nested():
    while True:
        yield b'*1\r\n' * 100000


def port_zero():
    """A master that announces a replica at port 0, in the order of the requests of 'fleet check'."""
    info = b'redis_version:7.0.0\r\nrole:master\r\ncluster_enabled:1\r\n'
    yield b'$%d\r\n%s\r\n' % (len(info), info)
    yield b'-NOPERM\r\n'
    yield b'$1\r\nm\r\n'
    yield (b'*1\r\n*4\r\n:0\r\n:16383\r\n'
           b'*3\r\n$9\r\n10.77.1.1\r\n:6379\r\n$1\r\nm\r\n'
           b'*3\r\n$9\r\n10.77.1.1\r\n:0\r\n$1\r\nr\r\n')
    while True:
        yield b'-MOVED 1 10.77.1.1:6379\r\n'


class Handler(socketserver.BaseRequestHandler):
    def handle(self):
        pieces = WAYS[sys.argv[2]]()
        try:
            if sys.argv[2] == 'greeting':
                self.request.sendall(next(pieces))
            while self.request.recv(1 << 16):
                self.request.sendall(next(pieces))
                if sys.argv[2] in ('bulk', 'line'):
                    for piece in pieces:
                        self.request.sendall(piece)
        except OSError:
            pass


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = daemon_threads = True


WAYS = {way.__name__: way for way in (unasked, greeting, array, arrays, bulk, line, any_value, any_bytes, nested,
                                    port_zero)}
chance.seed(sys.argv[3] if len(sys.argv) > 3 else 1)
with Server(('0.0.0.0', int(sys.argv[1])), Handler) as server:
    print('ready', flush=True)
    server.serve_forever()
