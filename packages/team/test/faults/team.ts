// A team on a real server: an agent, people who approve, hosts that run tools, and a ledger of what happened.
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

import { CORDON } from '../../../../test/repository.js'
import { loadToolFiles, registrationOf } from '@cordon/team'
import type { RunnerNews } from '@cordon/team'
import {
  addMember,
  assignTool,
  installQueue,
  invokeTool,
  migrate,
  openPostgres,
  registerTool,
  requireInvocation,
  speakingAs,
} from '../../src/store/index.js'
import type { Engine, Invocation, Role } from '../../src/store/index.js'

import { perform } from '../store/perform.js'
import { startServer } from '../store/server.js'
import type { Server } from '../store/server.js'

/** Every tool writes into the ledger what it was called for: a line more is a call more. */
const TOOLS = (workspace: string): string => `
tools:
  - name: look
    description: reads, and may be done twice
    input: { type: object, properties: { id: { type: string }, seconds: { type: number } }, required: [id], additionalProperties: false }
    policy: { egress_class: none, filesystem: { write: ["${workspace}/**"] }, limits: { wall: 60s } }
    command: [sh, -c, 'echo "look $0" >> ledger; echo "$0 began"; sleep "$1"; echo "$0 ends"', "{id}", "{seconds}"]
  - name: pay
    description: must not be done twice
    input: { type: object, properties: { id: { type: string }, seconds: { type: number } }, required: [id], additionalProperties: false }
    policy: { filesystem: { write: ["${workspace}/**"] }, limits: { wall: 60s } }
    command: [sh, -c, 'echo "pay $0" >> ledger; sleep "$1"; echo "done $0" >> ledger', "{id}", "{seconds}"]
  - name: rare
    description: needs something that few hosts have
    input: { type: object, properties: { id: { type: string }, seconds: { type: number } }, required: [id], additionalProperties: false }
    policy: { egress_class: none, filesystem: { write: ["${workspace}/**"] } }
    command: [sh, -c, 'echo "rare $0" >> ledger', "{id}"]
`

export interface RunningHost {
  readonly process: ChildProcess
  readonly news: readonly RunnerNews[]
  readonly until: (isIt: (news: RunnerNews) => boolean) => Promise<RunnerNews>
  readonly exited: Promise<number | null>
  /** What it said on stderr. */
  readonly said: () => string
}

export interface HostSettings {
  readonly labels?: readonly string[]
  readonly concurrency?: number
  /** Words before the command, such as those that put it into a network of its own. */
  readonly within?: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  readonly url?: string
  readonly tools?: string
  readonly silentMs?: number
  /** Further words of its command. */
  readonly options?: readonly string[]
}

/** How long a runner is silent before its calls are taken from it: short for a test, long enough for a busy machine. */
export const SILENT_MS = 4_000

export type ToolName = 'look' | 'pay' | 'rare'

export interface Team {
  readonly server: Server
  /** As the owner of the database. */
  readonly engine: Engine
  readonly workspace: string
  readonly tools: string
  readonly as: (role: Role, actor: string) => Pick<Engine, 'query'>
  readonly ask: (tool: ToolName, input: { readonly id: string; readonly seconds: number }) => Promise<string>
  readonly approve: (id: string, by?: string) => Promise<void>
  readonly find: (id: string) => Promise<Invocation>
  /** Lines of the ledger, in their order. */
  readonly ledger: () => readonly string[]
  readonly startHost: (name: string, settings?: HostSettings) => RunningHost
  /** A process that calls; with an invocation, one that goes on with it. */
  readonly startCaller: (
    tool: ToolName,
    input: { readonly id: string; readonly seconds: number },
    invocation?: string,
  ) => Caller
  /** One that runs its call itself, by its own name. */
  readonly startOwnCaller: (
    tool: ToolName,
    input: { readonly id: string; readonly seconds: number },
    settings?: OwnCallerSettings,
  ) => Caller
  readonly remove: () => Promise<void>
}

export interface OwnCallerSettings {
  readonly invocation?: string
  readonly url?: string
}

export interface Caller {
  readonly process: ChildProcess
  readonly invocation: Promise<string>
  readonly heard: readonly string[]
  readonly result: Promise<Readonly<Record<string, unknown>>>
}

export const openTeam = async (server: Server = startServer()): Promise<Team> => {
  // Apart from the workspace, because tools may write there: the logs of the hosts, and the tools themselves.
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'cordon-faults-')))
  const workspace = join(base, 'workspace')
  mkdirSync(workspace)
  mkdirSync(join(base, 'logs'))
  const tools = join(base, 'tools.yaml')
  writeFileSync(tools, TOOLS(workspace))
  writeFileSync(join(workspace, 'ledger'), '')
  const engine = openPostgres({ url: server.url(), connections: 20 })
  await migrate(engine)
  await installQueue(engine, server.url())
  await engine.execute(`
    create role "agent-1" login in role cordon_agent;
    create role "laptop" login in role cordon_agent, cordon_runner;
    create role "anna" login in role cordon_operator;
    create role "otto" login in role cordon_operator;
    create role "hosts" login in role cordon_runner;`)
  const as: Team['as'] = (role, actor) => speakingAs(engine, { kind: 'gateway', role, actor })
  const admin = as('cordon_admin', 'ada')
  await addMember(as('service_role', 'founder'), 'team', 'ada', 'admin')
  for (const [actor, kind] of [
    ['anna', 'operator'],
    ['otto', 'operator'],
    ['agent-1', 'agent'],
    ['laptop', 'agent'],
    ['laptop', 'runner'],
    ['hosts', 'runner'],
  ] as const)
    await addMember(admin, 'team', actor, kind)
  const ids = new Map<string, string>()
  for (const tool of await loadToolFiles([tools])) {
    const registration = registrationOf(tool, { workspace, home: '/root' })
    const isWrite = registration.key === 'pay'
    const id = await registerTool(admin, {
      ...registration,
      owner: 'team',
      requiresApproval: isWrite,
      egressClass: isWrite ? 'write' : 'none',
      needsLabels: registration.key === 'rare' ? ['rare-earth'] : [],
    })
    for (const agent of ['agent-1', 'laptop']) await assignTool(admin, agent, id)
    ids.set(registration.key, id)
  }
  const children = new Set<RunningHost>()
  const callers = new Set<ChildProcess>()
  const call = (given: object): Caller => {
    const caller = startCaller({ tools, workspace, ...given }, base)
    callers.add(caller.process)
    return caller
  }
  return {
    server,
    engine,
    workspace,
    tools,
    as,
    find: (id) => requireInvocation(engine, id),
    ask: (tool, input) =>
      invokeTool(as('cordon_agent', 'agent-1'), { toolId: ids.get(tool) ?? '', agent: 'agent-1', input }),
    approve: async (id, by = 'anna') => {
      // Who looks at what is asked now, and says yes to that.
      const { question } = await perform(as('cordon_operator', by), 'showQuestion', { id })
      await perform(as('cordon_operator', by), 'approve', { id, shownHash: question.argumentsHash })
    },
    ledger: () =>
      readFileSync(join(workspace, 'ledger'), 'utf8')
        .split('\n')
        .filter((line) => line !== ''),
    startHost: (name, settings = {}) => {
      const host = startHost(name, { base, workspace, tools, url: server.url('hosts') }, settings)
      children.add(host)
      void host.exited.finally(() => children.delete(host))
      return host
    },
    startCaller: (tool, input, invocation) =>
      call({
        url: server.url('agent-1'),
        tool,
        input,
        invocation,
        registry: { agent: 'agent-1', runner: 'caller', execution: 'runners' },
      }),
    startOwnCaller: (tool, input, { invocation, url = server.url('laptop') } = {}) =>
      call({ url, tool, input, invocation, registry: { agent: 'laptop', runner: 'laptop', silentMs: SILENT_MS } }),
    remove: async () => {
      for (const child of callers) child.kill('SIGKILL')
      for (const { process } of children) process.kill('SIGKILL')
      await Promise.all(Array.from(children, ({ exited }) => exited))
      await engine.close()
      server.remove()
      rmSync(base, { recursive: true, force: true })
    },
  }
}

const startHost = (
  name: string,
  given: { readonly base: string; readonly workspace: string; readonly tools: string; readonly url: string },
  settings: HostSettings,
): RunningHost => {
  const {
    labels = [],
    concurrency = 4,
    within = [],
    environment = {},
    url = given.url,
    tools = given.tools,
    silentMs = SILENT_MS,
    options = [],
  } = settings
  const words = [
    ...within,
    process.execPath,
    CORDON,
    'runner',
    '--database',
    url,
    '--tools',
    tools,
    '--name',
    name,
    '--workspace',
    given.workspace,
    '--concurrency',
    String(concurrency),
    '--json',
    ...labels.flatMap((label) => ['--label', label]),
    ...options,
  ]
  const child = spawn(words[0] ?? '', words.slice(1), {
    cwd: given.workspace,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env['PATH'],
      HOME: given.base,
      CORDON_AUDIT: join(given.base, 'logs', `${name}.jsonl`),
      CORDON_RUNNER_SILENT_MS: String(silentMs),
      ...environment,
    },
  })
  const news: RunnerNews[] = []
  const waiting = new Set<() => void>()
  let said = ''
  child.stderr.on('data', (bytes: Buffer) => {
    said += bytes.toString()
  })
  createInterface({ input: child.stdout }).on('line', (line) => {
    news.push(JSON.parse(line) as RunnerNews)
    for (const look of waiting) look()
  })
  const exited = new Promise<number | null>((resolve) =>
    child.on('exit', (code) => {
      resolve(code)
    }),
  )
  const until: RunningHost['until'] = (isIt) =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        const found = news.find(isIt)
        if (found === undefined) return
        waiting.delete(look)
        resolve(found)
      }
      waiting.add(look)
      void exited.then((code) => {
        reject(new Error(`the runner ${name} ended with ${String(code)}: ${said}`))
      })
      look()
    })
  return { process: child, news, until, exited, said: () => said }
}

const startCaller = (given: object, home: string): Caller => {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'caller.mjs'), JSON.stringify(given)], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { PATH: process.env['PATH'], HOME: home },
  })
  const heard: string[] = []
  const told = { invocation: later<string>(), result: later<Readonly<Record<string, unknown>>>() }
  createInterface({ input: child.stdout }).on('line', (line) => {
    const said = JSON.parse(line) as Readonly<Record<string, unknown>>
    if (typeof said['invocation'] === 'string') told.invocation.resolve(said['invocation'])
    else if (typeof said['heard'] === 'string') heard.push(said['heard'])
    else told.result.resolve(said)
  })
  child.on('exit', () => {
    told.result.reject(new Error('the caller ended without a result'))
  })
  told.result.promise.catch(() => undefined)
  return { process: child, invocation: told.invocation.promise, heard, result: told.result.promise }
}

const later = <Value>() => {
  let settle: { readonly resolve: (value: Value) => void; readonly reject: (error: Error) => void } = {
    resolve: () => undefined,
    reject: () => undefined,
  }
  const promise = new Promise<Value>((resolve, reject) => {
    settle = { resolve, reject }
  })
  return { promise, ...settle }
}
