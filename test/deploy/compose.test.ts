// deploy/docker-compose.yaml says nothing that Compose or the commands do not understand.
// test/deploy/image.matrix.test.ts starts its services.
import { expect, test } from 'vitest'

import { readAs } from '../cli/helps.js'

import { composeDocument, parseCompose } from './compose-file.js'

const { services, volumes } = parseCompose(composeDocument())
const { database, logins, ...ofCordon } = services

test('a key that Compose does not know is found', () => {
  const plant = (change: (services: Record<string, Record<string, unknown>>) => void): unknown => {
    const document = composeDocument() as { readonly services: Record<string, Record<string, unknown>> }
    change(document.services)
    return document
  }
  expect(() => parseCompose(plant((each) => (each['runner'] = { ...each['runner'], memlimit: '1g' })))).toThrow()
  expect(() => parseCompose(plant((each) => (each['another'] = { ...each['runner'] })))).toThrow()
  expect(() => parseCompose(plant((each) => delete each['runner']?.['read_only']))).toThrow()
})

test('a service and its options exist', () => {
  for (const [name, { command = [] }] of Object.entries(ofCordon)) {
    if (name === 'tokens') continue
    expect(command[0]).toBe(name === 'prepare' ? 'runner' : name)
    expect(readAs(command).rest).toEqual([])
  }
  expect(readAs(ofCordon.prepare.command ?? []).switches).toEqual(new Set(['prepare']))
})

test('one service builds the image, and no other one asks a registry for it', () => {
  for (const [name, { build, pull_policy: policy }] of Object.entries(ofCordon))
    expect({ name, builds: build !== undefined, policy }).toEqual({
      name,
      builds: name === 'prepare',
      policy: name === 'prepare' ? undefined : 'never',
    })
  expect(database.image).toBe(logins.image)
})

test('no service is root, except the one that writes tokens into a folder of the host', () => {
  expect(Object.entries(ofCordon).filter(([, { user }]) => user !== undefined)).toEqual([['tokens', services.tokens]])
})

test('the runner has the seccomp profile of deploy/, and the others that of Docker', () => {
  const profiles = Object.entries(ofCordon).filter(([, { security_opt: options }]) => options.length > 1)
  expect(profiles.map(([name]) => name)).toEqual(['runner'])
})

test('the size of requests and of answers is limited', () => {
  const { values } = readAs(services.serve.command ?? [])
  for (const option of ['max-body', 'max-answer']) expect(values.get(option)).toHaveLength(1)
})

test('only services that prepare the database have the login of its owner', () => {
  const login = /\/\/(\w+):/
  expect(
    Object.entries(services).map(([name, { environment }]) => [
      name,
      login.exec(environment?.['CORDON_DATABASE'] ?? '')?.[1],
    ]),
  ).toEqual([
    ['database', undefined],
    ['prepare', 'postgres'],
    ['logins', undefined],
    ['tokens', 'postgres'],
    ['serve', 'cordon_serve'],
    ['runner', 'runner'],
  ])
})

test('named volumes are declared', () => {
  const named = Object.values(services).flatMap((service) =>
    (service.volumes ?? []).flatMap((words) => /^(\w+):/.exec(words)?.[1] ?? []),
  )
  expect([...new Set(named)].sort()).toEqual(Object.keys(volumes).sort())
})
