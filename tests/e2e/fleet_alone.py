#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Asks the agents of a fleet again and again whether their hosts are alone, until SIGTERM.

Usage: fleet_alone.py SOCKET... . At the end it prints, for each host that was alone at any time, its
number, and since and until when at most: ns of CLOCK_MONOTONIC. A host whose agent says nothing
counts as alone. "0" as the end: it still was."""
import json
import signal
import socket
import sys
import time

ended = False


def end(_signal, _frame):
    global ended
    ended = True


def is_alone(path):
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as agent:
        agent.settimeout(1)
        try:
            agent.connect(path)
            agent.send(b'status')
            return json.loads(agent.recv(1 << 16))['membership']['alone'] > 0
        except (OSError, ValueError):
            return True


signal.signal(signal.SIGTERM, end)
hosts = [{'path': path, 'heard': time.monotonic_ns(), 'since': None, 'until': 0} for path in sys.argv[1:]]
print('ready', file=sys.stderr, flush=True)
while not ended:
    for host in hosts:
        asked = time.monotonic_ns()
        if is_alone(host['path']):
            host['since'] = host['since'] or host['heard']
            host['until'] = 0
        else:
            host['heard'] = asked
            if host['since'] and not host['until']:
                host['until'] = time.monotonic_ns()
    time.sleep(0.02)
for number, host in enumerate(hosts, 1):
    if host['since']:
        print(number, host['since'], host['until'])
