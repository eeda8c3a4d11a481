#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Asks the agents of a fleet again and again whether their hosts are alone, until SIGTERM.

Usage: fleet_alone.py SOCKET... . At the end it prints, for each host that was alone at any time, its
number, and since and until when at most: ns of CLOCK_MONOTONIC. A host whose agent says nothing
counts as alone, and so does one whose deadline has passed since it was asked last, though it may have
had another one by then. "0" as the end: it still was."""
import json
import signal
import socket
import sys
import time

ended = False


def end(_signal, _frame):
    global ended
    ended = True


def ask(path):
    """When it is alone unless it hears the engine before; 0: it is."""
    now = time.monotonic_ns()
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as agent:
        agent.settimeout(1)
        try:
            agent.connect(path)
            agent.send(b'status')
            membership = json.loads(agent.recv(1 << 16))['membership']
            return 0 if membership['alone'] else now + membership['deadline_ms'] * 1000000
        except (OSError, ValueError):
            return 0


signal.signal(signal.SIGTERM, end)
hosts = [{'path': path, 'heard': time.monotonic_ns(), 'deadline': 0, 'since': None, 'until': 0}
         for path in sys.argv[1:]]
print('ready', file=sys.stderr, flush=True)
while not ended:
    for host in hosts:
        asked = time.monotonic_ns()
        deadline = ask(host['path'])
        if not deadline or 0 < host['deadline'] < time.monotonic_ns():
            host['since'] = host['since'] or host['heard']
            host['until'] = 0
        if deadline:
            host['heard'] = asked
            if host['since'] and not host['until']:
                host['until'] = time.monotonic_ns()
        host['deadline'] = deadline
    time.sleep(0.02)
for number, host in enumerate(hosts, 1):
    if host['since']:
        print(number, host['since'], host['until'])
