// A runtime with its registry on a server: what its tools may not touch, and that it needs only a token.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { createCordon, processTool } from 'cordon'
import { registrationOf, teamRegistry } from '@cordon/team'
import { toolHash } from '../../src/tools/tool-hash.js'

import { openStage } from './stage.js'
import type { Stage } from './stage.js'

const workspace = realpathSync(mkdtempSync(join(tmpdir(), 'cordon-registry-')))
const store = join(workspace, 'store')
let stage: Stage

beforeAll(async () => {
  // As `cordon serve` lays it out: the socket beside what it serves.
  mkdirSync(join(store, 'data'), { recursive: true })
  writeFileSync(join(store, 'data', 'PG_VERSION'), '18\n')
  writeFileSync(join(workspace, 'other.txt'), 'other\n')
  stage = await openStage({ socket: join(store, 'socket') })
  const ada = stage.as('ada')
  await ada.ask('registerTool', { team: 'acme', key: 'look', egressClass: 'none', requiresApproval: false })
  await ada.ask('assignTool', { team: 'acme', tool: 'look', agent: 'agent-1' })
})
afterAll(async () => {
  await stage.close()
  rmSync(workspace, { recursive: true, force: true })
})

const REGISTRY = { server: `unix:${join(store, 'socket')}`, owner: 'acme', agent: 'agent-1', runner: 'app' } as const

const look = (write: string, script: string) => ({
  workspace,
  registry: teamRegistry(REGISTRY),
  rules: [{ rules: [{ effect: 'allow' as const, tool: ['look'], because: 'the registry decides' }] }],
  tools: [
    processTool({
      name: 'look',
      description: 'looks',
      input: { type: 'object' },
      policy: { egress_class: 'none', filesystem: { write: [write] } },
      command: () => ['sh', '-c', script],
    }),
  ],
})

test('a tool that may write to the workspace finds neither the socket nor the data of the store in it', async () => {
  const cordon = await createCordon(
    look(
      '.',
      'cat other.txt; ls -A store; cat store/data/PG_VERSION; test -S store/socket && echo socket; echo ' +
        'changed > store/data/PG_VERSION; true',
    ),
  )
  try {
    const { status, output } = await cordon.call('look', {})
    expect(status).toBe('ok')
    expect(JSON.stringify(output)).toContain('other')
    expect(JSON.stringify(output)).not.toMatch(/18|socket/)
    expect(readFileSync(join(store, 'data', 'PG_VERSION'), 'utf8')).toBe('18\n')
  } finally {
    await cordon.close()
  }
})

test('expected cost and validity of a call reach the registry of a server', async () => {
  const cordon = await createCordon(look('.', 'true'))
  const ids: string[] = []
  try {
    expect(
      await cordon.call(
        'look',
        {},
        { registry: { costEstimate: 0.5, validMs: 90_000 }, onInvocation: (id) => ids.push(id) },
      ),
    ).toMatchObject({ status: 'ok' })
    const { costEstimate, createdAt, expiresAt } = await stage.as('ada').ask('findInvocation', { id: ids[0] ?? '' })
    expect(costEstimate).toBe(0.5)
    expect(Math.round((Date.parse(expiresAt) - Date.parse(createdAt)) / 10_000)).toBe(9)
  } finally {
    await cordon.close()
  }
})

test('a tool whose grant begins in the store is refused', async () => {
  await expect(createCordon(look('store/data', 'true'))).rejects.toMatchObject({ code: 'own-file-exposed' })
})

describe('a tool with the name of a registered one', () => {
  const POLICY = { egress_class: 'none', filesystem: { write: ['.'] } } as const
  const WORDS = ['sh', '-c', 'echo noted > "$0"', '{file}']
  const here = (policy: object, script: string) => ({
    ...look('.', 'true'),
    rules: [{ rules: [{ effect: 'allow' as const, tool: ['note'], because: 'the registry decides' }] }],
    tools: [
      processTool({
        name: 'note',
        description: 'notes',
        input: { type: 'object' },
        policy,
        command: ({ file }: { file: string }) => ['sh', '-c', script, file],
      }),
    ],
  })
  const register = async (definition: Record<string, unknown>) => {
    const ada = stage.as('ada')
    await ada.ask('registerTool', {
      team: 'acme',
      key: 'note',
      egressClass: 'none',
      requiresApproval: false,
      definition,
    })
    await ada.ask('assignTool', { team: 'acme', tool: 'note', agent: 'agent-1' })
  }
  /** The last version may do more than the one before it. */
  const approveLast = async () => {
    const anna = stage.as('anna')
    const { version } = await anna.ask('showTool', { team: 'acme', tool: 'note' })
    await anna.ask('approveTool', { team: 'acme', tool: 'note', version, reason: 'seen' })
  }
  const callOnce = async (
    options: Parameters<typeof createCordon>[0],
    file: string,
    meanwhile = () => Promise.resolve(),
  ) => {
    const cordon = await createCordon(options)
    try {
      await meanwhile()
      return await cordon.call('note', { file })
    } finally {
      await cordon.close()
    }
  }

  test('runs if kind, policy and command are the registered ones', async () => {
    await register({ kind: 'process', command: WORDS, policy: POLICY })
    expect(await callOnce(here(POLICY, 'echo noted > "$0"'), 'same.txt')).toMatchObject({ status: 'ok' })
    expect(readFileSync(join(workspace, 'same.txt'), 'utf8')).toBe('noted\n')
  })

  test('does not run with another command than the registered one', async () => {
    await register({ kind: 'process', command: WORDS, policy: POLICY })
    expect(await callOnce(here(POLICY, 'echo stolen > "$0"'), 'words.txt')).toMatchObject({
      status: 'denied',
      // The model reads that it is another tool, and nothing of its words or of this host.
      reason: 'This tool differs from the registered one, so it did not run.',
      facts: {
        error: {
          code: 'tool-not-as-registered',
          message: expect.stringContaining('echo stolen') as string,
          fix: expect.stringContaining('cordon team tools register note.yaml') as string,
        },
        permission_decision: { error_code: 'tool-not-as-registered' },
      },
    })
    expect(existsSync(join(workspace, 'words.txt'))).toBe(false)
  })

  test('is refused from the start with another policy or hash', async () => {
    await register({ kind: 'process', command: WORDS, policy: { filesystem: { read: ['.'] } } })
    await expect(createCordon(here(POLICY, 'true'))).rejects.toMatchObject({
      code: 'tool-not-as-registered',
      fix: expect.stringContaining('cordon team tools register note.json') as string,
    })
    await register({ kind: 'process', hash: `sha256:${'0'.repeat(64)}` })
    await expect(createCordon(here(POLICY, 'true'))).rejects.toMatchObject({ code: 'tool-not-as-registered' })
  })

  test('runs with the hash of the registration, as a runner would register it', async () => {
    const options = {
      ...here(POLICY, 'true'),
      tools: [
        processTool({
          name: 'note',
          description: 'notes',
          input: { type: 'object' },
          policy: POLICY,
          command: ({ file }: { file: string }) => ['touch', file],
        }),
      ],
    }
    const [definition = expect.fail()] = options.tools
    await register({
      ...registrationOf({ definition, hash: toolHash(definition), file: 'tools.mjs' }, { workspace }).definition,
    })
    await approveLast()
    expect(await callOnce(options, 'hashed.txt')).toMatchObject({ status: 'ok' })
    expect(existsSync(join(workspace, 'hashed.txt'))).toBe(true)
  })

  test('is refused with a class below its policy, and runs with its own class', async () => {
    const policy = { network: [{ host: 'api.example.org', methods: ['GET'] }] }
    const options = {
      ...here(policy, 'true'),
      tools: [
        processTool({ name: 'note', description: 'notes', input: { type: 'object' }, policy, command: () => ['true'] }),
      ],
    }
    await register({})
    await expect(createCordon(options)).rejects.toMatchObject({
      code: 'tool-not-as-registered',
      message: expect.stringContaining(
        'registered with the class none, and its policy has the class read_only',
      ) as string,
    })
    await stage
      .as('ada')
      .ask('registerTool', { team: 'acme', key: 'note', egressClass: 'read_only', requiresApproval: false })
    await approveLast()
    expect(await callOnce(options, 'any')).toMatchObject({ status: 'ok' })
  })

  test('runs if the host has its labels and mechanisms, and otherwise says what is missing', async () => {
    await register({})
    const needing = (needsLabels: readonly string[]) =>
      stage
        .as('ada')
        .ask('registerTool', { team: 'acme', key: 'note', egressClass: 'none', requiresApproval: false, needsLabels })
    const options = here(POLICY, 'true')
    const withLabel = { ...options, registry: teamRegistry({ ...REGISTRY, labels: ['desk'], silentMs: 10_000 }) }
    await needing(['desk'])
    await approveLast()
    expect(await callOnce(withLabel, 'any')).toMatchObject({ status: 'ok' })
    expect(await callOnce(options, 'any')).toMatchObject({
      status: 'denied',
      reason: 'This tool cannot run on this host.',
      facts: {
        error: {
          code: 'tool-not-for-this-host',
          message: expect.stringContaining('does not have the label desk') as string,
        },
      },
    })
    await needing([])
  })

  test('does not run after another one was registered', async () => {
    await register({ kind: 'process', command: WORDS, policy: POLICY })
    const other = () => register({ kind: 'process', command: ['true'], policy: POLICY })
    expect(await callOnce(here(POLICY, 'echo noted > "$0"'), 'later.txt', other)).toMatchObject({ status: 'denied' })
    expect(existsSync(join(workspace, 'later.txt'))).toBe(false)
  })
})
