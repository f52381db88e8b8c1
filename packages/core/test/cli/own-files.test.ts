// Files that Cordon itself reads or writes, in a working directory that the command is granted.
import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'

import { describe, expect, test } from 'vitest'

import { cordon, describeForms, temporaryFolder } from './cordon.js'

const VALUE = 'value-of-a-credential-51cc'
const CREDENTIAL = (id: string) => `  - { id: ${id}, inject: { host: api.test, header: X-${id} } }\n`
const OWN = {
  'token': `${VALUE}-file\n`,
  'deep/key': `${VALUE}-key\n`,
  'get.sh': `#!/bin/sh\necho ${VALUE}-command\n`,
  'service.yaml': `network: [ api.test ]\ncredentials:\n${['a', 'b', 'c'].map(CREDENTIAL).join('')}`,
  'rules.yaml': 'rules: []\n',
}
const WORDS = [
  '--policy',
  './service.yaml',
  '--rules',
  'rules.yaml',
  '--secret',
  'a=file:token',
  '--secret',
  'b=file:deep/key',
  '--secret',
  'c=command:./get.sh',
]

const stage = (): string => {
  const folder = temporaryFolder()
  mkdirSync(join(folder, 'deep'))
  for (const [name, text] of Object.entries({ ...OWN, beside: 'beside\n' }))
    writeFileSync(join(folder, name), text, { mode: name === 'get.sh' ? 0o755 : 0o600 })
  return folder
}
const contents = (folder: string) =>
  Object.fromEntries(
    Object.keys(OWN).map((name) => [
      name,
      existsSync(join(folder, name)) ? readFileSync(join(folder, name), 'utf8') : undefined,
    ]),
  )

const ATTACK = `for f in ${Object.keys(OWN).join(' ')}; do cat $f; echo x >> $f; true > $f; mv $f $f.moved; ln $f $f.linked; cat $f.linked; rm -f $f; echo forged > $f; cp -f beside $f; done
mv deep shallow; cat shallow/key; mkdir -p deep; echo forged > deep/key; chmod 777 token; cat /proc/self/cwd/token; echo changed >> beside`

describeForms("a command with a grant for the folder of Cordon's files", (run) => {
  test('cannot read a secret, or change its source, a policy or a rule file, but can change other files', () => {
    const folder = stage()
    const ran = run([...WORDS, '--write', '.', '--', 'sh', '-c', ATTACK], { cwd: folder })
    expect(ran.stdout).not.toContain(VALUE)
    // Policies and rules are no secret.
    expect(ran.stdout).toContain('network: [ api.test ]')
    expect(contents(folder)).toEqual(OWN)
    expect(readFileSync(join(folder, 'beside'), 'utf8')).toBe('beside\nchanged\n')
  })

  test('cannot change the usual folders of Cordon either if variables name others, but can write beside them', () => {
    const home = temporaryFolder()
    const usual = ['.config/cordon', '.local/state/cordon', '.local/share/cordon', '.cache/cordon/mcp']
    for (const name of usual) {
      mkdirSync(join(home, name), { recursive: true })
      writeFileSync(join(home, name, 'file'), 'kept\n')
    }
    const line = `${usual.map((name) => `echo forged > ${name}/file`).join('; ')}; echo made > .local/state/made`
    run(['--write', '.', '--', 'sh', '-c', line], { cwd: home, environment: { HOME: home } })
    expect(usual.map((name) => readFileSync(join(home, name, 'file'), 'utf8'))).toEqual(usual.map(() => 'kept\n'))
    expect(readFileSync(join(home, '.local/state/made'), 'utf8')).toBe('made\n')
  })

  test('cannot change the source of a secret either if its workspace is elsewhere', () => {
    const folder = stage()
    const elsewhere = ['--workspace', temporaryFolder(), '--write', folder]
    const ran = run([...WORDS, ...elsewhere, '--', 'sh', '-c', ATTACK], { cwd: folder })
    expect(ran.stdout).not.toContain(VALUE)
    expect(contents(folder)).toEqual(OWN)
    expect(readFileSync(join(folder, 'beside'), 'utf8')).toBe('beside\nchanged\n')
  })

  test('can list it and read other files, and is told why it cannot read the secret', () => {
    const folder = stage()
    expect(run([...WORDS, '--read', '.', '--', 'ls'], { cwd: folder })).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/^beside\ndeep\n/) as string,
    })
    const ran = run([...WORDS, '--read', '.', '--', 'cat', 'beside', 'token'], { cwd: folder })
    expect(ran).toMatchObject({
      status: 1,
      stdout: 'beside\n',
      stderr: expect.stringMatching(
        /token is a file of Cordon itself \(what the credential "a" is read from\): no command gets it; see docs\/own-files\.md/,
      ) as string,
    })
  })

  test('cannot read the audit log in it, but can read other files', () => {
    const folder = stage()
    chmodSync(folder, 0o700)
    const logged = { cwd: folder, environment: { CORDON_AUDIT: './audit.jsonl' } }
    const ran = run(['--read', '.', '--', 'sh', '-c', 'cat audit.jsonl*; cat beside'], logged)
    expect(ran).toMatchObject({ status: 0, stdout: 'beside\n' })
    expect(readFileSync(join(folder, 'audit.jsonl'), 'utf8')).toContain('"type":"tool.completed"')
    expect(run(['--write', '.', '--', 'true'], logged)).toMatchObject({
      status: 125,
      stderr: expect.stringMatching(/own-file-exposed: .*audit log.*\nfix: give the log a folder of its own/) as string,
    })
  })

  test('cannot take the place of the container engine in it, but can replace another socket', async () => {
    const folder = temporaryFolder()
    mkdirSync(join(folder, 'run'))
    const sockets = ['engine', 'run/podman/podman.sock', 'run/other'].map((name) => join(folder, name))
    mkdirSync(join(folder, 'run/podman'))
    const services = sockets.map((socket) => createServer().listen(socket))
    await Promise.all(services.map((service) => once(service, 'listening')))
    const before = sockets.map((socket) => statSync(socket).ino)
    const moves =
      'for f in engine run/podman/podman.sock run/podman run/other; do mv $f $f.moved && echo moved $f; done'
    const ran = run(['--write', '.', '--', 'sh', '-c', moves], {
      cwd: folder,
      environment: { DOCKER_HOST: `unix://${folder}/engine`, XDG_RUNTIME_DIR: join(folder, 'run') },
    })
    expect(ran.stdout).toBe('moved run/other\n')
    expect(sockets.slice(0, 2).map((socket) => statSync(socket).ino)).toEqual(before.slice(0, 2))
    for (const service of services) service.close()
  })
})

describe('a command with a grant for the file of a credential', () => {
  test('does not run, but with a grant for a folder beside it it does', () => {
    const folder = stage()
    for (const grant of ['--read', '--write'])
      expect(cordon(['run', ...WORDS, grant, 'token', '--', 'cat', 'token'], { cwd: folder })).toMatchObject({
        status: 125,
        stdout: '',
        stderr: expect.stringContaining('own-file-exposed') as string,
      })
    expect(cordon(['run', ...WORDS, '--read', 'beside', '--', 'cat', 'beside'], { cwd: folder })).toMatchObject({
      status: 0,
      stdout: 'beside\n',
    })
  })
})
