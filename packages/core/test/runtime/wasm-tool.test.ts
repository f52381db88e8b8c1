// WASI programs, compiled from C by clang, in cells of their own.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { beforeAll, describe, expect, test } from 'vitest'

import type { Form } from '../../src/sandbox/index.js'
import { wasmTool } from '../../src/runtime/index.js'
import type { PolicyInput } from '../../src/policy/index.js'
import { FORMS } from '../../src/policy/index.js'

import { IN_MATRIX, inOneForm, inTurn } from '../../../../test/turns.js'
import { openStage } from './stage.js'

const stage = openStage()
const VISIT = join(stage.newFolder(), 'visit.wasm')
const SOURCE = fileURLToPath(new URL('wasm/visit.c', import.meta.url))

beforeAll(() => {
  execFileSync('clang', ['--target=wasm32-wasi', '-O1', '-Wall', '-Wextra', '-Werror', '-o', VISIT, SOURCE])
})

const files = (): string => {
  const folder = stage.newFolder()
  for (const name of ['in', 'out', 'private']) mkdirSync(join(folder, name))
  writeFileSync(join(folder, 'in/letter.txt'), 'dear all')
  writeFileSync(join(folder, 'private/key'), 'SECRET')
  return folder
}

const policyOf = (folder: string): PolicyInput => ({
  filesystem: { read: [join(folder, 'in')], write: [join(folder, 'out')] },
})

const visiting = async (policy: PolicyInput = {}, more: object = {}, form?: Form) => {
  const runtime = await stage.cordon({
    ...(form === undefined ? {} : { sandbox: { form } }),
    tools: [
      wasmTool({
        name: 'visit',
        module: VISIT,
        policy,
        args: ({ words }: { words: readonly string[] }) => words,
        argumentGate: 'off',
        ...more,
      }),
    ],
  })
  return (...words: readonly string[]) => runtime.call('visit', { words })
}

const refusalOf = (act: () => unknown): unknown => {
  try {
    return act()
  } catch (error) {
    return error
  }
}

const said = (stdout: string) => ({ status: 'ok', output: { exit_code: 0, stdout, stderr: '' } })

describe.each(FORMS)('a WASI tool in the %s form', (form) => {
  const cell = { form, backend: 'native' } as const
  const visitingHere = (policy: PolicyInput) => visiting(policy, {}, form)

  test('reads and writes what its policy grants', inTurn('a granted file of WASI', cell), async () => {
    const folder = files()
    const visit = await visitingHere(policyOf(folder))
    expect(await visit('read', join(folder, 'in/letter.txt'))).toMatchObject(said('dear all'))
    expect(await visit('write', join(folder, 'out/answer'), 'yes')).toMatchObject(said('done\n'))
    expect(readFileSync(join(folder, 'out/answer'), 'utf8')).toBe('yes')
  })

  test(
    'neither reads nor writes anything else, also through a link that it makes',
    inTurn('another file of WASI', cell),
    async () => {
      const folder = files()
      const visit = await visitingHere(policyOf(folder))
      const key = join(folder, 'private/key')
      const attempts = [
        ['read', key],
        ['read', join(folder, 'in/../private/key')],
        ['read', '/etc/passwd'],
        ['read', '/proc/self/environ'],
        ['list', folder],
        ['link', key, join(folder, 'out/link')],
        ['link', '../private/key', join(folder, 'out/other')],
      ]
      for (const words of attempts) {
        const result = await visit(...words)
        expect(JSON.stringify(result), words.join(' ')).not.toContain('SECRET')
        if (result.status === 'ok') expect((result.output as { stdout: string }).stdout).toMatch(/^[A-Z][a-z ]+\n$/)
      }
      await visit('write', join(folder, 'in/letter.txt'), 'changed')
      await visit('write', join(folder, 'private/new'), 'new')
      expect(readFileSync(join(folder, 'in/letter.txt'), 'utf8')).toBe('dear all')
      expect(existsSync(join(folder, 'private/new'))).toBe(false)
    },
  )

  test('has a private /tmp', inTurn('the temporary folder of WASI', cell), async () => {
    const visit = await visitingHere({})
    expect(await visit('write', '/tmp/mark-of-wasm', 'x')).toMatchObject(said('done\n'))
    expect(existsSync('/tmp/mark-of-wasm')).toBe(false)
  })

  test('is ended at its limits of time and memory', inOneForm('the limits of WASI', form), async () => {
    const slow = await visitingHere({ limits: { wall: '1s' } })
    expect(await slow('spin')).toMatchObject({ status: 'timeout' })
    const large = await visitingHere({ limits: { memory: '200M', wall: '60s' } })
    expect(await large('memory')).toMatchObject({
      facts: { error: { message: expect.stringContaining('memory') as string } },
    })
  })
})

describe('a WASI tool', () => {
  test('gets its input as JSON on its standard input, unless it has a function for that', async () => {
    const plain = await stage.cordon({ tools: [wasmTool({ name: 'echo', module: VISIT, policy: {} })] })
    expect(await plain.call('echo', { a: [1, 'ä'] })).toMatchObject(said('{"a":[1,"ä"]}'))
    const own = await stage.cordon({
      tools: [wasmTool({ name: 'echo', module: VISIT, policy: {}, stdin: ({ text }: { text: string }) => text })],
    })
    expect(await own.call('echo', { text: 'plain words' })).toMatchObject(said('plain words'))
  })

  test('gets only the variables that its policy names', async () => {
    const visit = await visiting({ environment: ['COLOUR=blue'] })
    expect(await visit('variable', 'COLOUR')).toMatchObject(said('blue\n'))
    expect(await visit('variable', 'HOME_OF_HOST')).toMatchObject(said('not set\n'))
  })

  test('fails with its last words if it ends with another status than a success', async () => {
    const visit = await visiting({})
    expect(await visit('exit', '3')).toMatchObject({
      status: 'failed',
      facts: { error: { message: expect.stringContaining('the status 3: it went wrong') as string } },
    })
    const also = await visiting({}, { successes: [0, 3] })
    expect(await also('exit', '3')).toMatchObject({ status: 'ok', output: { exit_code: 3, stderr: 'it went wrong\n' } })
  })

  test('fails if it traps', async () => {
    expect((await (await visiting({}))('trap')).status).toBe('failed')
  })

  const ENDINGS: readonly (readonly [string, string, PolicyInput, number | null])[] = [
    ['fail', 'failed', {}, 3],
    ['trap', 'failed', {}, null],
    // Of processor time: a busy machine must not end it before its first words.
    ['spin', 'violated', { limits: { cpu: '3s' } }, null],
  ]
  for (const [deed, status, policy, exitCode] of ENDINGS)
    test(`returns what it wrote before it failed: ${deed}`, deed === 'spin' ? IN_MATRIX : {}, async () => {
      const visit = await visiting(policy)
      expect(await visit('words', deed)).toMatchObject({
        status,
        output: { exit_code: exitCode, stdout: 'first words\n', stderr: 'last words\n' },
      })
    })

  test('is killed at its limit of output while it writes, and returns what it wrote until then', async () => {
    const flood = await visiting({ limits: { output: '100K', wall: '60s' } })
    const ended = await flood('flood')
    expect(ended).toMatchObject({ status: 'violated', facts: { violations: [{ kind: 'output', limit: 102_400 }] } })
    const { stdout } = ended.output as { readonly stdout: string }
    expect(stdout.length).toBeGreaterThan(90 * 1024)
    expect(stdout.length).toBeLessThanOrEqual(100 * 1024)
    // The same words within the limit.
    const chatter = await visiting({ limits: { output: '4M' } }, { result: { bytes: 8 << 20 } })
    expect(await chatter('chatter')).toMatchObject({ status: 'ok' })
  })

  test('can give its standard output to another file', async () => {
    const folder = files()
    const visit = await visiting(policyOf(folder))
    expect(await visit('move', join(folder, 'out/printed'))).toMatchObject(said(''))
    expect(readFileSync(join(folder, 'out/printed'), 'utf8')).toBe('into the file\n')
  })

  test('fails if its output is larger than its limit, and returns it otherwise', async () => {
    expect(await (await visiting({}))('chatter')).toMatchObject({
      status: 'failed',
      facts: { error: { code: 'result-too-large' } },
    })
    const more = await visiting({}, { result: { bytes: 8 << 20, elements: 100 } })
    expect((await more('chatter')).status).toBe('ok')
  })

  test('runs the module that was there when it was declared', async () => {
    const module = join(stage.newFolder(), 'tool.wasm')
    writeFileSync(module, readFileSync(VISIT))
    const runtime = await stage.cordon({ tools: [wasmTool({ name: 'echo', module, policy: {} })] })
    writeFileSync(module, 'something else')
    expect(await runtime.call('echo', {})).toMatchObject(said('{}'))
  })

  test.each<readonly [string, Uint8Array, string]>([
    ['without _start', Buffer.from('0061736d01000000', 'hex'), 'exports no function _start'],
    ['that is cut off', Buffer.from('0061736d0100000001ff', 'hex'), 'WebAssembly.compile'],
  ])('cannot be loaded from a module %s', async (_, bytes, problem) => {
    const module = join(stage.newFolder(), 'tool.wasm')
    writeFileSync(module, bytes)
    const runtime = await stage.cordon({ tools: [wasmTool({ name: 'odd', module, policy: {} })] })
    expect(await runtime.call('odd', {})).toMatchObject({
      facts: {
        error: {
          code: 'tool-unloadable',
          message: expect.stringContaining(problem) as string,
          fix: expect.stringContaining('wasm32-wasi') as string,
        },
      },
    })
  })

  test.each<readonly [string, PolicyInput, string]>([
    ['a network', { network: ['example.org'] }, '"network"'],
    ['other programs', { exec: ['ls'] }, '"exec"'],
  ])('is refused with %s, which WASI does not have', (_, policy, section) => {
    const refused = refusalOf(() => wasmTool({ name: 'x', module: VISIT, policy }))
    expect(refused).toMatchObject({
      code: 'wasm-unusable',
      fix: expect.stringContaining(`remove ${section} from its policy`) as string,
    })
  })

  test('is refused for a file that is not a module, and for a folder', () => {
    expect(refusalOf(() => wasmTool({ name: 'x', module: SOURCE, policy: {} }))).toMatchObject({
      code: 'wasm-unusable',
      message: expect.stringContaining('is not a WebAssembly module of version 1') as string,
      fix: expect.stringContaining('wasm32-wasi') as string,
    })
    expect(refusalOf(() => wasmTool({ name: 'x', module: stage.newFolder(), policy: {} }))).toMatchObject({
      code: 'module-unreadable',
    })
  })

  test('runs nothing if its arguments are no list', async () => {
    const visit = await visiting({}, { args: () => 'variable' })
    expect(await visit()).toMatchObject({
      status: 'not_started',
      facts: { error: { code: 'option-invalid', message: expect.stringContaining('args must be') as string } },
    })
  })
})
