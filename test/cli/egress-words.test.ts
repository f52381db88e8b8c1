// What a user is told about the way to granted hosts: what cannot be, why, and the fix that works when it is followed.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { afterAll, describe, expect, test } from 'vitest'

import { echo, serverAuthority, startHttps } from '../egress/servers.js'

import { cordon, cordonBeside, temporaryFolder } from './cordon.js'
import type { Ran, RunOptions } from './cordon.js'

const HOST = 'api.test'
const VALUE = 'value-of-a-credential-77aa88bb'
const server = await startHttps(echo, { host: HOST })
afterAll(() => server.close())

const folder = temporaryFolder()
const place = `${HOST}:${String(server.port)}`
const authority = join(folder, 'authority.pem')
writeFileSync(authority, serverAuthority.certificate)
const fileWith = (name: string, text: string): string => {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}
const token = fileWith('token', `${VALUE}\n`)
const policy = fileWith('service.yaml', `network: [ "${place}" ]\ncredentials:\n  - { id: token, inject: { host: "${place}", as: bearer }, placeholder: API_TOKEN }\n`)
const WAY = ['--resolve', `${HOST}=127.0.0.1`, '--upstream-ca', authority]
const WITH_TOKEN = ['--policy', policy, '--secret', `token=file:${token}`, ...WAY]

const run = (words: readonly string[], options: RunOptions = {}): Promise<Ran> => cordonBeside(['run', ...words], { cwd: folder, ...options })

describe('a variable that contains the value of a credential', () => {
  test.each([
    ['typed', ['--env', `OTHER=is ${VALUE}`], 'OTHER'],
    ['typed, in base64', ['--env', `OTHER=${Buffer.from(`me:${VALUE}`).toString('base64')}`], 'OTHER'],
    ['passed on', ['--env', 'COPY'], 'COPY'],
    ['of a policy', ['--policy', fileWith('set.yaml', `environment: [ "SET=${VALUE}" ]\n`)], 'SET'],
  ])('is refused and named, and the value is not: %s', async (_, words, variable) => {
    const ran = await run([...WITH_TOKEN, ...words, '--', 'env'], { environment: { COPY: `a ${VALUE}` } })
    expect(ran).toMatchObject({ status: 125, stdout: '', stderr: expect.stringContaining(`credential-exposed: the variable ${variable} contains the value of the credential "token"`) as string })
    expect(ran.stderr).toContain(`fix: take ${variable} out`)
    expect(JSON.stringify(ran) + cordon(['log', 'show', '--json']).stdout).not.toContain(VALUE)
  })

  test('is found before anything is decided where the value is in a variable of here', async () => {
    const ran = await run(['--policy', policy, '--secret', 'token=env:MINE', ...WAY, '--env', 'COPY', '--dry-run', '--', 'env'], { environment: { MINE: VALUE, COPY: `a ${VALUE}` } })
    expect(ran).toMatchObject({ status: 125, stderr: expect.stringContaining('credential-exposed: the variable COPY') as string })
  })

  test('is another matter than one that does not: that reaches the command', async () => {
    expect(await run([...WITH_TOKEN, '--env', 'OTHER=is-fine', '--', 'env'])).toMatchObject({ status: 0, stdout: expect.stringMatching(/^OTHER=is-fine$/m) as string })
  })
})
