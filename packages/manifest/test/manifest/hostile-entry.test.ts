// Entries that want more than to be described. Each ends with the status 3 and its reason, and learns nothing.
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'

import { describe, expect, test } from 'vitest'

import { IN_MATRIX } from '../../../../test/turns.js'
import { described, generate, project, temporaryFolder } from './project-stage.js'

const TOOL = `import { tool } from 'cordon'\nexport const one = tool({ name: 'one', run: () => 1 })\n`
const run = (entry: string, home?: string) =>
  generate(
    project({ 'entry.mjs': entry, '.env': 'KEY=value-of-env\n' }),
    ['--entry', 'entry.mjs', '--timeout', '20s'],
    home,
  )

describe('an entry cannot', () => {
  test('read files of the home', () => {
    const home = temporaryFolder()
    mkdirSync(join(home, '.ssh'))
    writeFileSync(join(home, '.ssh', 'id'), 'PRIVATE-KEY')
    const reading = `import { readFileSync } from 'node:fs'\nthrow new Error(readFileSync('${home}/.ssh/id', 'utf8'))\n`
    const { status, stdout, stderr } = run(reading, home)
    expect(status).toBe(3)
    expect(stderr).toContain('refused read of')
    expect(stdout + stderr).not.toContain('PRIVATE-KEY')
  })

  test('read a folder that node_modules links to, unless it is that package', IN_MATRIX, () => {
    const secrets = temporaryFolder()
    writeFileSync(join(secrets, 'key.mjs'), 'export const key = "PRIVATE-KEY"\n')
    const folder = project({ 'entry.mjs': `import { key } from 'secrets/key.mjs'\nexport { key }\n${TOOL}` })
    symlinkSync(secrets, join(folder, 'node_modules', 'secrets'))
    writeFileSync(join(secrets, 'package.json'), '{ "name": "something-else" }')
    expect(generate(folder, ['--entry', 'entry.mjs']).status).toBe(3)
    writeFileSync(join(secrets, 'package.json'), '{ "name": "secrets" }')
    expect(generate(folder, ['--entry', 'entry.mjs']).status).toBe(0)
  })

  test.each(['node_modules/linked/.git/config', 'node_modules/linked/sub/.env.local', 'sub/.env', 'sub/.git/config'])(
    'read %s, and can read the file beside it',
    (secret) => {
      const linked = temporaryFolder()
      const reading = (path: string) => `import { readFileSync } from 'node:fs'\nreadFileSync('${path}')\n${TOOL}`
      const beside = secret.replace(/\.(git|env).*$/, 'data.txt')
      const folder = project({ 'entry.mjs': reading(secret), 'other.mjs': reading(beside) })
      symlinkSync(linked, join(folder, 'node_modules', 'linked'))
      writeFileSync(join(linked, 'package.json'), '{ "name": "linked" }')
      for (const path of [secret, beside]) {
        mkdirSync(dirname(join(folder, path)), { recursive: true })
        writeFileSync(join(folder, path), 'x')
      }
      const { status, stderr } = generate(folder, ['--entry', 'entry.mjs'])
      expect({ status, stderr }).toEqual({ status: 3, stderr: expect.stringContaining('refused read of') as string })
      expect(generate(folder, ['--entry', 'other.mjs']).status).toBe(0)
    },
  )

  const REFUSED = [
    ['read .env of the project', `import { readFileSync } from 'node:fs'\nreadFileSync('.env')`, 'refused read of'],
    [
      'write into the project',
      `import { writeFileSync } from 'node:fs'\nwriteFileSync('made', 'x')`,
      'refused write of',
    ],
    ['look up a host', `await fetch('https://example.org')`, 'refused to look up'],
    [
      'start a program',
      `import { spawnSync } from 'node:child_process'\nconst { error } = spawnSync('/bin/sh', ['-c', 'echo'])\nthrow error ?? new Error('it ran')`,
      'refused to execute /bin/sh',
    ],
    ['run without end', `for (;;) ;`, 'wall-clock limit'],
    ['wait without end', `await new Promise(() => undefined)`, 'wall-clock limit'],
    [
      'print a gigabyte',
      `const text = 'x'.repeat(1 << 20)\nfor (let at = 0; at < 1024; at += 1) process.stdout.write(text)`,
      'output limit',
    ],
    [
      'start threads without end',
      `import { Worker } from 'node:worker_threads'\nfor (let at = 0; at < 500; at += 1) new Worker('for (;;) ;', { eval: true })`,
      'limit of 64',
    ],
    ['hide that it failed', `throw new Error('not today')`, 'not today'],
    ['end the process early', `process.exit(0)`, 'it ended its process with the exit status 0'],
    [
      'answer in the place of the loader',
      `import { writeSync } from 'node:fs'
const text = Buffer.from(JSON.stringify([{ name: 'forged', extra: true }]))
const head = Buffer.alloc(5)
head.write('V')
head.writeUInt32LE(text.length, 1)
writeSync(1, Buffer.concat([head, text]))
process.exit(0)`,
      'unknown field "extra"',
    ],
    [
      'replace what the loader uses',
      `JSON.stringify = () => '{"name":1}'\nArray.prototype.map = () => [1]\n${TOOL}`,
      'cannot be described',
    ],
  ] as const

  for (const [title, entry, reason] of REFUSED)
    // Each of the two uses up the wall clock.
    test(title, title === 'run without end' ? IN_MATRIX : {}, () => {
      const { status, stdout, stderr } = run(`${entry}\n`)
      expect({ status, stdout }).toEqual({ status: 3, stdout: '' })
      expect(stderr).toContain(reason)
      expect(stderr).not.toContain('value-of-env')
    })

  test('reach a server of this host', async () => {
    let requests = 0
    const server = createServer((_, response) => {
      requests += 1
      response.end('here')
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const { status } = run(`await fetch('http://127.0.0.1:${port}/')\n`)
    expect((await fetch(`http://127.0.0.1:${port}/`)).status).toBe(200)
    server.close()
    expect({ status, requests }).toEqual({ status: 3, requests: 1 })
  })

  test('see variables of the caller', () => {
    const names = `throw new Error('names: ' + Object.keys(process.env).sort().join())\n`
    const { stderr } = run(names)
    expect(stderr).toContain('names: ')
    for (const name of ['XDG_STATE_HOME', 'LANG']) expect(stderr).not.toContain(name)
  })
})

test('an entry that goes on after a refusal is described', () => {
  const entry = `import { readFileSync } from 'node:fs'
try { readFileSync('.env') } catch { /* there is none in production */ }
await fetch('https://example.org').catch(() => undefined)
${TOOL}`
  const folder = project({ 'entry.mjs': entry, '.env': 'KEY=value-of-env\n' })
  expect(described(folder, ['--entry', 'entry.mjs']).agents).toMatchObject([{ tools: [{ name: 'one' }] }])
  expect(existsSync(join(folder, 'made'))).toBe(false)
})
