// What the books need of a store, and the two ways to have one: a database of one's own, or the server of another process.
import { setTimeout as pause } from 'node:timers/promises'

import { cancelInvocation, claimInvocations, completeInvocation, invokeTool, listTools, openRemoteAccess, requireInvocation, requireTool, sendHeartbeat, speakingAs, watchInvocations, watchOutput } from '../../store/index.js'
import type { Completion, Engine, Invocation, InvocationRequest, OutputChunk, ServerSettings } from '../../store/index.js'

import { isAway } from './away.js'
import { followAtServer } from './served-output.js'
import type { Registration } from './same-tool.js'

interface Names {
  readonly owner: string
  /** Who calls; the same cannot approve. */
  readonly agent: string
  /** By which name this process takes its calls. */
  readonly runner: string
  readonly heartbeatMs?: number
  /** Who runs the calls: this process, or runners on other hosts (`cordon runner`). `here` when left out. */
  readonly execution?: 'here' | 'runners'
}

export interface OwnDatabase extends Names {
  readonly engine: Engine
  /** `login`: the engine is logged in as the agent, who is a runner too. `gateway`: it speaks for both. */
  readonly speaks: 'login' | 'gateway'
}

/** `cordon serve`, with a token of the agent, or through its socket. */
export interface ServedBooks extends Names, Pick<ServerSettings, 'server' | 'token' | 'authorities'> {}

export type LedgerSettings = OwnDatabase | ServedBooks

export type SeenCall = Pick<Invocation, 'id' | 'tool' | 'input' | 'status' | 'approvalDecidedBy' | 'approvalReason' | 'isCancelRequested' | 'fence' | 'output' | 'error' | 'runner' | 'usage'>

export interface CallStore {
  readonly registrations: () => Promise<readonly Registration[]>
  readonly registration: (tool: string) => Promise<Registration>
  readonly invoke: (tool: string, input: unknown, how: Required<Pick<InvocationRequest, 'request' | 'dispatch'>>) => Promise<string>
  readonly find: (id: string) => Promise<SeenCall>
  readonly wait: (id: string, until: (call: SeenCall) => boolean, signal?: AbortSignal) => Promise<SeenCall>
  readonly cancel: (id: string, reason: string) => Promise<void>
  /** Tells what a call says while it runs, until the returned function is called. */
  readonly follow: (id: string, told: (chunk: OutputChunk) => void) => Promise<() => Promise<void>>
  readonly heartbeat: () => Promise<void>
  readonly claim: (id: string) => Promise<SeenCall | undefined>
  readonly complete: (claimed: SeenCall, completion: Completion) => Promise<void>
  readonly close: () => Promise<void>
}

export const openCallStore = (settings: LedgerSettings): CallStore => ('engine' in settings ? inDatabase(settings) : atServer(settings))

const inDatabase = ({ engine, owner, agent, runner, speaks }: OwnDatabase): CallStore => {
  const asAgent = speakingAs(engine, speaks === 'login' ? { kind: 'login' } : { kind: 'gateway', role: 'cordon_agent', actor: agent })
  const asRunner = speakingAs(engine, speaks === 'login' ? { kind: 'login' } : { kind: 'gateway', role: 'cordon_runner', actor: agent })
  const watch = watchInvocations(engine)
  const outputs = watchOutput(engine)
  return {
    registrations: () => listTools(asAgent, owner),
    registration: (tool) => requireTool(asAgent, owner, tool),
    invoke: async (tool, input, how) => invokeTool(asAgent, { toolId: (await requireTool(asAgent, owner, tool)).id, agent, input, ...how }),
    find: (id) => requireInvocation(asAgent, id),
    wait: (id, until, signal) => watch.wait(asAgent, id, { until, ...(signal === undefined ? {} : { signal }) }),
    cancel: async (id, reason) => {
      await cancelInvocation(asAgent, id, reason)
    },
    heartbeat: () => sendHeartbeat(asRunner, { name: runner, labels: [], holds: [], isDraining: false }),
    claim: async (id) => (await claimInvocations(asRunner, runner, { id }))[0],
    complete: (claimed, completion) => completeInvocation(asRunner, claimed, completion),
    follow: (id, told) => outputs.follow(asAgent, id, told),
    close: async () => {
      await Promise.all([watch.close(), outputs.close()])
    },
  }
}

const WAIT_MS = 25_000

const atServer = ({ server, token, authorities, owner: team, agent, runner }: ServedBooks): CallStore => {
  const store = openRemoteAccess({ server, ...(token === undefined ? { actor: agent } : { token }), ...(authorities === undefined ? {} : { authorities }) })
  return {
    registrations: () => store.ask('listTools', { team }),
    registration: (tool) => store.ask('showTool', { team, tool }),
    invoke: async (tool, input, how) => (await store.ask('invoke', { team, tool, agent, input, ...how })).id,
    find: (id) => store.ask('findInvocation', { id }),
    wait: async (id, until, signal) => {
      let known: string | undefined
      for (;;) {
        signal?.throwIfAborted()
        const next = await patiently(() => store.follow('findInvocation', { id }, { waitMs: WAIT_MS, ...(known === undefined ? {} : { known }), ...(signal === undefined ? {} : { signal }) }), signal)
        if (next !== undefined && until(next.answer)) return next.answer
        known = next?.mark ?? known
      }
    },
    cancel: async (id, reason) => {
      await store.ask('cancelInvocation', { id, reason })
    },
    heartbeat: async () => {
      await store.ask('heartbeat', { runner })
    },
    claim: async (id) => (await store.ask('claim', { runner, id }))[0],
    complete: async ({ id, fence }, { status, output, error, cost, usage }) => {
      await store.ask('complete', {
        id, fence, status,
        ...(output === undefined ? {} : { output }),
        ...(error === undefined ? {} : { error: error.slice(0, MOST_ERROR_LETTERS) }),
        ...(cost === undefined ? {} : { cost }),
        ...(usage === undefined ? {} : { usage: { ...usage } }),
      })
    },
    follow: (id, told) => Promise.resolve(followAtServer(store, id, told)),
    close: store.close,
  }
}

const AWAY_MS = 300_000
const PAUSE_MS = 500

/** A server that is restarted while people think about it is waited for: what was asked is in the database. */
const patiently = async <Result>(work: () => Promise<Result>, signal: AbortSignal | undefined): Promise<Result> => {
  const until = Date.now() + AWAY_MS
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (!isAway(error) || Date.now() > until || signal?.aborted === true) throw error
      await pause(PAUSE_MS, undefined, signal === undefined ? {} : { signal })
    }
  }
}

const MOST_ERROR_LETTERS = 10_000
