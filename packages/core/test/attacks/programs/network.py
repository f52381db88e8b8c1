"""Reaches the network without a grant, as a Python program would. Usage: network.py TCP_PORT UDP_PORT"""
import http.client
import socket
import subprocess
import sys
import urllib.request

from route import route

tcp, udp = int(sys.argv[1]), int(sys.argv[2])


def greeting(family, address):
    with socket.socket(family, socket.SOCK_STREAM) as connection:
        connection.settimeout(5)
        connection.connect(address)
        return connection.recv(100)


def datagram(family, address):
    with socket.socket(family, socket.SOCK_DGRAM) as sender:
        return sender.sendto(b"planted", address)


def raw_answer(request):
    """The listener speaks no HTTP: being answered at all is the proof."""
    try:
        request()
    except http.client.BadStatusLine as error:
        return str(error)


route("create-connection", lambda: socket.create_connection(("127.0.0.1", tcp), 5).recv(100))
route("localhost", lambda: socket.create_connection(("localhost", tcp), 5).recv(100))
route("tcp6", lambda: greeting(socket.AF_INET6, ("::1", tcp)))
route("decimal-address", lambda: greeting(socket.AF_INET, ("2130706433", tcp)))
route("udp", lambda: datagram(socket.AF_INET, ("127.0.0.1", udp)))
route("udp6", lambda: datagram(socket.AF_INET6, ("::1", udp)))
route("urllib", lambda: raw_answer(lambda: urllib.request.build_opener(urllib.request.ProxyHandler({})).open(f"http://127.0.0.1:{tcp}/", timeout=5)))
route("bash-dev-tcp", lambda: subprocess.run(["/bin/bash", "-c", f"head -c 20 < /dev/tcp/127.0.0.1/{tcp}"], capture_output=True, check=True).stdout)
