// A desktop keyring of Debian: its own bus, its own daemon, unlocked, with one entry.
import { spawn, spawnSync } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'vitest'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { needs } from '../../../../test/requirement.js'
import { ENDS_WHAT_HANGS_MS } from '../../../../test/hanging.js'

import { cordonBeside, temporaryFolder } from './cordon.js'
import { pretendHosts } from './pretended-hosts.js'
import type { PretendedHosts } from './pretended-hosts.js'

const SECRET = 'a-value-that-lies-in-a-keyring-0123456789'
const folder = temporaryFolder()
const PROGRAMS = ['dbus-run-session', 'gnome-keyring-daemon', 'secret-tool']
const missing = PROGRAMS.filter((program) => spawnSync('which', [program]).status !== 0)
const needsKeyring = (context: TestContext): void => {
  needs(context, missing.length === 0, `not installed: ${missing.join(', ')}`)
}

let session: ChildProcess | undefined
let environment: Record<string, string> = {}
let hosts: PretendedHosts

// The daemon answers with its settings when it can be asked. The session lasts as long as somebody holds its input.
const SESSION = String.raw`eval "$(printf '\n' | gnome-keyring-daemon --unlock --components=secrets)" && echo "$DBUS_SESSION_BUS_ADDRESS" && cat >/dev/null`

beforeAll(async () => {
  hosts = await pretendHosts(folder)
  if (missing.length > 0) return
  const own = { PATH: '/usr/bin:/bin', HOME: join(folder, 'home'), XDG_RUNTIME_DIR: join(folder, 'run') }
  for (const path of [own.HOME, own.XDG_RUNTIME_DIR]) mkdirSync(path, { mode: 0o700 })
  const child = spawn('dbus-run-session', ['--', 'sh', '-c', SESSION], { env: own, stdio: ['pipe', 'pipe', 'ignore'] })
  session = child
  const address = await new Promise<string>((resolve, reject) => {
    child.stdout.once('data', (text: Buffer) => {
      resolve(text.toString().trim())
    })
    child.once('close', () => {
      reject(new Error('the session of the keyring ended'))
    })
  })
  environment = { ...own, DBUS_SESSION_BUS_ADDRESS: address }
  expect(
    spawnSync('secret-tool', ['store', '--label', 'of a test', 'service', 'api.test', 'account', 'me'], {
      env: environment,
      input: SECRET,
      timeout: ENDS_WHAT_HANGS_MS,
    }).status,
  ).toBe(0)
})
afterAll(async () => {
  await hosts.close()
  const ended = session === undefined ? undefined : new Promise((resolve) => session?.once('close', resolve))
  session?.stdin?.end()
  await ended
})

const run = async (account: string, form: string, command: string) => {
  const place = hosts.port === 443 ? 'api.test' : `api.test:${String(hosts.port)}`
  const policy = join(folder, 'policy.yaml')
  writeFileSync(
    policy,
    `network: [ "${place}" ]\negress_class: read_only\nfilesystem: { read: [ "${folder}" ] }\ncredentials:\n ` +
      ` - id: my-token\n    inject: { host: "${place}", as: bearer }\n`,
  )
  const words = [
    'run',
    '--form',
    form,
    '--policy',
    policy,
    '--secret',
    `my-token=keyring:api.test/${account}`,
    '--resolve',
    `api.test=${hosts.address}`,
    '--upstream-ca',
    hosts.authorityFile,
  ]
  return cordonBeside([...words, '--', 'sh', '-c', command.replace('URL', `https://${place}/`)], { environment })
}

describe('a credential in a real keyring', () => {
  test.for(['namespaces', 'landlock'])(
    'is injected into a request, and the tool sees neither value nor keyring (%s)',
    async (form, context) => {
      needsKeyring(context)
      const ask = 'secret-tool lookup service api.test account me'
      // What the tool could do if it could reach the bus.
      expect(spawnSync('sh', ['-c', ask], { env: environment, encoding: 'utf8' }).stdout).toBe(SECRET)
      const { status, stdout, stderr } = await run(
        'me',
        form,
        'curl -sS --noproxy "*" URL && { ' +
          `DBUS_SESSION_BUS_ADDRESS='${environment['DBUS_SESSION_BUS_ADDRESS'] ?? ''}' ${ask} || echo " ` +
          'refused"; }',
      )
      expect({ status, end: stdout.slice(-9) }).toEqual({ status: 0, end: ' refused\n' })
      expect(stdout).not.toContain(SECRET)
      expect(stderr).toContain('secret-tool: Could not connect: ')
      expect(hosts.arrivals.at(-1)).toMatchObject({ headers: { authorization: `Bearer ${SECRET}` } })
    },
  )

  test('that is missing stops the command, and the refusal names the entry', async (context) => {
    needsKeyring(context)
    const { status, stdout, stderr } = await run('nobody', 'auto', 'echo ran')
    expect({ status, stdout }).toEqual({ status: 125, stdout: '' })
    expect(stderr).toContain('the keyring entry api.test/nobody is not there: secret-tool ended with status 1')
  })
})
