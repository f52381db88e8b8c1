// Another process replaces sealed and hidden files while a call runs, and the kernel drops their mounts.
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { describeForms } from './harness.js'
import type { Cell, PolicyText, RanCall } from './harness.js'
import { playground } from './playground.js'

/**
 * Says `ready`, waits for another file at `path` (or none), gives the keeper a moment, and does what it wants to do.
 */
const onceReplaced = (path: string, deed: string): readonly string[] => [
  '/usr/bin/python3',
  '-c',
  `
import os, sys, time
path = ${JSON.stringify(path)}
def identity():
    try: return os.lstat(path).st_ino
    except FileNotFoundError: return 0
before = identity()
print('ready', flush=True)
began = time.monotonic()
while identity() == before and time.monotonic() - began < 3: pass
time.sleep(0.5)
try:
    ${deed}
    print('done')
except OSError as error:
    print('refused', error)
`,
]

const whileItRuns = async (
  cell: Cell,
  workspace: string,
  policy: PolicyText,
  argv: readonly string[],
  meanwhile: () => void,
): Promise<RanCall> => {
  let isDone = false
  const onStdout = (text: string): void => {
    if (isDone || !text.includes('ready')) return
    isDone = true
    meanwhile()
  }
  return cell.run(argv, { policy, workspace, cwd: workspace, onStdout })
}

/** As an editor saves. */
const replace = (path: string, content: string): void => {
  writeFileSync(`${path}.new`, content)
  renameSync(`${path}.new`, path)
}

const expectEnded = ({ result }: RanCall, path: string): void => {
  expect(result.status).toBe('signaled')
  expect(result.violations).toContainEqual({ kind: 'unsealed', path })
}

describeForms('files that are replaced while a call runs', (cell) => {
  test('a sealed file stays closed to the tool', async () => {
    const { inside } = playground()
    execFileSync('git', ['init', '-q', '--template=', inside])
    const config = join(inside, '.git/config')
    const call = await whileItRuns(
      cell,
      inside,
      { filesystem: { write: [inside] } },
      onceReplaced(config, "open(path, 'a').write('evil')"),
      () => {
        execFileSync('git', ['-C', inside, 'config', 'user.name', 'somebody'])
      },
    )
    expect(readFileSync(config, 'utf8')).toContain('somebody')
    expect(readFileSync(config, 'utf8')).not.toContain('evil')
    expectEnded(call, config)
  })

  test('the tool cannot create one that was removed', async () => {
    const { inside, file } = playground()
    const name = file('inside/.envrc', 'original\n')
    const call = await whileItRuns(
      cell,
      inside,
      { filesystem: { write: [inside] } },
      onceReplaced(name, "open(path, 'w').write('evil')"),
      () => {
        rmSync(name)
      },
    )
    expect(() => readFileSync(name)).toThrow()
    expectEnded(call, name)
  })

  test('the tool cannot create one that was moved away', async () => {
    const { inside, file } = playground()
    const name = file('inside/.envrc', 'original\n')
    const call = await whileItRuns(
      cell,
      inside,
      { filesystem: { write: [inside] } },
      onceReplaced(name, "open(path, 'w').write('evil')"),
      () => {
        renameSync(name, `${name}~`)
      },
    )
    expect(() => readFileSync(name)).toThrow()
    expectEnded(call, name)
  })

  test('one that its user wrote anew, as editors do, stays unchanged', async () => {
    const { inside, file } = playground()
    const name = file('inside/package.json', '{}\n')
    const call = await whileItRuns(
      cell,
      inside,
      { filesystem: { write: [inside] } },
      onceReplaced(name, "open(path, 'w').write('evil')"),
      () => {
        renameSync(name, `${name}~`)
        writeFileSync(name, '{ "name": "mine" }\n')
        rmSync(`${name}~`)
      },
    )
    expect(readFileSync(name, 'utf8')).toBe('{ "name": "mine" }\n')
    expectEnded(call, name)
  })

  test('a carved-out file that was moved away can be neither read nor created', async () => {
    const { inside, file } = playground()
    const secret = file('inside/secret', 'before\n')
    for (const access of ['read', 'write'] as const) {
      const call = await whileItRuns(
        cell,
        inside,
        { filesystem: { [access]: [inside, `!${secret}`] } },
        onceReplaced(secret, "print(open(path, 'a+').read())"),
        () => {
          renameSync(secret, `${secret}~`)
          writeFileSync(secret, 'SECRET\n')
        },
      )
      expect(call.stdout, access).not.toContain('SECRET')
      expect(readFileSync(secret, 'utf8'), access).toBe('SECRET\n')
      expectEnded(call, secret)
    }
  })

  test('a missing carved-out file cannot be read when somebody creates it', async () => {
    const { inside } = playground()
    const secret = join(inside, 'secret')
    const call = await whileItRuns(
      cell,
      inside,
      { filesystem: { read: [inside, `!${secret}`] } },
      onceReplaced(secret, 'print(open(path).read())'),
      () => {
        writeFileSync(secret, 'SECRET\n')
      },
    )
    expect(call.stdout).not.toContain('SECRET')
    expectEnded(call, secret)
  })

  test('one in a folder that is replaced stays closed to the tool', async () => {
    const { inside, file } = playground()
    for (const name of ['.git/config', 'sub/.git/config']) {
      const top = join(inside, name.split('/')[0] ?? '')
      const config = file(`inside/${name}`, '[user]\n\tname = before\n')
      file(`outside/new/${name}`, '[user]\n\tname = new\n')
      const call = await whileItRuns(
        cell,
        inside,
        { filesystem: { write: [inside] } },
        onceReplaced(config, "open(path, 'a').write('evil')"),
        () => {
          renameSync(top, `${top}.old`)
          renameSync(join(inside, '../outside/new', name.split('/')[0] ?? ''), top)
        },
      )
      expect(readFileSync(config, 'utf8'), name).toBe('[user]\n\tname = new\n')
      expect(readFileSync(config.replace(top, `${top}.old`), 'utf8'), name).toBe('[user]\n\tname = before\n')
      expect(call.result.violations, name).toEqual([{ kind: 'unsealed', path: top }])
      rmSync(`${top}.old`, { recursive: true })
    }
  })

  test('a carved-out file in a folder that is replaced cannot be read', async () => {
    const { inside, file } = playground()
    const secret = file('inside/a/b/secret', 'before\n')
    const call = await whileItRuns(
      cell,
      inside,
      { filesystem: { read: [inside, `!${secret}`] } },
      onceReplaced(secret, 'print(open(path).read())'),
      () => {
        renameSync(join(inside, 'a'), join(inside, 'a.old'))
        file('inside/a/b/secret', 'SECRET\n')
      },
    )
    expect(call.stdout).not.toContain('SECRET')
    expectEnded(call, secret)
  })

  test('the target of a protected link stays closed to the tool after a move', async () => {
    const { inside, file } = playground()
    const target = file('inside/dot/envrc', 'original\n')
    symlinkSync('dot/envrc', join(inside, '.envrc'))
    const call = await whileItRuns(
      cell,
      inside,
      { filesystem: { write: [inside] } },
      onceReplaced(target, "open(path, 'a').write('evil')"),
      () => {
        renameSync(target, `${target}~`)
        writeFileSync(target, 'new\n')
      },
    )
    expect(readFileSync(target, 'utf8')).toBe('new\n')
    expectEnded(call, target)
  })

  test('a call in a folder that replaced a write root has its seals', async () => {
    const { inside, file } = playground()
    const policy = { filesystem: { write: [inside] } }
    let second: Promise<RanCall> | undefined
    await whileItRuns(cell, inside, policy, ['/bin/sh', '-c', 'echo ready; sleep 1'], () => {
      renameSync(inside, `${inside}.old`)
      file('inside/.git/config', 'original\n')
      second = cell.run(['/bin/sh', '-c', 'echo evil >> .git/config; echo evil > .envrc; true'], {
        policy,
        workspace: inside,
        cwd: inside,
      })
    })
    await second
    expect(readFileSync(join(inside, '.git/config'), 'utf8')).toBe('original\n')
    expect(existsSync(join(inside, '.envrc'))).toBe(false)
  })

  test('a hidden file cannot be read', async () => {
    const { inside, file } = playground()
    const secret = file('inside/secret', 'before\n')
    const policy = { filesystem: { read: [inside, `!${secret}`] } }
    const call = await whileItRuns(cell, inside, policy, onceReplaced(secret, 'print(open(path).read())'), () => {
      replace(secret, 'SECRET\n')
    })
    expect(call.stdout).not.toContain('SECRET')
    expectEnded(call, secret)
  })

  test('other files can be replaced, and changed by the tool', async () => {
    const { inside, file } = playground()
    execFileSync('git', ['init', '-q', '--template=', inside])
    const notes = file('inside/source/notes', 'before\n')
    const call = await whileItRuns(
      cell,
      inside,
      { filesystem: { write: [inside] } },
      onceReplaced(notes, "open(path, 'a').write('more')"),
      () => {
        replace(notes, 'after\n')
      },
    )
    expect(call.stdout).toContain('done')
    expect(readFileSync(notes, 'utf8')).toBe('after\nmore')
    expect(call.result.violations).toEqual([])
  })

  test('two concurrent calls cannot leave an active git configuration', async () => {
    const { inside, file } = playground()
    const policy = { filesystem: { write: [inside] } }
    file('inside/evil', '[core]\n\tfsmonitor = evil\n')
    // The first makes it and ends, and loses it; the second, over whose seal it goes, puts another one in its place.
    const maker = [
      '/bin/sh',
      '-c',
      'git init -q --template= sub && cp evil sub/.git/config && echo ready && until [ -e go ]; do sleep 0.01; done',
    ]
    const waiter = [
      '/usr/bin/python3',
      '-c',
      `
import os, time
print('ready', flush=True)
began = time.monotonic()
evil = open('evil').read()
while time.monotonic() - began < 2:
    try:
        open('sub/.git/config', 'x').write(evil)
        break
    except OSError: pass
`,
    ]
    let second: Promise<RanCall> | undefined
    await whileItRuns(cell, inside, policy, maker, () => {
      second = whileItRuns(cell, inside, policy, waiter, () => {
        writeFileSync(join(inside, 'go'), '')
      })
    })
    await second
    expect(
      existsSync(join(inside, 'sub/.git/config')) ? readFileSync(join(inside, 'sub/.git/config'), 'utf8') : '',
    ).not.toContain('evil')
  })
})
