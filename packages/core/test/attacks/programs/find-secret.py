# Uses a credential, then looks for its value wherever a tool can look: what it was answered, its variables, every file
# and the memory of every process that it can open. Prints where it found what. It knows the form of a value, not a value.
import base64, ctypes, os, re, subprocess, sys

url, = sys.argv[1:]
heads = [b"canary-", b"decoy--"]
forms = []
for head in heads:
    spelled = b"[" + head[:1] + b"]" + head[1:]  # so that this pattern does not find itself
    forms.append(spelled + b"[0-9a-f]{24}")
    # As bytes of a longer text in base64: what stands at the beginning of a group of three can be recognised.
    for shift in range(3):
        text = base64.b64encode(b"x" * shift + head)[(shift * 8 + 5) // 6 : (len(head) + shift) // 3 * 4]
        forms.append(b"[" + text[:1] + b"]" + text[1:] + b"[A-Za-z0-9+/]{30}")
pattern = re.compile(b"|".join(forms))
found = set()

def look(place, content):
    for match in pattern.finditer(content):
        found.add((place, match.group().decode("latin1")))

def read(path, most=1 << 24):
    try:
        with open(path, "rb") as file:
            return file.read(most)
    except (OSError, ValueError):
        return b""

answer = subprocess.run(["curl", "-sSi", "-H", "X-Own: " + os.environ.get("OTHER_TOKEN", ""), url + "/v1/" + os.environ["OTHER_TOKEN"] + "?q=secret-question"], capture_output=True)
sys.stdout.write(answer.stdout.decode("latin1") + answer.stderr.decode("latin1"))
look("answer", answer.stdout + answer.stderr)
for name, value in os.environb.items():
    look("variable", name + b"=" + value)

# The twin: something of the same form that it has itself.
decoy = b"decoy--" + os.urandom(12).hex().encode()
with open(os.environ["TMPDIR"] + "/decoy", "wb") as file:
    file.write(decoy)

own = [os.environ["TMPDIR"], os.environ["HOME"], os.getcwd()]
for top in ["/tmp", "/var/tmp", "/etc", "/run", "/dev/shm", *(folder for folder in own if folder != "/")]:
    for folder, _, names in os.walk(top):
        for name in names:
            path = os.path.join(folder, name)
            if os.path.isfile(path):
                look("file", read(path))

try:
    listed = os.listdir("/proc")
except OSError:
    listed = []
pids = {int(name) for name in listed if name.isdigit()} | {os.getpid(), os.getppid()} | set(range(1, 300)) | set(range(os.getpid() - 300, os.getpid() + 50))
opened = 0
for pid in sorted(pids):
    for name in ["environ", "cmdline", "auxv"]:
        look("process", read("/proc/%d/%s" % (pid, name)))
    try:
        memory = os.open("/proc/%d/mem" % pid, os.O_RDONLY)
    except OSError:
        continue
    opened += 1
    for line in read("/proc/%d/maps" % pid).splitlines():
        span, rights = line.split()[:2]
        if not rights.startswith(b"r") or b"[v" in line:
            continue
        begin, end = (int(part, 16) for part in span.split(b"-"))
        try:
            for at in range(begin, end, 1 << 22):
                look("memory", os.pread(memory, min(end - at, 1 << 22), at))
        except OSError:
            pass
    os.close(memory)

# Its own it can read where not even that file can be opened.
for line in read("/proc/self/maps").splitlines() if opened == 0 else []:
    span, rights, _, _, inode = line.split()[:5]
    if rights.startswith(b"rw") and inode == b"0" and b"[v" not in line:
        begin, end = (int(part, 16) for part in span.split(b"-"))
        look("memory", ctypes.string_at(begin, end - begin))

sys.stdout.flush()
print("\nOPENED", opened)
for place, text in sorted(found):
    print("FOUND", place, text)
