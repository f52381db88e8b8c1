// Moving and linking between folders is free within a write root. It cannot bring files of the host into the private
// folder.
import { existsSync, readFileSync, statSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { playground } from './playground.js'
import { describeCells } from './walled.js'

describeCells('moving between folders', (cell) => {
  test('can move and link files and folders within a write root', async () => {
    const { inside, file } = playground()
    file('inside/a/one', 'one\n')
    file('inside/a/deep/two', 'two\n')
    file('inside/b/three', 'three\n')
    const script =
      "import os; os.rename('a/one', 'b/one'); os.rename('a/deep', 'b/deep'); os.link('b/three', 'a/three'); " +
      "os.rename('b/three', 'four')"
    const { result, stderr } = await cell.run(['/usr/bin/python3', '-c', script], {
      policy: { filesystem: { write: [inside] } },
      workspace: inside,
      cwd: inside,
    })
    expect({ result: result.status === 'exited' && result.exitCode, stderr }).toEqual({ result: 0, stderr: '' })
    expect(readFileSync(join(inside, 'b/one'), 'utf8')).toBe('one\n')
    expect(readFileSync(join(inside, 'b/deep/two'), 'utf8')).toBe('two\n')
    expect(statSync(join(inside, 'a/three')).ino).toBe(statSync(join(inside, 'four')).ino)
  })

  test('can move within the private folder', async () => {
    const script =
      "import os, tempfile; t = tempfile.gettempdir(); os.mkdir(t + '/a'); os.mkdir(t + '/b'); open(t + " +
      "'/a/x', 'w').close(); os.rename(t + '/a/x', t + '/b/x'); os.rename(t + '/b', t + '/a/b')"
    const { result, stderr } = await cell.run(['/usr/bin/python3', '-c', script])
    expect({ result: result.status === 'exited' && result.exitCode, stderr }).toEqual({ result: 0, stderr: '' })
  })

  test('cannot move or link files out of a read-only grant', async () => {
    const { inside, outside, file } = playground()
    const kept = file('outside/kept', 'kept\n')
    const script = `
import os
for way in (os.rename, os.link):
    try: way(${JSON.stringify(kept)}, 'taken')
    except OSError as error: print(type(error).__name__)
`
    await cell.run(['/usr/bin/python3', '-c', script], {
      policy: { filesystem: { read: [outside], write: [inside] } },
      workspace: inside,
      cwd: inside,
    })
    expect(readFileSync(kept, 'utf8')).toBe('kept\n')
    expect(statSync(kept).nlink).toBe(1)
    expect(existsSync(join(inside, 'taken'))).toBe(false)
  })

  test('cannot reach a socket of the host by moving or linking it into the private folder', async () => {
    for (const way of ['rename', 'link', 'rename-folder']) {
      const { inside, folder } = playground()
      folder('inside/in')
      let reached = 0
      const server = createServer(() => {
        reached += 1
      })
      await new Promise<void>((resolve) => server.listen(join(inside, 'in/s'), resolve))
      const script = `
import os, socket, tempfile
to = tempfile.gettempdir()
try:
    if ${JSON.stringify(way)} == 'rename-folder':
        os.rename('in', to + '/in'); at = to + '/in/s'
    else:
        os.${way === 'link' ? 'link' : 'rename'}('in/s', to + '/s'); at = to + '/s'
    s = socket.socket(socket.AF_UNIX); s.connect(at); print('reached')
except OSError as error: print('refused', error)
`
      const { stdout } = await cell.run(['/usr/bin/python3', '-c', script], {
        policy: { filesystem: { write: [inside] } },
        workspace: inside,
        cwd: inside,
      })
      server.close()
      expect({ way, said: stdout.split(' ')[0], reached }).toEqual({ way, said: 'refused', reached: 0 })
    }
  })

  test('can reach its own socket in the private folder, also a moved one', async () => {
    const script = `
import os, socket, tempfile
to = tempfile.gettempdir()
os.mkdir(to + '/a'); os.mkdir(to + '/b')
listener = socket.socket(socket.AF_UNIX); listener.bind(to + '/a/s'); listener.listen()
os.rename(to + '/a/s', to + '/b/s')
socket.socket(socket.AF_UNIX).connect(to + '/b/s'); print('reached')
`
    const { stdout, stderr } = await cell.run(['/usr/bin/python3', '-c', script])
    expect({ stdout, stderr }).toEqual({ stdout: 'reached\n', stderr: '' })
  })
})
