"""Reads one file that was not granted, as a Python program would. Usage: read-path.py FILE SCRATCH"""
import ctypes
import glob
import importlib.machinery
import linecache
import mmap
import os
import pathlib
import shutil
import sqlite3
import subprocess
import sys
import tarfile
import zipfile

from route import route

target, scratch = sys.argv[1:3]


def by_libc():
    libc = ctypes.CDLL(None, use_errno=True)
    fd = libc.open(target.encode(), 0)
    if fd < 0:
        raise OSError(ctypes.get_errno(), "open")
    return os.read(fd, 100)


def by_mapping():
    fd = os.open(target, os.O_RDONLY)
    return mmap.mmap(fd, 0, prot=mmap.PROT_READ)[:100]


def by_folder_handle():
    folder = os.open(os.path.dirname(target), os.O_PATH)
    return os.read(os.open(os.path.basename(target), os.O_RDONLY, dir_fd=folder), 100)


def by_copy():
    return open(shutil.copy(target, scratch)).read()


def by_archive():
    with tarfile.open(f"{scratch}/a.tar", "w") as archive:
        archive.add(target, "taken")
    return tarfile.open(f"{scratch}/a.tar").extractfile("taken").read()


def by_archived_link():
    """A link in an archive that the program unpacks itself (as a tool that handles uploads does)."""
    with tarfile.open(f"{scratch}/link.tar", "w") as archive:
        entry = tarfile.TarInfo("innocent")
        entry.type, entry.linkname = tarfile.SYMTYPE, target
        archive.addfile(entry)
    with tarfile.open(f"{scratch}/link.tar") as archive:
        archive.extractall(scratch)
    return open(f"{scratch}/innocent").read()


def by_zip():
    with zipfile.ZipFile(f"{scratch}/a.zip", "w") as archive:
        archive.write(target, "taken")
    return zipfile.ZipFile(f"{scratch}/a.zip").read("taken")


def by_import():
    return importlib.machinery.SourceFileLoader("taken", target).get_data(target)


def by_database():
    database = sqlite3.connect(":memory:")
    try:
        database.execute("attach database ? as other", (target,))
        database.execute("select * from other.sqlite_master")
    except sqlite3.DatabaseError as error:
        if "not a database" in str(error):
            return "opened"
        raise


def by_program():
    return subprocess.run(["/bin/cat", target], check=True, capture_output=True).stdout


def by_shell():
    return subprocess.run(f"cat '{target}'", shell=True, check=True, capture_output=True).stdout


route("open", lambda: open(target).read())
route("os-open", lambda: os.read(os.open(target, os.O_RDONLY), 100))
route("pathlib", lambda: pathlib.Path(target).read_text())
route("pathlib-resolve", lambda: (pathlib.Path(scratch) / ".." / ".." / ".." / ".." / ".." / target[1:]).resolve(strict=True).read_text())
route("file-url", lambda: __import__("urllib.request").request.urlopen(pathlib.Path(target).as_uri()).read())
route("linecache", lambda: linecache.getline(target, 1))
route("libc", by_libc)
route("mmap", by_mapping)
route("dir-fd", by_folder_handle)
route("copy", by_copy)
route("glob", lambda: "".join(glob.glob(os.path.dirname(target) + "/*")))
route("scandir", lambda: [entry.name for entry in os.scandir(os.path.dirname(target))])
route("tar", by_archive)
route("tar-link", by_archived_link)
route("zip", by_zip)
route("import", by_import)
route("sqlite-attach", by_database)
route("cat", by_program)
route("shell", by_shell)
