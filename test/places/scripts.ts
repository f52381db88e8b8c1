// Small programs in Python for what the places differ in: sockets.
const PYTHON = '/usr/bin/python3'

const python = (source: string, ...args: readonly string[]): readonly string[] => [PYTHON, '-B', '-c', source, ...args]

/** Connects to a port of the host's loopback, and says what it was told there. */
export const fetchFromHost = (port: number): readonly string[] =>
  python(`import socket, sys
s = socket.create_connection(("127.0.0.1", int(sys.argv[1])), 10); s.sendall(b"GET / HTTP/1.0\\r\\n\\r\\n")
text = b""
while part := s.recv(4096): text += part
print(text.decode().splitlines()[-1])`, String(port))

/** The same as an event loop does it: without blocking, asking twice, and being told of a port where nobody listens. */
export const fetchWithoutBlocking = (port: number): readonly string[] =>
  python(`import errno, fcntl, select, socket, sys
address = ("127.0.0.1", int(sys.argv[1]))
s = socket.socket(); s.setblocking(False)
code = s.connect_ex(address); print(code in (0, errno.EINPROGRESS))
select.select([], [s], [], 10); print(s.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR))
print(s.connect_ex(address) in (0, errno.EISCONN))
print(s.getblocking(), bool(fcntl.fcntl(s.fileno(), fcntl.F_GETFD) & fcntl.FD_CLOEXEC))
s.setblocking(True); s.sendall(b"GET / HTTP/1.0\\r\\n\\r\\n"); print(s.recv(12).decode())
closed = socket.socket(); closed.bind(("127.0.0.1", 0)); port = closed.getsockname()[1]; closed.close()
print(errno.errorcode.get(socket.socket().connect_ex(("127.0.0.1", port))))`, String(port))

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
