"""Runs a program that the exec policy does not name, from an interpreter that it does name.
Usage: exec-policy.py FORBIDDEN SCRATCH LOADER"""
import ctypes
import os
import pty
import shutil
import subprocess
import sys

from route import Nothing, route

forbidden, scratch, loader = sys.argv[1:4]


def in_terminal():
    child, terminal = pty.fork()
    if child == 0:
        try:
            os.execv(forbidden, [forbidden])
        finally:
            os._exit(126)
    try:
        while os.read(terminal, 1024):
            pass
    except OSError:
        pass
    return ended(os.waitpid(child, 0)[1])


def ended(status):
    code = os.waitstatus_to_exitcode(status)
    if code != 0:
        raise Nothing(f"ended with {code}")
    return "it ran"


def spawned(*arguments, **options):
    return ended(subprocess.run(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **options).returncode << 8)


def forked():
    child = os.fork()
    if child == 0:
        try:
            os.execv(forbidden, ["true"])
        finally:
            os._exit(99)
    return ended(os.waitpid(child, 0)[1])


def copied():
    copy = shutil.copy(forbidden, f"{scratch}/python-copy")
    os.chmod(copy, 0o755)
    return spawned(copy)


def in_memory():
    fd = os.memfd_create("copy", 0)
    os.write(fd, open(forbidden, "rb").read())
    return spawned(f"/proc/self/fd/{fd}", pass_fds=(fd,))


def by_libc():
    return ended(ctypes.CDLL(None).system(b"true") & 0xFFFF)


route("subprocess", lambda: spawned(forbidden))
route("posix-spawn", lambda: ended(os.waitpid(os.posix_spawn(forbidden, ["true"], {}), 0)[1]))
route("fork-exec", forked)
route("os-system", lambda: ended(os.system(forbidden)))
route("popen", lambda: ended(os.popen(forbidden).close() or 0))
route("shell", lambda: spawned(forbidden, shell=True))
route("libc-system", by_libc)
route("pty", in_terminal)
route("copy", copied)
route("memfd", in_memory)
route("loader", lambda: spawned(loader, forbidden))
route("env", lambda: spawned("/usr/bin/env", forbidden))
