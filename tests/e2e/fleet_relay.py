#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Forwards bytes between a fleet's agents and the fleet server, MS late in each direction.

Usage: fleet_relay.py PORT HOST:PORT MS"""
import asyncio
import sys

port, engine, late = int(sys.argv[1]), sys.argv[2].rsplit(':', 1), float(sys.argv[3]) / 1000


async def carry(reader, writer):
    loop = asyncio.get_running_loop()
    try:
        while data := await reader.read(1 << 16):
            loop.call_later(late, writer.write, data)
    except ConnectionError:
        pass
    loop.call_later(late, writer.close)


async def serve(reader, writer):
    try:
        there = await asyncio.open_connection(engine[0], int(engine[1]))
    except OSError:
        writer.close()
        return
    await asyncio.gather(carry(reader, there[1]), carry(there[0], writer))


async def main():
    async with await asyncio.start_server(serve, '0.0.0.0', port) as server:
        print('ready', file=sys.stderr, flush=True)
        await server.serve_forever()

asyncio.run(main())
