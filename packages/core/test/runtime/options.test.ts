import { existsSync } from 'node:fs'
import { join } from 'node:path'

import { describe, expect, test } from 'vitest'

import { parseRules } from '../../src/gate/index.js'
import { createCordon, processTool, tool } from '../../src/runtime/index.js'

import { openStage } from './stage.js'

const { workspace, newFolder, cordon } = openStage()

const run = () => null
const TOOL = tool({ name: 'idle', run })
const REACHING = processTool({
  name: 'reaching',
  policy: { network: ['api.test'], credentials: [{ id: 'token', inject: { host: 'api.test', as: 'bearer' } }] },
  command: () => ['true'],
})
const PEM = '-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----'
const create = (given: Readonly<Record<string, unknown>>) => createCordon({ workspace, tools: [], ...given })
const refusal = (code: string, message: string, fix: RegExp) => ({
  code,
  message,
  fix: expect.stringMatching(fix) as string,
})
const made = (make: (options: never) => unknown, options: unknown): unknown => {
  try {
    return make(options as never)
  } catch (error) {
    return error
  }
}

describe('createCordon refuses unknown options:', () => {
  test.each([
    [
      'an option',
      { polcy: 1 },
      'createCordon: there is no option "polcy"',
      /^did you mean "\w+"\?|known: tools, workspace/,
    ],
    ['an option that is nearly one', { hoks: [] }, 'createCordon: there is no option "hoks"', /did you mean "hooks"\?/],
    [
      'an option of a hook',
      { hooks: [{ name: 'a', points: ['stop'], run, point: 'x' }] },
      'createCordon: there is no option "hooks[0].point"',
      /did you mean "points"\?/,
    ],
    [
      'an option of the audit log',
      { audit: { path: '/x', file: '/y' } },
      'createCordon: there is no option "audit.file"',
      /path/,
    ],
    [
      'an option of the budget',
      { budget: { toolCals: 1 } },
      'createCordon: there is no option "budget.toolCals"',
      /did you mean "toolCalls"\?/,
    ],
  ])('%s', async (_, given, message, fix) => {
    await expect(create(given)).rejects.toMatchObject(refusal('option-unknown', message, fix))
  })
})

describe('createCordon refuses invalid values:', () => {
  test.each([
    [
      'a misspelt mode',
      { mode: 'on_requst' },
      /^createCordon: mode must be one of: default, .*, not "on_requst"$/,
      /did you mean "on_request"\?/,
    ],
    ['an invented mode', { mode: 'yolo' }, /^createCordon: mode must be one of/, undefined],
    [
      'a point of a hook that does not exist',
      { hooks: [{ name: 'a', points: ['pre_tol_use'], run }] },
      /^createCordon: hooks\[0\]\.points\[0\] must be one of: session_start, .*, not "pre_tol_use"$/,
      /did you mean "pre_tool_use"\?/,
    ],
    [
      'a hook at no point',
      { hooks: [{ name: 'a', points: [], run }] },
      /at least one point; without one it is never asked/,
      /pre_tool_use/,
    ],
    ['a list with a hole', { hooks: [,] }, /hooks\[0\] must be a hook, not nothing/, /hooks: \[\{ name:/],
    ['a hook that is a function', { hooks: [run] }, /hooks\[0\] must be a hook, not a function/, /hooks: \[\{ name:/],
    [
      'hooks that are no list',
      { hooks: { pre_tool_use: run } },
      /hooks must be a list of hooks, not a mapping/,
      /hooks: \[\{ name:/,
    ],
    [
      'a hook without a function',
      { hooks: [{ name: 'a', points: ['stop'] }] },
      /hooks\[0\]\.run must be a function of the event, not nothing/,
      /run: \(/,
    ],
    [
      'rules that are a mapping',
      { rules: { rules: [] } },
      /rules must be a list of rule sets, not a mapping/,
      /rules: \[\{ rules: \[/,
    ],
    [
      'a time that is a text',
      { approval: { timeout: '5m' } },
      /approval.timeout must be a number of milliseconds, at least 0, not "5m"/,
      /60_000/,
    ],
    [
      'rules that are a text',
      { rules: 'rules.yaml' },
      /rules must be a list of rule sets, not "rules.yaml"/,
      /ruleFiles/,
    ],
    [
      'rules in place of sets of rules',
      { rules: [{ effect: 'deny' as const, tool: 'x', because: 'y' }] },
      /rules\[0\] must be a rule set, not a mapping/,
      /rules: \[\{ rules: \[/,
    ],
    [
      'no workspace',
      { workspace: undefined },
      /workspace must be the absolute path of a folder, not nothing/,
      /workspace: process\.cwd\(\)/,
    ],
    [
      'a workspace that is relative',
      { workspace: '.' },
      /workspace must be the absolute path of a folder, not "."/,
      /process\.cwd\(\)/,
    ],
    ['no tools', { tools: undefined }, /tools must be a list of tools, not nothing/, /tool\(\{/],
    [
      'a tool that was not made by one of the makers',
      { tools: [TOOL, { name: 'x', run }] },
      /tools\[1\] must be a tool, not a mapping/,
      /make it with tool\(/,
    ],
    [
      'an audit log that is a text',
      { audit: 'audit.jsonl' },
      /audit must be a mapping with the path of the log, not "audit.jsonl"/,
      /audit: \{ path:/,
    ],
    [
      'an audit log without a path',
      { audit: {} },
      /audit\.path must be the path of a JSONL file, not nothing/,
      undefined,
    ],
    [
      'an approver that is no function',
      { approve: true },
      /approve must be a function of the request, not the boolean true/,
      /approve_once/,
    ],
    [
      'a timeout that is a text',
      { approval: { timeout: '5s' } },
      /approval\.timeout must be a number of milliseconds, at least 0, not "5s"/,
      undefined,
    ],
    [
      'a variable that is no text',
      { environment: { PORT: 80 } },
      /environment\.PORT must be a text, not the number 80/,
      undefined,
    ],
    [
      'authorities that are a text',
      { egress: { authorities: PEM } },
      /^createCordon: egress\.authorities must be a list of texts with certificates in PEM, not a text$/,
      /authorities: \[readFileSync/,
    ],
    [
      'an authority that is the path of one',
      { egress: { authorities: ['ca.pem'] } },
      /egress\.authorities\[0\] must be a text with certificates in PEM, not this: it holds no certificate in PEM$/,
      /authorities: \[readFileSync/,
    ],
    [
      'an authority that is a key',
      { egress: { authorities: ['-----BEGIN PRIVATE KEY-----\nAA==\n-----END PRIVATE KEY-----'] } },
      /it holds no certificate, but a private key$/,
      /name the certificate/,
    ],
    [
      'pins that have no lists',
      { egress: { pins: { 'api.test': '127.0.0.1' } } },
      /egress\.pins\["api\.test"\] must be a list of addresses, not "127\.0\.0\.1"$/,
      /pins: \{ "db\.internal": \["10\.0\.0\.5"\] \}/,
    ],
    [
      'pins that are a list',
      { egress: { pins: ['api.test'] } },
      /egress\.pins must be a mapping of names to lists of addresses, not a list$/,
      /pins: \{/,
    ],
    [
      'a source that is no text',
      { egress: { secrets: { token: { env: 'TOKEN' } } } },
      /egress\.secrets\["token"\] must be where its value comes from, as a text, not a mapping$/,
      /secrets: \{/,
    ],
    [
      'a pin for a host that no tool may reach',
      { tools: [REACHING], egress: { pins: { 'appi.test': ['127.0.0.1'] } } },
      /egress\.pins must be about hosts of its tools, not about "appi\.test"$/,
      /did you mean "api\.test"\?/,
    ],
    [
      'a source for a credential that no tool has',
      { tools: [REACHING], egress: { secrets: { tokken: 'env:TOKEN' } } },
      /egress\.secrets must be about credentials of its tools, not about "tokken"$/,
      /did you mean "token"\?/,
    ],
    [
      'a socket of an engine as a URL',
      { containers: { socket: 'unix:///run/podman/podman.sock' } },
      /containers\.socket must be the absolute path/,
      /without "unix:\/\/"/,
    ],
    [
      'a form of the sandbox that does not exist',
      { sandbox: { form: 'docker' } },
      /sandbox\.form must be one of: auto, /,
      undefined,
    ],
  ])('%s', async (_, given, message, fix) => {
    const expected = { code: 'option-invalid', message: expect.stringMatching(message) as string }
    await expect(create(given)).rejects.toMatchObject(
      fix === undefined ? expected : { ...expected, fix: expect.stringMatching(fix) as string },
    )
  })

  test('no options at all', async () => {
    await expect(createCordon(undefined as never)).rejects.toMatchObject({
      code: 'option-invalid',
      message: 'createCordon: what it is given must be a mapping with at least tools and workspace, not nothing',
    })
  })

  test('before it creates a log', async () => {
    const path = join(newFolder(), 'log', 'audit.jsonl')
    await expect(create({ audit: { path }, mode: 'yolo' })).rejects.toMatchObject({ code: 'option-invalid' })
    expect(existsSync(path)).toBe(false)
  })
})

test.each([
  ['one name', 'idle', 'the tool name "idle" is already taken by "idle"'],
  ['names that people cannot tell apart', 'Idle', 'the tool name "Idle" is already taken by "idle"'],
])('createCordon refuses two tools by %s', async (_, name, message) => {
  await expect(create({ tools: [TOOL, tool({ name, run })] })).rejects.toMatchObject(
    refusal('tool-name-invalid', message, /its own name/),
  )
})

test('createCordon accepts undefined options, and hooks that are class instances', async () => {
  class Recorder {
    readonly name = 'recorder'
    readonly points = ['pre_tool_use'] as const
    readonly seen: unknown[] = []
    run(event: { readonly tool: string | null }): void {
      this.seen.push(event.tool)
    }
  }
  const hook = new Recorder()
  const runtime = await cordon({
    tools: [TOOL],
    mode: 'never',
    hooks: [hook, { name: 'first', points: ['stop'], source: 'user', timeout: 1000, run }],
    ...({ approve: undefined, audit: undefined } as object),
  })
  expect(await runtime.evaluate('idle', {})).toMatchObject({ kind: 'permitted' })
  expect(hook.seen).toEqual(['idle'])
})

describe('a tool refuses', () => {
  test.each([
    [
      'an option that is nearly one',
      tool,
      { name: 'x', plicy: {}, run },
      'option-unknown',
      'the tool "x": there is no option "plicy"',
      /did you mean "policy"\?/,
    ],
    [
      'what is for the other kind',
      processTool,
      { name: 'x', run },
      'option-unknown',
      'the tool "x": there is no option "run"',
      /known: name/,
    ],
    [
      'a command that is a list',
      processTool,
      { name: 'x', command: ['ls'] },
      'option-invalid',
      'the tool "x": command must be a function that gives a list of words, not a list',
      /command: \(/,
    ],
    [
      'no command',
      processTool,
      { name: 'x' },
      'option-invalid',
      'the tool "x": command must be a function that gives a list of words, not nothing',
      /command: \(/,
    ],
    [
      'a function that is a text',
      tool,
      { name: 'x', run: '() => 1' },
      'option-invalid',
      'the tool "x": run must be a function, not "() => 1"',
      /run: async/,
    ],
    [
      'neither function nor module',
      tool,
      { name: 'x' },
      'tool-incomplete',
      'the tool "x" is incomplete: it needs either a function (run) or a module',
      /run \(a function\), module/,
    ],
    [
      'an export of no module',
      tool,
      { name: 'x', run, export: 'y' },
      'tool-incomplete',
      'the tool "x" is incomplete: "export" names a function of a module, and there is none (module)',
      /module/,
    ],
    ['no name', tool, { run }, 'option-invalid', 'tool(): name must be a name, not nothing', /^/],
    [
      'successes that are no statuses',
      processTool,
      { name: 'x', command: () => ['x'], successes: 1 },
      'option-invalid',
      'the tool "x": successes must be a list of exit statuses, not the number 1',
      /^/,
    ],
    [
      'what it destroys in other words',
      tool,
      { name: 'x', run, destructive: true },
      'option-invalid',
      expect.stringContaining('destructive must be what a call destroys, { impactScope, rollbackAdvice }') as string,
      /^/,
    ],
  ])('%s', (_, make, options, code, message, fix) => {
    const error = made(make, options)
    expect(error).toMatchObject({ code, message })
    expect((error as { fix?: string }).fix ?? '').toMatch(fix)
  })
})

describe('a process tool runs nothing if its command gives', () => {
  test.each([
    ['a text', 'ls -l', '"ls -l"'],
    ['nothing', undefined, 'nothing'],
    ['no words', [], 'an empty list'],
    ['something else than words', ['sleep', 5], 'a list whose item 1 is the number 5'],
    ['words later', Promise.resolve(['ls']), 'a promise'],
  ])('%s', async (_, words, found) => {
    const runtime = await cordon({ tools: [processTool({ name: 'x', command: () => words as never })] })
    const result = await runtime.call('x', {})
    expect(result).toMatchObject({
      status: 'denied',
      reason: 'This tool is not set up correctly.',
      facts: {
        error: {
          code: 'command-invalid',
          message: `the command of the tool "x" must be a function that returns a list of words; it returned ${found}`,
        },
      },
    })
    expect(result.facts.error?.fix).toContain('["ls", "-l"]')
  })
})

test('a call without input has an empty input', async () => {
  const keys = tool({ name: 'keys', input: { type: 'object' }, run: (input: object) => Object.keys(input) })
  const runtime = await cordon({ tools: [keys] })
  expect(await runtime.evaluate('keys')).toMatchObject({ kind: 'permitted', inputs: { call: {} } })
  expect(await runtime.call('keys')).toMatchObject({
    status: 'ok',
    output: [],
    facts: {
      usage: {
        wall_ms: expect.any(Number) as number,
        cpu_ms: expect.any(Number) as number,
        max_rss_bytes: expect.any(Number) as number,
      },
    },
  })
})

describe('an unknown answer denies, and the error lists the valid ones:', () => {
  test.each([
    [
      'yes',
      true,
      'approve: its answer must be a mapping such as { kind: "approve_once", by: "ann" }, not the boolean true',
    ],
    [
      'an answer of no kind',
      { by: 'ann' },
      'approve: kind must be one of: approve_once, approve_for_scope, deny, modify, escalate, ' +
        'request_more_info, timed_out, cancelled, failed, not nothing',
    ],
  ])('an approver that says %s', async (_, answer, problem) => {
    const runtime = await cordon({ tools: [TOOL], mode: 'untrusted', approve: () => answer as never })
    const { status, facts } = await runtime.call('idle')
    expect({ status, error: facts.error }).toEqual({
      status: 'denied',
      error: {
        code: 'approval-refused',
        message: `the approval was not accepted: ${problem}`,
        fix: expect.stringContaining('kinds: approve_once, approve_for_scope') as string,
      },
    })
  })

  test('a hook that says false', async () => {
    const runtime = await cordon({
      tools: [TOOL],
      hooks: [{ name: 'no', points: ['pre_tool_use'], run: () => false as never }],
    })
    const { status, facts } = await runtime.call('idle')
    expect({ status, message: facts.error?.message }).toEqual({
      status: 'denied',
      message: expect.stringContaining(
        'hook no: its answer must be nothing, or a mapping such as { decision: "deny", reason: "…" } ' +
          '(decisions: continue, allow, ask, deny, block), not the boolean false',
      ) as string,
    })
  })

  test('an error about rules with an unknown key names the rules', async () => {
    await expect(create({ rules: [{ ruels: [] }] })).rejects.toMatchObject({
      message: 'rules[0]: unknown key "ruels" in the rules',
      fix: 'did you mean "rules"?',
    })
  })
})

test('a call refuses unknown options, and does not run', async () => {
  const runtime = await cordon({ tools: [TOOL] })
  await expect(runtime.call('idle', {}, { sesion: 'a' } as never)).rejects.toMatchObject(
    refusal('option-unknown', 'call: there is no option "sesion"', /did you mean "session"\?/),
  )
  await expect(runtime.call('idle', {}, { onProgress: 'x' as never })).rejects.toMatchObject({ code: 'option-invalid' })
})

describe('createCordon refuses a function tool that could never run', () => {
  test('because it uses variables from outside', async () => {
    const outside = 1
    await expect(create({ tools: [tool({ name: 'x', run: () => outside })] })).rejects.toMatchObject(
      refusal(
        'function-not-portable',
        'the function of the tool "x" cannot be sent to a cell: it uses "outside" from outside of itself',
        /pass what it needs as input/,
      ),
    )
  })

  test('because its module is missing, and says where it was searched', async () => {
    await expect(create({ tools: [tool({ name: 'x', module: './nope.mjs' })] })).rejects.toMatchObject(
      refusal(
        'module-unreadable',
        'the module ./nope.mjs of the tool "x" cannot be read',
        /starts at the working directory of this process \(\/.*import\.meta\.url/,
      ),
    )
  })

  test('but accepts an in-process one, which may use anything', async () => {
    const outside = 1
    const runtime = await cordon({
      tools: [
        tool({
          name: 'x',
          inProcess: true,
          policy: { filesystem: 'none', network: 'none', exec: 'none' },
          run: () => outside,
        }),
      ],
    })
    expect(runtime.listTools()).toHaveLength(1)
  })
})

describe('an unknown name', () => {
  const fetch = tool({ name: 'fetch', inProcess: true, policy: { risk: 'low' }, run: () => 1 })
  const after = (name: string) =>
    tool({ name: 'commit', inProcess: true, policy: { risk: 'low' }, constraints: { onlyAfter: [name] }, run: () => 1 })
  const deny = (name: string) => ({ rules: [{ effect: 'deny' as const, tool: name, because: 'no' }] })

  test('in onlyAfter is refused, with the nearest name as a hint', async () => {
    await expect(cordon({ tools: [fetch, after('fetsh')] })).rejects.toMatchObject({
      code: 'tool-unknown-here',
      fix: 'did you mean "fetch"?',
    })
    await expect(cordon({ tools: [fetch, after('fetch')] })).resolves.toBeDefined()
  })

  test('in a rule of the options is refused, but a pattern may match later tools', async () => {
    await expect(cordon({ tools: [fetch], rules: [deny('fetsh')] })).rejects.toMatchObject({
      code: 'tool-unknown-here',
      fix: 'did you mean "fetch"?',
    })
    const runtime = await cordon({ tools: [fetch], rules: [deny('fetch'), deny('mcp_*')] })
    expect(await runtime.call('fetch', {})).toMatchObject({ status: 'denied' })
    expect(runtime.warnings).toEqual([])
  })

  test('in a rule of a file is a warning, because other agents may share the file', async () => {
    const set = parseRules([{ effect: 'deny', tool: 'fetsh', because: 'no' }], 'shared.yaml', {
      source: 'user',
      places: { workspace: '/w', home: '/h' } as never,
    })
    const runtime = await cordon({ tools: [fetch], rules: [set] })
    expect(runtime.warnings).toEqual([expect.stringMatching(/shared\.yaml.*"fetsh".*did you mean "fetch"\?/)])
    expect(await runtime.call('fetch', {})).toMatchObject({ status: 'ok' })
  })

  test('of a variable that is not set is a warning, until the variable is set', async () => {
    const asking = (name: string) =>
      processTool({ name, policy: { environment: ['CORDON_A', 'CORDON_B=1', 'CORDON_C'] }, command: () => ['env'] })
    const tools = [
      asking('show'),
      tool({ name: 'here', inProcess: true, policy: { environment: ['CORDON_A'] }, run: () => 1 }),
    ]
    const without = await cordon({ tools })
    const words = (name: string, fix: string) =>
      `the policy of the tool "show" passes on ${name}, which is not set, so the tool does not get it; ${fix}`
    const give = 'give createCordon the variables: environment: process.env'
    expect(without.warnings).toEqual([words('CORDON_A', give), words('CORDON_C', give)])
    const half = await cordon({ tools, environment: { CORDON_A: 'a', CORDON_C: undefined } })
    expect(half.warnings).toEqual([words('CORDON_C', 'set it: environment: { CORDON_C: "…" }')])
    const all = await cordon({ tools, environment: { CORDON_A: 'a', CORDON_C: '' } })
    expect(all.warnings).toEqual([])
    expect((await all.call('show', {})).output).toMatchObject({
      stdout: expect.stringMatching(/^CORDON_A=a\nCORDON_B=1\nCORDON_C=$/m) as string,
    })
  })

  test('of an event is refused, and known names work', async () => {
    const runtime = await cordon({ tools: [fetch] })
    expect(() => runtime.on('tool.denyed' as never, () => undefined)).toThrow(
      expect.objectContaining({ code: 'option-invalid', fix: 'did you mean "tool.denied"?' }),
    )
    for (const type of ['tool.denied', '*'] as const) expect(runtime.on(type, () => undefined)).toBeTypeOf('function')
  })
})
