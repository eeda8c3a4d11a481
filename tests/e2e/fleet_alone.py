#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Collects from the agents of a fleet when their hosts were offline, until SIGTERM.

Usage: fleet_alone.py SOCKET... . On exit it prints lines of HOST BUCKET SINCE UNTIL, in ns of
CLOCK_MONOTONIC; UNTIL 0: still offline. Agents count the periods offline, so none is missed between
two requests: of several, only the latest has exact times, and the others are between the previous
request and its start. A host without an agent is offline after its deadline has passed."""
import json
import signal
import socket
import sys
import time

BUCKETS = 16
ended = False


def end(_signal, _frame):
    global ended
    ended = True


def ask(path):
    """The reply of the agent; {}: it is busy; None: not running."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as agent:
        agent.settimeout(1)
        try:
            agent.connect(path)
            agent.send(b'status')
            return json.loads(agent.recv(1 << 16))
        except (ConnectionError, FileNotFoundError, ValueError):
            return None
        except OSError:
            return {}


class Bucket:
    def __init__(self):
        self.times, self.heard_until, self.alone = None, 0, []

    def note(self, since, until):
        """A period with the same start as the last one continues it."""
        if self.alone and self.alone[-1][0] == since:
            self.alone.pop()
        if not until or until > began:
            self.alone.append((since, until))

    def told(self, said, looked):
        """`looked`: time of the previous request to this agent; 0: none."""
        times = said['offline_count']
        if looked and times > self.times + 1:
            self.note(looked, said['offline_since_ns'])
        if times:
            self.note(said['offline_since_ns'], said['offline_until_ns'] or 0)
        self.times, self.heard_until = times, said['online_until_ns'] or 0

    def silent(self, now):
        if self.heard_until < now:
            self.note(self.heard_until or began, now)


class Host:
    def __init__(self, path):
        self.path, self.agent, self.looked = path, None, 0
        self.bucket = [Bucket() for _ in range(BUCKETS)]

    def look(self):
        now = time.monotonic_ns()
        said = ask(self.path)
        if said is None:
            for bucket in self.bucket:
                bucket.silent(now)
        elif said:
            is_same = said['started_ns'] == self.agent
            for bucket, of in zip(self.bucket, said['buckets']):
                bucket.told(of, self.looked if is_same else 0)
            self.agent, self.looked = said['started_ns'], now


signal.signal(signal.SIGTERM, end)
began = time.monotonic_ns()
hosts = [Host(path) for path in sys.argv[1:]]
for host in hosts:
    host.look()
print('ready', file=sys.stderr, flush=True)
while not ended:
    time.sleep(0.05)
    for host in hosts:
        host.look()
for host in hosts:
    host.look()
for number, host in enumerate(hosts, 1):
    for b, bucket in enumerate(host.bucket):
        for since, until in bucket.alone:
            print(number, b, since, until)
