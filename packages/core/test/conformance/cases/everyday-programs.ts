import { existsSync, statSync } from 'node:fs'
import { execFileSync } from 'node:child_process'

import { expect } from 'vitest'

import { area } from '../claim.js'
import type { Area } from '../claim.js'
import { textOf } from '../stage.js'

const NAMED = ['GIT_AUTHOR_NAME=a', 'GIT_AUTHOR_EMAIL=a', 'GIT_COMMITTER_NAME=a', 'GIT_COMMITTER_EMAIL=a']
const WORKSPACE = { filesystem: { write: ['@/w'] }, environment: NAMED }

const PTY =
  'import os, pty, sys\nsys.exit(os.waitstatus_to_exitcode(pty.spawn(["/bin/sh", "-c", "test -t 0 && test -t ' +
  '1 && echo a terminal > /dev/tty"])))'
// By the name of the other side, as older programs do it.
const BY_NAME =
  'import fcntl, os, struct\nm = os.open("/dev/ptmx", os.O_RDWR)\nfcntl.ioctl(m, 0x40045431, ' +
  'struct.pack("i", 0))\nn = struct.unpack("i", fcntl.ioctl(m, 0x80045430, b"0000"))[0]\ns = ' +
  'os.open(f"/dev/pts/{n}", os.O_RDWR)\nos.write(s, b"heard"); print(os.read(m, 5).decode(), os.isatty(s))'
const PAIR =
  'import socket\na, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)\na.send(b"one"); ' +
  'a.send(b"two"); b.send(b"back")\nprint(b.recv(9).decode(), b.recv(9).decode(), a.recv(9).decode())'

export const everydayPrograms: Area = area('Everyday programs', [
  {
    claim: 'a program can make a terminal if the caller has none',
    run: ['/usr/bin/script', '-qec', 'tty > /dev/null && echo a terminal > /dev/tty', '/dev/null'],
    then: { stdout: 'a terminal\r\n' },
  },
  {
    claim: 'Python runs a program in a terminal',
    run: ['/usr/bin/python3', '-c', PTY],
    then: { stdout: 'a terminal\r\n' },
  },
  {
    claim: 'a terminal can be opened by its name',
    run: ['/usr/bin/python3', '-c', BY_NAME],
    then: { stdout: 'heard True\n' },
  },
  {
    claim: 'a pair of Unix datagram sockets carries messages',
    run: ['/usr/bin/python3', '-c', PAIR],
    then: { stdout: 'one two back\n' },
  },
  {
    claim: 'a folder can pass its group on to new files',
    given: { '@/w/': '' },
    tell: async ({ run, at }) => {
      const { stdout, stderr } = await run(
        'cd @/w && mkdir d && chmod g+s d && git init -q --shared=group r && stat -c %A d r/.git',
        { policy: WORKSPACE },
      )
      expect({ stdout: textOf(stdout), stderr: textOf(stderr) }).toEqual({
        stdout: expect.stringMatching(/^(d.....s...\n){2}$/) as string,
        stderr: '',
      })
      expect(statSync(at('@/w/d')).mode & 0o2000).toBe(0o2000)
    },
  },
  {
    claim: 'a debugger can stop and read its own child',
    given: { '@/w/x.c': 'int main(void)\n{\n  volatile int answer = 41;\n  answer++;\n  return answer;\n}\n' },
    tell: async ({ run }) => {
      const { stdout, stderr } = await run(
        'cd @/w && cc -g -O0 -o x x.c && gdb -q -batch -ex "break main" -ex run -ex next -ex next -ex "print ' +
          'answer" ./x',
        { policy: WORKSPACE },
      )
      expect(textOf(stdout), textOf(stderr)).toContain('$1 = 42')
    },
  },
  {
    claim: 'a program can trace the system calls of its child',
    run: 'strace -f -e trace=exit_group -o "$TMPDIR/t" /bin/sh -c "exit 7"; grep -o "exit_group(7)" "$TMPDIR/t"',
    then: { stdout: 'exit_group(7)\n' },
  },
  {
    claim: 'a program that asks to be traced continues without a tracer',
    run: [
      '/usr/bin/python3',
      '-c',
      'import ctypes, os, signal\nctypes.CDLL(None).ptrace(0, 0, 0, 0); os.kill(os.getpid(), signal.SIGUSR2) ' +
        'if os.fork() == 0 else os.wait()\nos.execv("/bin/echo", ["echo", "on"])',
    ],
    then: { stdout: 'on\n' },
  },
  {
    claim: 'git commits, branches and stashes in a repository of the user',
    given: { '@/w/': '' },
    tell: async ({ run, at, read }) => {
      const git = (...args: readonly string[]) =>
        execFileSync('git', ['-C', at('@/w'), '-c', 'user.name=a', '-c', 'user.email=a', ...args], { encoding: 'utf8' })
      git('init', '-q', '.')
      git('commit', '-q', '--allow-empty', '-m', 'first')
      const { stdout, stderr } = await run(
        'cd @/w && echo x > f && git add f && git commit -q -m second && git checkout -q -b other && echo y ' +
          '> f && git stash -q && cat f',
        { policy: WORKSPACE },
      )
      expect({ stdout: textOf(stdout), stderr: textOf(stderr) }).toEqual({ stdout: 'x\n', stderr: '' })
      expect(git('log', '--format=%s', 'other')).toBe('second\nfirst\n')
      expect(read('@/w/f')).toBe('x\n')
    },
  },
  {
    claim: 'beside a repository folders can be created, filled, renamed and removed, and their programs run',
    given: { '@/w/.git/hooks/': '', '@/w/.git/config': '', '@/w/.git/HEAD': 'ref: refs/heads/main\n' },
    policy: WORKSPACE,
    run:
      'cd @/w && mkdir -p build/a && printf "#!/bin/sh\\necho ran\\n" > build/a/p && chmod +x build/a/p && ' +
      'build/a/p && mv build out && ln out/a/p second && ln -s out/a/p third && ./third && rm -r out && ' +
      './second && umask 077 && : > private && stat -c %a private && mkfifo pipe && (echo through > pipe &) && ' +
      "cat pipe && python3 -c \"import socket; socket.socket(socket.AF_UNIX).bind('s'); print('bound')\"",
    then: { stdout: 'ran\nran\nran\n600\nthrough\nbound\n' },
  },
  {
    claim: 'a Python environment and a package can be created where the policy names them',
    given: { '@/w/.git/hooks/': '', '@/w/.git/config': '', '@/w/.git/HEAD': 'ref: refs/heads/main\n' },
    tell: async ({ run, at }) => {
      const policy = { filesystem: { write: ['@/w', '@/w/.venv', '@/w/package.json'] } }
      const { stdout, violations } = await run(
        'cd @/w && python3 -m venv --without-pip .venv && .venv/bin/python -c "print(6 * 7)" && npm init -y ' +
          '> /dev/null && ls',
        { policy },
      )
      // npm asks for a newer npm, which is refused: where the cell answers lookups at the name, else at the connection.
      const others = violations.filter(({ kind }) => kind !== 'connect' && kind !== 'lookup')
      expect({ stdout: textOf(stdout), others }).toEqual({ stdout: '42\npackage.json\n', others: [] })
      expect(existsSync(at('@/w/.venv/bin/python'))).toBe(true)
    },
  },
])
