// The two ways to reach a registry: its database, or a server (`cordon serve`).
import { randomBytes } from 'node:crypto'
import type { AskedWith } from 'cordon/runtime'
import { withoutUndefined } from 'cordon/shapes'

import {
  beginInvocation,
  cancelInvocation,
  claimInvocations,
  completeInvocation,
  invokeTool,
  maintainRegistry,
  listTools,
  openRemoteAccess,
  requireInvocation,
  requireTool,
  sendHeartbeat,
  speakingAs,
  watchChanges,
  watchInvocations,
  watchOutput,
} from '../store/index.js'
import type {
  Completion,
  Engine,
  Invocation,
  InvocationRequest,
  OutputChunk,
  RegisteredTool,
  ServerSettings,
  StoreAccess,
} from '../store/index.js'
import type { Registration } from '../tools/same-tool.js'
import { anyOf, whileUnavailable } from './away.js'
import { SILENT_MS } from './lease.js'

interface Names {
  readonly owner: string
  /** The caller, who cannot approve these calls. */
  readonly agent: string
  /** The name of this process as a runner. Each process adds an ending of its own. */
  readonly runner: string
  /** Labels of this host, for tools that need them. */
  readonly labels?: readonly string[]
  readonly heartbeatMs?: number
  /** After this long without a heartbeat its calls are given to others (default: a minute). It ends them before. */
  readonly silentMs?: number
  /** Who runs the calls: this process (default), or runners on other hosts (`cordon runner`). */
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

export type KnownTool = Registration & Pick<RegisteredTool, 'id'>

export interface RegistryAccess {
  /** The name of this process in the registry. */
  readonly runner: string
  readonly registrations: () => Promise<readonly Registration[]>
  readonly registration: (tool: string) => Promise<KnownTool>
  /** Asks for a call of this process. It is claimed at once, unless people have to be asked. */
  readonly begin: (tool: KnownTool, input: unknown, how: { readonly request: string } & AskedWith) => Promise<SeenCall>
  readonly invoke: (
    tool: string,
    input: unknown,
    how: Required<Pick<InvocationRequest, 'request' | 'dispatch'>> & AskedWith,
  ) => Promise<string>
  readonly find: (id: string) => Promise<SeenCall>
  readonly wait: (id: string, until: (call: SeenCall) => boolean, signal?: AbortSignal) => Promise<SeenCall>
  readonly cancel: (id: string, reason: string) => Promise<void>
  /** Passes on the output of a running call, until the returned function is called. */
  readonly follow: (id: string, told: (chunk: OutputChunk) => void) => () => Promise<void>
  readonly heartbeat: () => Promise<void>
  readonly claim: (id: string) => Promise<SeenCall | undefined>
  readonly complete: (claimed: SeenCall, completion: Completion) => Promise<void>
  /** Only with a database: a server does its own upkeep. */
  readonly keepUp?: () => Promise<unknown>
  readonly close: () => Promise<void>
}

/** What each heartbeat says about this process. */
interface Said extends HostAbilities {
  readonly name: string
  readonly leaseMs: number
}

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
  const speakerOf = (role: 'cordon_agent' | 'cordon_runner') =>
    speaks === 'login' ? ({ kind: 'login' } as const) : ({ kind: 'gateway', role, actor: agent } as const)
  const asAgent = speakingAs(engine, speakerOf('cordon_agent'))
  const asRunner = speakingAs(engine, speakerOf('cordon_runner'))
  const upkeep =
    speaks === 'login' ? engine : speakingAs(engine, speakerOf('cordon_runner'), { longestMs: UPKEEP_STATEMENT_MS })
  const changes = watchChanges(engine, { channels: ['tool_invocation', 'tool_invocation_output'] })
  const watch = watchInvocations(changes)
  const outputs = watchOutput(changes)
  return {
    runner: said.name,
    keepUp: () => maintainRegistry(upkeep),
    registrations: () => listTools(asAgent, owner),
    registration: (tool) => requireTool(asAgent, owner, tool),
    begin: ({ id: toolId, version }, input, how) =>
      beginInvocation(asAgent, { toolId, version, agent, input, runner: said.name, ...inRun(how) }),
    invoke: async (tool, input, how) =>
      invokeTool(asAgent, { toolId: (await requireTool(asAgent, owner, tool)).id, agent, input, ...inRun(how) }),
    find: (id) => requireInvocation(asAgent, id),
    wait: (id, until, signal) => watch.wait(asAgent, id, withoutUndefined({ until, signal })),
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

const inRun = <How extends AskedWith>({ run, step, ...how }: How) => ({
  ...how,
  ...withoutUndefined({ runId: run, stepId: step }),
})

const WAIT_MS = 25_000

const atServer = (
  { server, token, authorities, owner: team, agent }: ServedRegistry,
  { name: runner, ...said }: Said,
): RegistryAccess => {
  const store = openRemoteAccess({
    server,
    ...(token === undefined ? { actor: agent } : { token }),
    ...withoutUndefined({ authorities }),
  })
  return {
    runner,
    registrations: () => store.ask('listTools', { team }),
    registration: (tool) => store.ask('showTool', { team, tool }),
    begin: ({ key: tool, version }, input, how) =>
      store.ask('begin', { runner, team, tool, version, agent, input, ...requestOf(how) }),
    invoke: async (tool, input, { dispatch, ...how }) =>
      (await store.ask('invoke', { team, tool, agent, input, dispatch, ...requestOf(how) })).id,
    find: (id) => store.ask('findInvocation', { id }),
    wait: async (id, until, signal) => {
      let known: string | undefined
      for (;;) {
        signal?.throwIfAborted()
        const following = withoutUndefined({ waitMs: WAIT_MS, known, signal })
        const next = await whileUnavailable(
          () => store.follow('findInvocation', { id }, following),
          // The server may be restarted while people think about the call.
          anyOf(signal, AbortSignal.timeout(AWAY_MS)),
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
        ...withoutUndefined({
          output,
          error: error?.slice(0, MOST_ERROR_LETTERS),
          cost,
          usage: usage === undefined ? undefined : { ...usage },
        }),
      })
    },
    follow: (id, told) => followAtServer(store, id, told),
    close: store.close,
  }
}

const requestOf = ({ validMs, ...how }: { readonly request: string } & AskedWith) => ({
  ...inRun(how),
  ...withoutUndefined({ validSeconds: validMs === undefined ? undefined : Math.ceil(validMs / 1000) }),
})

const AWAY_MS = 300_000
const MOST_ERROR_LETTERS = 10_000

/** Passes on the output from its oldest kept part. The returned function passes on the rest and stops. */
const followAtServer = (
  store: Pick<StoreAccess, 'ask' | 'grow'>,
  id: string,
  told: (chunk: OutputChunk) => void,
): (() => Promise<void>) => {
  const over = new AbortController()
  let after: string | undefined
  const given = () => withoutUndefined({ id, after })
  const hear = (mark: string, chunk: OutputChunk): void => {
    after = mark
    told(chunk)
  }
  const listen = async (): Promise<void> => {
    const onItem = (mark: string, item: unknown): void => {
      hear(mark, item as OutputChunk)
    }
    while (!over.signal.aborted)
      if ((await store.grow('readOutput', given(), onItem, over.signal)) !== undefined) return
  }
  // Errors are ignored: the result has all the output.
  const listening = whileUnavailable(listen, over.signal).catch(() => undefined)
  return async () => {
    over.abort()
    await listening
    const rest = await store.ask('readOutput', given()).catch(() => undefined)
    for (const { mark, ...chunk } of rest?.chunks ?? []) hear(mark, chunk)
  }
}

/** The labels of a host, which people give it, and its mechanisms. */
export interface HostAbilities {
  readonly labels: readonly string[]
  readonly holds: readonly string[]
}

/** Why this host cannot run a tool. The database checks the same before it gives out a call. */
export const lackOf = (
  { needsLabels, needsBoundary }: Pick<RegisteredTool, 'needsLabels' | 'needsBoundary'>,
  { labels, holds }: HostAbilities,
): string | undefined => {
  const missing = [
    ...needsLabels.filter((label) => !labels.includes(label)).map((label) => `the label ${label}`),
    ...needsBoundary.filter((name) => !holds.includes(name)).map((name) => `the mechanism ${name}`),
  ]
  return missing.length === 0 ? undefined : `this host does not have ${missing.join(', ')}`
}
