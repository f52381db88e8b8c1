// What the runtime needs from a registry, and the two ways to reach one: a database of its own, or the server of
// another process.
import { randomBytes } from 'node:crypto'

import {
  cancelInvocation,
  claimInvocations,
  completeInvocation,
  invokeTool,
  keepUp,
  listTools,
  openRemoteAccess,
  requireInvocation,
  requireTool,
  sendHeartbeat,
  speakingAs,
  watchChanges,
  watchInvocations,
  watchOutput,
} from '../../store/index.js'
import type {
  Completion,
  Engine,
  Invocation,
  InvocationRequest,
  OutputChunk,
  ServerSettings,
} from '../../store/index.js'

import type { AskedWith } from './asked-with.js'
import { whileUnavailable } from './away.js'
import type { HostAbilities } from './host-abilities.js'
import { followAtServer } from './served-output.js'
import type { Registration } from '../tool-identity/same-tool.js'

interface Names {
  readonly owner: string
  /** Who calls; the same cannot approve. */
  readonly agent: string
  /**
   * By which name this process takes its calls; each process gets an ending of its own, because another one by the same
   * name did not begin its calls.
   */
  readonly runner: string
  /** What this host has beyond others, for tools that need it. */
  readonly labels?: readonly string[]
  readonly heartbeatMs?: number
  /** After how long a silence its calls are given to others; it ends them itself before. A minute when left out. */
  readonly silentMs?: number
  /** Who runs the calls: this process, or runners on other hosts (`cordon runner`). `here` when left out. */
  readonly execution?: 'here' | 'runners'
}

export interface OwnDatabase extends Names {
  readonly engine: Engine
  /** `login`: the engine is logged in as the agent, who is a runner too. `gateway`: it speaks for both. */
  readonly speaks: 'login' | 'gateway'
}

/** `cordon serve`, with a token of the agent, or through its socket. */
export interface ServedRegistry extends Names, Pick<ServerSettings, 'server' | 'token' | 'authorities'> {}

export type RegistrySettings = OwnDatabase | ServedRegistry

export type SeenCall = Pick<
  Invocation,
  | 'id'
  | 'tool'
  | 'input'
  | 'status'
  | 'approvalDecidedBy'
  | 'approvalReason'
  | 'isCancelRequested'
  | 'fence'
  | 'output'
  | 'error'
  | 'runner'
  | 'usage'
>

export interface RegistryAccess {
  /** The name of this process there. */
  readonly runner: string
  readonly registrations: () => Promise<readonly Registration[]>
  readonly registration: (tool: string) => Promise<Registration>
  readonly invoke: (
    tool: string,
    input: unknown,
    how: Required<Pick<InvocationRequest, 'request' | 'dispatch'>> & AskedWith,
  ) => Promise<string>
  readonly find: (id: string) => Promise<SeenCall>
  readonly wait: (id: string, until: (call: SeenCall) => boolean, signal?: AbortSignal) => Promise<SeenCall>
  readonly cancel: (id: string, reason: string) => Promise<void>
  /** Tells what a call says while it runs, until the returned function is called. */
  readonly follow: (id: string, told: (chunk: OutputChunk) => void) => () => Promise<void>
  readonly heartbeat: () => Promise<void>
  readonly claim: (id: string) => Promise<SeenCall | undefined>
  readonly complete: (claimed: SeenCall, completion: Completion) => Promise<void>
  /** Only of a database of one's own: there may be nobody else who does it. */
  readonly keepUp?: () => Promise<unknown>
  readonly close: () => Promise<void>
}

/** What is said of this process with every heartbeat. */
interface Said extends HostAbilities {
  readonly name: string
  readonly leaseMs: number
}

export const SILENT_MS = 60_000

export const openRegistryAccess = (settings: RegistrySettings, abilities: HostAbilities): RegistryAccess => {
  const said: Said = {
    ...abilities,
    name: `${settings.runner}/${randomBytes(4).toString('hex')}`,
    leaseMs: settings.silentMs ?? SILENT_MS,
  }
  return 'engine' in settings ? inDatabase(settings, said) : atServer(settings, said)
}

const UPKEEP_STATEMENT_MS = 30_000

const inDatabase = ({ engine, owner, agent, speaks }: OwnDatabase, said: Said): RegistryAccess => {
  const asAgent = speakingAs(
    engine,
    speaks === 'login' ? { kind: 'login' } : { kind: 'gateway', role: 'cordon_agent', actor: agent },
  )
  const asRunner = speakingAs(
    engine,
    speaks === 'login' ? { kind: 'login' } : { kind: 'gateway', role: 'cordon_runner', actor: agent },
  )
  const upkeep =
    speaks === 'login'
      ? engine
      : speakingAs(engine, { kind: 'gateway', role: 'cordon_runner', actor: agent }, { longestMs: UPKEEP_STATEMENT_MS })
  const changes = watchChanges(engine, { channels: ['tool_invocation', 'tool_invocation_output'] })
  const watch = watchInvocations(changes)
  const outputs = watchOutput(changes)
  return {
    runner: said.name,
    keepUp: () => keepUp(upkeep),
    registrations: () => listTools(asAgent, owner),
    registration: (tool) => requireTool(asAgent, owner, tool),
    invoke: async (tool, input, { run, step, ...how }) =>
      invokeTool(asAgent, {
        toolId: (await requireTool(asAgent, owner, tool)).id,
        agent,
        input,
        ...(run === undefined ? {} : { teamRunId: run }),
        ...(step === undefined ? {} : { stepId: step }),
        ...how,
      }),
    find: (id) => requireInvocation(asAgent, id),
    wait: (id, until, signal) => watch.wait(asAgent, id, { until, ...(signal === undefined ? {} : { signal }) }),
    cancel: async (id, reason) => {
      await cancelInvocation(asAgent, id, reason)
    },
    heartbeat: () => sendHeartbeat(asRunner, { ...said, isDraining: false }),
    claim: async (id) => (await claimInvocations(asRunner, said.name, { id }))[0],
    complete: (claimed, completion) => completeInvocation(asRunner, claimed, completion),
    follow: (id, told) => outputs.follow(asAgent, id, told),
    close: changes.close,
  }
}

const WAIT_MS = 25_000

const atServer = (
  { server, token, authorities, owner: team, agent }: ServedRegistry,
  { name: runner, ...said }: Said,
): RegistryAccess => {
  const store = openRemoteAccess({
    server,
    ...(token === undefined ? { actor: agent } : { token }),
    ...(authorities === undefined ? {} : { authorities }),
  })
  return {
    runner,
    registrations: () => store.ask('listTools', { team }),
    registration: (tool) => store.ask('showTool', { team, tool }),
    invoke: async (tool, input, { run, step, validMs, ...how }) =>
      (
        await store.ask('invoke', {
          team,
          tool,
          agent,
          input,
          ...(run === undefined ? {} : { runId: run }),
          ...(step === undefined ? {} : { stepId: step }),
          ...(validMs === undefined ? {} : { validSeconds: Math.ceil(validMs / 1000) }),
          ...how,
        })
      ).id,
    find: (id) => store.ask('findInvocation', { id }),
    wait: async (id, until, signal) => {
      let known: string | undefined
      for (;;) {
        signal?.throwIfAborted()
        const next = await whileUnavailable(
          () =>
            store.follow(
              'findInvocation',
              { id },
              {
                waitMs: WAIT_MS,
                ...(known === undefined ? {} : { known }),
                ...(signal === undefined ? {} : { signal }),
              },
            ),
          awayFor(signal),
        )
        if (next !== undefined && until(next.answer)) return next.answer
        known = next?.mark ?? known
      }
    },
    cancel: async (id, reason) => {
      await store.ask('cancelInvocation', { id, reason })
    },
    heartbeat: async () => {
      await store.ask('heartbeat', { runner, ...said })
    },
    claim: async (id) => (await store.ask('claim', { runner, id }))[0],
    complete: async ({ id, fence }, { status, output, error, cost, usage }) => {
      await store.ask('complete', {
        id,
        fence,
        status,
        ...(output === undefined ? {} : { output }),
        ...(error === undefined ? {} : { error: error.slice(0, MOST_ERROR_LETTERS) }),
        ...(cost === undefined ? {} : { cost }),
        ...(usage === undefined ? {} : { usage: { ...usage } }),
      })
    },
    follow: (id, told) => followAtServer(store, id, told),
    close: store.close,
  }
}

const AWAY_MS = 300_000

/** A server that is restarted while people think about it is waited for: what was asked is in the database. */
const awayFor = (signal: AbortSignal | undefined): AbortSignal =>
  AbortSignal.any([AbortSignal.timeout(AWAY_MS), ...(signal === undefined ? [] : [signal])])

const MOST_ERROR_LETTERS = 10_000
