import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { expect } from 'vitest'

import { area } from '../claim.js'
import type { Area } from '../claim.js'
import { textOf } from '../stage.js'

/** What the host finds at a path that a program knows as its private folder. */
const namesIn = (folder: string): readonly string[] => (existsSync(folder) ? readdirSync(folder) : [])

export const scratch: Area = area('Private folders', [
  {
    claim: 'a program has its own temporary folder',
    run: 'echo x > "$TMPDIR/f" && cat "$TMPDIR/f" && ls -A "$TMPDIR"',
    then: { stdout: 'x\nf\n' },
  },
  {
    claim: 'the home folder is private too',
    run: 'cd && echo x > f && pwd | grep -c . && ls -A ~',
    then: { stdout: '1\nf\n' },
  },
  {
    claim: 'programs can be created and run there',
    run: 'cd; printf "#!/bin/sh\\necho made\\n" > p; chmod +x p; ./p',
    then: { stdout: 'made\n' },
  },
  { claim: '/tmp can be written', run: 'echo x > /tmp/f && cat /tmp/f', then: { stdout: 'x\n' } },
  { claim: '/dev/shm can be written', run: 'echo x > /dev/shm/f && cat /dev/shm/f', then: { stdout: 'x\n' } },
  {
    claim: 'files of a call in its folder are absent for the next call and the host',
    tell: async ({ run }) => {
      const { stdout: folder } = await run(
        'echo -n "$TMPDIR"; echo secret > "$TMPDIR/cnf-left"; cd "$TMPDIR"; mkdir -p a/b c/d; ln -s /etc ' +
          'a/link; touch a/b/f c/d/f; chmod 000 a/b; chmod 500 c/d c; chmod 000 a; chmod 500 .',
      )
      const { stdout } = await run('ls -A "$TMPDIR"')
      expect(textOf(stdout)).toBe('')
      expect(namesIn(textOf(folder))).not.toContain('cnf-left')
    },
  },
  {
    claim: 'a folder nested thousands deep is removed afterwards',
    tell: async ({ run }) => {
      const { stdout } = await run([
        '/usr/bin/python3',
        '-c',
        'import os\nprint(os.environ["TMPDIR"], end="", ' +
          'flush=True)\nos.chdir(os.environ["TMPDIR"])\nos.mkdir("cnf-deep")\nos.chdir("cnf-deep")\nfor i in ' +
          'range(3000):\n  os.mkdir("d"); os.mkdir("e"); os.chdir("d")\nopen("f", "w").close()',
      ])
      expect(namesIn(textOf(stdout))).not.toContain('cnf-deep')
    },
  },
  {
    claim: 'the temporary files of the host and of other users are absent',
    tell: async ({ run }) => {
      const file = join(tmpdir(), `cnf-${String(process.pid)}`)
      writeFileSync(file, 'secret')
      try {
        const { stdout } = await run(['/bin/sh', '-c', 'cat "$1"; ls -A /var/tmp; echo "$?"', 'sh', file])
        expect(textOf(stdout)).toBe('2\n')
      } finally {
        rmSync(file)
      }
    },
  },
  {
    claim: "two concurrent calls do not see each other's files",
    tell: async ({ run }) => {
      const calls = await Promise.all(
        ['one', 'two', 'three'].map((name) => run(`echo x > "$TMPDIR/${name}"; sleep 0.3; ls -A "$TMPDIR"`)),
      )
      expect(calls.map(({ stdout }) => textOf(stdout))).toEqual(['one\n', 'two\n', 'three\n'])
    },
  },
  {
    claim: 'a file in the temporary folder of the host can be granted',
    tell: async ({ run }) => {
      const file = join(tmpdir(), `cnf-${String(process.pid)}`)
      writeFileSync(file, 'granted')
      try {
        const { stdout } = await run(
          ['/bin/sh', '-c', 'cat "$1"; echo x > "$TMPDIR/own"; cat "$TMPDIR/own"', 'sh', file],
          { policy: { filesystem: { read: [file] } } },
        )
        expect(textOf(stdout)).toBe('grantedx\n')
      } finally {
        rmSync(file)
      }
    },
  },
  {
    claim: 'the whole temporary folder of the host can be granted, beside the private one',
    tell: async ({ run }) => {
      const file = join(tmpdir(), `cnf-${String(process.pid)}`)
      writeFileSync(file, 'granted')
      try {
        const { stdout } = await run(
          ['/bin/sh', '-c', 'cat "$1"; echo x > "$TMPDIR/own"; cat "$TMPDIR/own"', 'sh', file],
          { policy: { filesystem: { read: [tmpdir()] } } },
        )
        expect(textOf(stdout)).toBe('grantedx\n')
      } finally {
        rmSync(file)
      }
    },
  },
])
