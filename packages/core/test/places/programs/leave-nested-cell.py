# A tool in a cell inside a cell that looks for a way to what only the outer cell grants.
# Arguments: the port of a server that only the outer cell may reach, and one that both may. One JSON line per route.
import ctypes, errno, json, os, resource, socket, sys

outer_port, own_port = int(sys.argv[1]), int(sys.argv[2])
libc = ctypes.CDLL(None, use_errno=True)
RLIMIT_LOCKS = 10
mark = resource.getrlimit(RLIMIT_LOCKS)[1]

def route(name, act):
    try:
        escaped, detail = bool(act()), ''
    except (OSError, ValueError) as error:
        escaped, detail = False, errno.errorcode.get(getattr(error, 'errno', None), str(error))
    print(json.dumps({'route': name, 'outcome': 'escaped' if escaped else 'refused', 'detail': detail}, separators=(',', ':')), flush=True)

# Whether the server was reached is also counted there; nobody needs to wait long for its answer.
def reach(address, family=socket.AF_INET):
    with socket.socket(family) as s:
        s.settimeout(1)
        s.connect(address)
        s.sendall(b'hello\n')
        return s.recv(99) == b'hello\n'

def in_child(act):
    pid = os.fork()
    if pid == 0:
        try: os._exit(7 if act() else 0)
        except (OSError, ValueError): os._exit(0)
    return os.waitpid(pid, 0)[1] != 0

# What the launcher of a cell says to the outer keeper, see native/wire/nested-request.c.
def ask(number, *destinations):
    words = b'\0'.join([b'cordon-nested-1', str(number).encode(), b'3128', *destinations, b'end']) + b'\0' + bytes(200)
    s = socket.socket()
    if libc.connect(s.fileno(), words, len(words)) < 0: raise OSError(ctypes.get_errno(), '')
    return s

def marked(number, act):
    resource.setrlimit(RLIMIT_LOCKS, (number, number))
    return act()

everywhere = (b'name', b'outer.test', str(outer_port).encode(), b'block', b'0.0.0.0/0', str(outer_port).encode())
anything = lambda: reach(('127.0.0.1', outer_port)) or reach(('22.18.0.1', outer_port)) or reach(('22.18.0.1', own_port))

# Addresses that the outer cell has given to names, its loopback, and the server itself.
for last in range(1, 9): route(f'address-of-a-name-{last}', lambda: reach((f'22.18.0.{last}', outer_port)))
route('address', lambda: reach(('127.0.0.1', outer_port)))
route('mapped', lambda: reach(('::ffff:127.0.0.1', outer_port), socket.AF_INET6))
route('name', lambda: socket.getaddrinfo('outer.test', outer_port))
route('datagrams', lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
route('unix-sockets', lambda: socket.socket(socket.AF_UNIX))
route('raise-the-mark', lambda: resource.setrlimit(RLIMIT_LOCKS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY)) is None)
route('raise-the-mark-a-little', lambda: resource.setrlimit(RLIMIT_LOCKS, (mark, mark + 1)) is None)
route('lower-the-mark', lambda: in_child(lambda: marked(mark - 1, anything)))
route('ask-for-more', lambda: ask(mark, *everywhere))
route('ask-without-a-mark', lambda: ask(2 ** 64 - 1, *everywhere))
def ask_for_a_child():
    with ask(mark - 2, *everywhere): return in_child(lambda: marked(mark - 2, anything))
route('ask-for-a-child', ask_for_a_child)
def ask_and_leave():
    ask(mark - 3, *everywhere).close()
    return in_child(lambda: marked(mark - 3, anything))
route('ask-and-leave', ask_and_leave)
def ask_often():
    kept = []
    try:
        for number in range(1000): kept.append(ask(mark - 10 - number))
    except OSError:
        return len(kept) > 16
    return True
route('ask-often', ask_often)
for name, words in {'nothing': bytes(129), 'too-long': bytes(1 << 20), 'cut': b'cordon-nested-1\0' + b'9' * 300}.items():
    def odd(words=words):
        with socket.socket() as s: return libc.connect(s.fileno(), words, len(words)) == 0
    route(f'ask-with-{name}', odd)
# The allowed twin, behind all of this.
with socket.create_connection(('own.test', own_port), 10) as s:
    s.sendall(b'still there\n')
    print(s.recv(99).decode(), end='')
