// Parts of the host that a cell could reach without opening a file: socket names, attributes, pipes.
import { execFile, execFileSync, spawnSync } from 'node:child_process'
import { createServer } from 'node:net'
import { promisify } from 'node:util'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { CORDON } from '../cli/cordon.js'
import { OWN_FOLDERS } from '../cli/own-folders.js'

import type { Cell, PolicyText } from './harness.js'
import { playground } from './playground.js'
import { describeAllCells, describeCells } from './walled.js'

const python = async (cell: Cell, script: string, policy: PolicyText, cwd?: string) =>
  cell.run(['/usr/bin/python3', '-c', script], { policy, ...(cwd === undefined ? {} : { cwd }) })

const placeOf = ({ form, backend }: Cell): string => `--form ${form} --backend ${backend}`

const LISTEN = (address: string) => `
import socket
s = socket.socket(socket.AF_UNIX)
try: s.bind(${address}); s.listen(); print("listening")
except OSError as error: print(error.errno)`

describeAllCells('socket names', (cell) => {
  test('cannot be taken if the host shares them with the network', async () => {
    const { stdout, result } = await python(cell, LISTEN('"\\0cordon-attack"'), { network: 'all' })
    expect(stdout).toBe('13\n')
    expect(result.violations).toEqual([{ kind: 'listen', family: 'abstract', name: 'cordon-attack' }])
  })

  test('cannot be taken without a network, unless they belong to the cell alone', async () => {
    const { stdout } = await python(cell, LISTEN('"\\0cordon-attack"'), {})
    expect(stdout).toBe(cell.form !== 'landlock' ? 'listening\n' : '13\n')
  })

  test('can be used in an own folder, and as a port if the network is granted', async () => {
    expect((await python(cell, `import os${LISTEN('os.environ["TMPDIR"] + "/s"')}`, { network: 'all' })).stdout).toBe(
      'listening\n',
    )
    expect(
      (
        await python(cell, 'import socket; socket.create_server(("127.0.0.1", 0)); print("listening")', {
          network: 'all',
        })
      ).stdout,
    ).toBe('listening\n')
  })
})

describeCells('extended attributes', (cell) => {
  const READ = (path: string) => `
import os
try: print(os.getxattr("${path}", "user.note").decode())
except OSError as error: print("refused")
try: print(os.listxattr("${path}"))
except OSError as error: print("refused")`

  test('cannot be read without a grant', async () => {
    const { file } = playground()
    const path = file('outside/secret')
    execFileSync('/usr/bin/python3', ['-c', `import os; os.setxattr("${path}", "user.note", b"SECRET")`])
    expect((await python(cell, READ(path), {})).stdout).toBe('refused\nrefused\n')
  })

  test('can be read from an open file', async () => {
    const { file, inside } = playground()
    const path = file('inside/own')
    execFileSync('/usr/bin/python3', ['-c', `import os; os.setxattr("${path}", "user.note", b"fine")`])
    expect(
      (
        await python(cell, `import os; print(os.getxattr(os.open("${path}", os.O_RDONLY), "user.note").decode())`, {
          filesystem: { read: [inside] },
        })
      ).stdout,
    ).toBe('fine\n')
  })
})

describeCells('a pipe of the caller', (cell) => {
  const run = (script: string) =>
    spawnSync('/bin/bash', ['-c', script], {
      encoding: 'utf8',
      timeout: 200_000,
      env: { PATH: '/usr/bin:/bin', ...OWN_FOLDERS, CORDON: `${process.execPath} ${CORDON} run ${placeOf(cell)}` },
    }).stdout

  test('cannot be read back by a tool that may only write it', () => {
    const { file, inside, outside } = playground()
    const done = join(outside, 'done')
    const reader = file(
      'inside/reader.py',
      'import os\nfd = os.open("/proc/self/fd/1", os.O_RDONLY | os.O_NONBLOCK)\ntry: got = os.read(fd, ' +
        '100)\nexcept OSError: got = b""\nopen(os.environ["TMPDIR"] + "/got", "wb").write(got)\nos.write(2, got)\n',
    )
    expect(
      run(
        `(echo of others; $CORDON --read ${join(inside)} -- /usr/bin/python3 ${reader} 2>&1; touch ${done}) | (until [ -e ${done} ]; do sleep 0.05; done; cat)`,
      ),
    ).toBe('of others\n')
  })

  test('keeps unread data for the next command', () => {
    const { file } = playground()
    const list = file('inside/list', 'a\nb\n')
    expect(run(`while read x; do $CORDON -- echo $x; done < ${list}`)).toBe('a\nb\n')
    expect(run(`cat ${list} | while read x; do $CORDON -- echo $x; done`)).toBe('a\nb\n')
    expect(run(`($CORDON -- head -c 2; cat) < ${list}`)).toBe('a\nb\n')
  })
})

describeCells('a connection of the caller as input', (cell) => {
  test('cannot be connected elsewhere', async () => {
    const servers = await Promise.all(
      [0, 1].map(async () => {
        // A program that leaves without having read resets the connection.
        const server = createServer((socket) => socket.on('error', () => undefined).end('hello\n'))
        await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
        const reached: string[] = []
        server.on('connection', () => reached.push('reached'))
        return { server, reached, port: String((server.address() as { port: number }).port) }
      }),
    )
    const [given, other] = servers.map(({ port }) => port)
    const leave =
      `import ctypes, socket\nlibc = ctypes.CDLL(None)\nlibc.connect(0, b"\\0" * 16, 16)\ns = ` +
      `socket.socket(fileno=0)\ntry: s.connect(("127.0.0.1", ${other ?? ''})); print("led elsewhere")\nexcept ` +
      'OSError: print("refused")'
    const { file, inside } = playground()
    const program = file('inside/leave.py', leave)
    const script =
      `exec 5<>/dev/tcp/127.0.0.1/${given ?? ''}; ${process.execPath} ${CORDON} run ${placeOf(cell)} --read ` +
      `${inside} -- /usr/bin/python3 ${program} <&5`
    await promisify(execFile)('/bin/bash', ['-c', script], { timeout: 200_000 }).catch(() => undefined)
    expect(servers[1]?.reached).toEqual([])
    const read = await promisify(execFile)('/bin/bash', ['-c', script.replace(`/usr/bin/python3 ${program}`, 'cat')], {
      timeout: 200_000,
    })
    expect(read.stdout).toBe('hello\n')
    for (const { server } of servers) server.close()
  })
})

describeCells('shared memory under a limit', (cell) => {
  const limits = { memory: '128M', wall: '60s' }

  test('counts a mapping whose pages were given back', async () => {
    const script = `
import mmap
held = []
try:
  for i in range(30):
    one = mmap.mmap(-1, 16 << 20)
    for at in range(0, len(one), 4096): one[at] = 1
    one.madvise(mmap.MADV_DONTNEED); held.append(one)
except OSError as error: print(error.errno, len(held) <= 8)`
    const { stdout, result } = await python(cell, script, { limits })
    // Refused at the limit, or ended at it by whoever counts everything.
    expect(stdout === '12 True\n' || result.status === 'limit').toBe(true)
    expect(result.violations.map(({ kind }) => kind)).toEqual(['memory'])
  })

  test('counts a device', async () => {
    const { stdout } = await python(
      cell,
      'import mmap, os\ntry: mmap.mmap(os.open("/dev/zero", os.O_RDWR), 16 << 20); print("mapped")\nexcept ' +
        'OSError as error: print(error.errno)',
      { limits },
    )
    expect(stdout).toBe('19\n')
  })

  test('can be used, given back and used again', async () => {
    const { stdout } = await python(
      cell,
      'import mmap\nfor i in range(100):\n  one = mmap.mmap(-1, 16 << 20); one[0] = 1; one.close()\nprint("done")',
      { limits },
    )
    expect(stdout).toBe('done\n')
  })
})
