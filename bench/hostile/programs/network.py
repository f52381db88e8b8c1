"""Hostile clients: network.py unread|connections|blanks|first-bytes HOST PORT"""
import socket
import ssl
import sys
import time

way, host, port = sys.argv[1], sys.argv[2], int(sys.argv[3])
held = []


def plain():
    return socket.create_connection((host, port), timeout=5)


def tls():
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context.wrap_socket(plain(), server_hostname=host)


def request(stream, target, header=b''):
    stream.sendall(b'GET %s HTTP/1.1\r\nHost: %s:%d\r\n%s\r\n' % (target, host.encode(), port, header))


def unread():
    for _ in range(300):
        stream = tls()
        held.append(stream)
        request(stream, b'/endless')


def connections():
    for _ in range(5000):
        held.append(plain())


def blanks():
    for _ in range(20):
        stream = tls()
        request(stream, b'/', b'x-blank: a' + b' ' * 64000 + b'b\r\n')
        stream.recv(1000)
        stream = tls()
        request(stream, b'/blanks')
        stream.recv(1000)


def first_bytes():
    for start in (b'\r\n' * 32000, b' ' * 64000, b'G' * 64000, b'\x16\x03\x01\xff\xff' + b'\x01' * 64000):
        stream = plain()
        for at in range(0, len(start), 50):
            stream.sendall(start[at:at + 50])
        held.append(stream)


try:
    {'unread': unread, 'connections': connections, 'blanks': blanks, 'first-bytes': first_bytes}[way]()
except OSError as error:
    print(error)
time.sleep(60)
