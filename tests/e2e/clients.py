#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""A TCP server and its clients, for ways of using a connection that a page of a web server lacks.

clients.py serve PORT LISTENERS
    LISTENERS sockets share the port (SO_REUSEPORT); Fast Open is allowed. The first line of a
    connection is what the server does:
      send N    sends N bytes, and closes
      take N    receives N bytes, replies "ok", and closes
      echo      returns each further line
      linger S  sends a line every 0.1 s, for S seconds, and closes
      half      closes its direction at once, receives to the end, and writes the count to stdout
clients.py get|put|fast|linger|half|echo SERVER PORT SOURCE [N]
    Connects from SOURCE, ADDRESS[,PORT]; N is the argument of the request; for 'half' and 'echo' a named
    pipe, whose lines they send until "end"; 'echo' prints the replies. 'fast' sends its request in the SYN.
    Prints "ok", with "in the SYN" if the server has accepted the request there, or what was received instead.
"""
import os
import socket
import sys
import threading
import time

PATIENCE = 100  # seconds
TCPI_OPT_SYN_DATA = 32  # of the sixth byte of TCP_INFO


def read_line(connection):
    line = b''
    while not line.endswith(b'\n'):
        byte = connection.recv(1)
        if not byte:
            break
        line += byte
    return line.decode().split()


def read_all(connection):
    count = 0
    while piece := connection.recv(65536):
        count += len(piece)
    return count


def read_bytes(connection, count):
    while count > 0:
        piece = connection.recv(65536)
        if not piece:
            break
        count -= len(piece)
    return count


def serve_one(connection):
    with connection:
        words = read_line(connection) or ['']
        count = int(words[1]) if len(words) > 1 else 0
        if words[0] == 'send':
            connection.sendall(bytes(count))
        elif words[0] == 'take' and not read_bytes(connection, count):
            connection.sendall(b'ok\n')
        elif words[0] == 'echo':
            while line := read_line(connection):
                connection.sendall((' '.join(line) + '\n').encode())
        elif words[0] == 'linger':
            for _ in range(10 * count):
                connection.sendall(b'tick\n')
                time.sleep(0.1)
        elif words[0] == 'half':
            connection.shutdown(socket.SHUT_WR)
            print(read_all(connection), flush=True)


def listen(port):
    listener = socket.socket(socket.AF_INET6, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_FASTOPEN, 16)
    listener.bind(('::', port))
    listener.listen(1024)
    return listener


def accept(listener):
    while True:
        threading.Thread(target=serve_one, args=[listener.accept()[0]], daemon=True).start()


def serve(port, listeners):
    for listener in [listen(int(port)) for _ in range(int(listeners))]:
        threading.Thread(target=accept, args=[listener]).start()


def was_in_syn(connection):
    info = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 8)
    return ' in the SYN' if info[5] & TCPI_OPT_SYN_DATA else ''


def use(connection, way, count):
    if way == 'get':
        left = int(count) - read_all(connection)
        return 'ok' if not left else f'{left} bytes are missing'
    if way == 'put':
        connection.sendall(bytes(int(count)))
        return ' '.join(read_line(connection))
    if way == 'fast':
        return ' '.join(read_line(connection)) + was_in_syn(connection)
    if way == 'linger':
        connection.shutdown(socket.SHUT_WR)
        print('connected', flush=True)
        left = 50 * int(count) - read_all(connection)
        return 'ok' if not left else f'{left} bytes are missing'
    if way == 'half' and read_all(connection):
        return 'received data'
    print('connected', flush=True)
    lines = os.fdopen(os.open(count, os.O_RDWR))  # for writing as well: there is no end of file
    while (line := lines.readline()) != 'end\n':
        connection.sendall(line.encode())
        if way == 'echo':
            print(*read_line(connection), flush=True)
    return 'ok'


REQUESTS = {'get': 'send %s', 'put': 'take %s', 'fast': 'echo\nok', 'linger': 'linger %s', 'half': 'half', 'echo': 'echo'}


def visit(way, server, port, source, count=''):
    connection = socket.socket(socket.AF_INET6 if ':' in server else socket.AF_INET)
    connection.settimeout(PATIENCE)
    address, _, source_port = source.partition(',')
    connection.setsockopt(socket.IPPROTO_IP, 15, 1)  # IP_FREEBIND
    connection.bind((address, int(source_port or 0)))
    request = REQUESTS[way]
    request = ((request % count if '%' in request else request) + '\n').encode()
    with connection:
        if way == 'fast':
            connection.sendto(request, socket.MSG_FASTOPEN, (server, int(port)))
        else:
            connection.connect((server, int(port)))
            connection.sendall(request)
        print(use(connection, way, count), flush=True)


if sys.argv[1] == 'serve':
    serve(*sys.argv[2:])
else:
    try:
        visit(*sys.argv[1:])
    except OSError as error:
        print(error)
