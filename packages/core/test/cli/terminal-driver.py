"""Sits at a terminal: runs a command in a new one and plays a script of steps against it.

Reads {"argv": [...], "environment": {...}, "steps": [...], "timeout": seconds} from stdin, where a step is
{"expect": text}, {"send": text}, {"resize": [rows, columns]}, {"touch": file}, {"look": true} (remember the
modes of the terminal), {"raw": true} or {"raw": false} (wait until the keys are passed on as they are, or not).
Prints {"output": text, "status": exit or -signal, "modes": [...], "failed": step or null}.
"""
import fcntl, json, os, pty, select, signal, struct, sys, termios, time

plan = json.load(sys.stdin)
deadline = time.monotonic() + plan["timeout"]
output, seen = b"", 0
modes = []
failed = None

child, terminal = pty.fork()
if child == 0:
    os.execvpe(plan["argv"][0], plan["argv"], plan["environment"])


def resize(rows, columns):
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


def modes_now():
    flags = termios.tcgetattr(terminal)[3]
    return {"canonical": bool(flags & termios.ICANON), "echo": bool(flags & termios.ECHO), "signals": bool(flags & termios.ISIG)}


def read_more(wait):
    """False at the end of the terminal, None when nothing came in time."""
    global output
    if not select.select([terminal], [], [], wait)[0]:
        return None
    try:
        got = os.read(terminal, 65536)
    except OSError:
        got = b""
    output += got
    return bool(got)


def play(step):
    global seen
    if "expect" in step:
        wanted = step["expect"].encode()
        while wanted not in output[seen:]:
            if time.monotonic() > deadline or read_more(0.1) is False:
                return False
        seen = output.index(wanted, seen) + len(wanted)
    elif "send" in step:
        os.write(terminal, step["send"].encode())
    elif "resize" in step:
        resize(*step["resize"])
    elif "touch" in step:
        open(step["touch"], "w").close()
    elif "raw" in step:
        while modes_now()["signals"] is step["raw"]:
            if time.monotonic() > deadline or read_more(0.05) is False:
                return False
    elif "look" in step:
        modes.append(modes_now())
    return True


resize(24, 80)
for step in plan["steps"]:
    if not play(step):
        failed = step
        os.kill(child, signal.SIGKILL)
        break
while time.monotonic() < deadline and read_more(0.1) is not False:
    pass
if time.monotonic() >= deadline and failed is None:
    failed = {"end": True}
    os.kill(child, signal.SIGKILL)
status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
print(json.dumps({"output": output.decode("utf8", "replace"), "status": status, "modes": modes, "failed": failed}))
