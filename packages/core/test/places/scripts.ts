// Small Python programs for sockets, in which the places differ.
const PYTHON = '/usr/bin/python3'

const python = (source: string, ...args: readonly string[]): readonly string[] => [PYTHON, '-B', '-c', source, ...args]

/** Connects to a port of the host's loopback, and says what it was told there. */
export const fetchFromHost = (port: number): readonly string[] =>
  python(
    `import socket, sys
s = socket.create_connection(("127.0.0.1", int(sys.argv[1])), 10); s.sendall(b"GET / HTTP/1.0\\r\\n\\r\\n")
text = b""
while part := s.recv(4096): text += part
print(text.decode().splitlines()[-1])`,
    String(port),
  )

/** The same as an event loop does it: without blocking, asking twice, and being told of a port where nobody listens. */
export const fetchWithoutBlocking = (port: number): readonly string[] =>
  python(
    `import errno, fcntl, select, socket, sys
address = ("127.0.0.1", int(sys.argv[1]))
s = socket.socket(); s.setblocking(False)
code = s.connect_ex(address); print(code in (0, errno.EINPROGRESS))
select.select([], [s], [], 10); print(s.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR))
print(s.connect_ex(address) in (0, errno.EISCONN))
print(s.getblocking(), bool(fcntl.fcntl(s.fileno(), fcntl.F_GETFD) & fcntl.FD_CLOEXEC))
s.setblocking(True); s.sendall(b"GET / HTTP/1.0\\r\\n\\r\\n"); print(s.recv(12).decode())
closed = socket.socket(); closed.bind(("127.0.0.1", 0)); port = closed.getsockname()[1]; closed.close()
print(errno.errorcode.get(socket.socket().connect_ex(("127.0.0.1", port))))`,
    String(port),
  )

/** Talks to its own process over a Unix socket in its private folder, as a stream and in packets. */
export const TALK_TO_ITSELF = python(`import os, socket
for kind in (socket.SOCK_STREAM, socket.SOCK_SEQPACKET):
    path = f"{os.environ.get('TMPDIR', '/tmp')}/own-{int(kind)}"
    server = socket.socket(socket.AF_UNIX, kind); server.bind(path); server.listen(1)
    client = socket.socket(socket.AF_UNIX, kind); client.connect(path); client.send(b"own")
    print(server.accept()[0].recv(9).decode())`)

/** Talks to itself over its own loopback. */
export const TALK_OVER_LOOPBACK = python(`import socket
server = socket.socket(); server.bind(("127.0.0.1", 0)); server.listen(1)
client = socket.create_connection(server.getsockname(), 10); client.send(b"own"); print(server.accept()[0].recv(9).decode())`)

/** Takes a port of the host to listen on. */
export const LISTEN = python(`import socket
for how in ("unbound", "bound"):
    s = socket.socket()
    try:
        if how == "bound": s.bind(("127.0.0.1", 0))
        s.listen(1); print("listens", s.getsockname())
    except OSError: print("refused")`)

/** Reaches a granted name in every usual way, and tries what is not granted; each says in one line how it went. */
export const reachGranted = (port: number): readonly string[] =>
  python(
    `import asyncio, errno, os, select, socket, sys, threading, urllib.request
name, port = "host.test", int(sys.argv[1])
ask = b"GET / HTTP/1.1\\r\\nHost: host.test:%d\\r\\nConnection: close\\r\\n\\r\\n" % port
def talk(s):
    s.sendall(ask); text = b""
    while part := s.recv(4096): text += part
    return text.split(b"\\r\\n\\r\\n")[-1].split(b"\\r\\n")[-1].strip().decode() or text.decode().splitlines()[-1]
def tried(act):
    try: return act()
    except OSError as e: return errno.errorcode.get(e.errno, type(e).__name__)
print("blocking", talk(socket.create_connection((name, port), None)))
s = socket.socket(); s.setblocking(False); address = socket.getaddrinfo(name, port, socket.AF_INET)[0][4]
first = s.connect_ex(address); select.select([], [s], [], 10); second = s.connect_ex(address); s.setblocking(True)
print("not-blocking", first in (0, errno.EINPROGRESS), errno.errorcode.get(second, second), talk(s))
s = socket.socket(socket.AF_INET6); s.connect(("::ffff:" + address[0], port)); print("mapped", talk(s))
print("variables", urllib.request.urlopen("http://%s:%d/" % (name, port)).read().decode().strip())
results = []
def one(): results.append(talk(socket.create_connection((name, port))))
threads = [threading.Thread(target=one) for i in range(20)]; [t.start() for t in threads]; [t.join() for t in threads]
print("threads", results.count("word of the host"))
print("other-port", tried(lambda: socket.create_connection((name, port + 1))))
print("other-name", tried(lambda: socket.create_connection(("other.test", port))))
print("host-itself", tried(lambda: talk(socket.create_connection(("127.0.0.1", port), None))))
s = socket.socket(); s.connect(address); s2 = s.dup()
print("again", tried(lambda: s2.connect(("127.0.0.1", port))))`,
    String(port),
  )
