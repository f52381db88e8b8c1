// A runner: claims calls that are ready, runs them in cells, and completes them in the database.
//
//   queue ─▶ claim (the database decides) ─▶ the life of a call, as everywhere ─▶ complete, with the fence of the claim
//
// Beside it run the heartbeat with its lease, and upkeep: the tools that are served, and calls of lost runners.
import { randomBytes } from 'node:crypto'
import { bug, CordonError, messageOf } from 'cordon/errors'
import { mechanismsHere, openCordon, sourcesOf } from 'cordon/runtime'
import type { CordonOptions } from 'cordon/runtime'

import { fail } from '../errors/errors.js'
import { HEARTBEAT_MS, SILENT_MS, createLease, keepLease } from '../registry/index.js'
import {
  claimInvocations,
  findClaimed,
  hasQueue,
  maintainRegistry,
  listRunnableTools,
  openCredential,
  openPostgres,
  openQueue,
  orClose,
  resolveCredential,
  sendHeartbeat,
  watchChanges,
  watchInvocations,
} from '../store/index.js'
import type { Engine, Invocation } from '../store/index.js'
import { egressClassOf } from '../tools/egress-class.js'
import type { RunnerTool } from '../tools/tool-files.js'
import { claimedCalls, runClaimed } from './run-claimed.js'
import type { RunnerNews } from './run-claimed.js'
import { chooseServing, storedSecrets } from './serving.js'

export interface RunnerOptions {
  readonly url: string
  /** Each process adds an ending of its own. */
  readonly name: string
  readonly labels: readonly string[]
  /** The number of calls at the same time. */
  readonly concurrency: number
  readonly tools: readonly RunnerTool[]
  readonly runtime: Pick<
    CordonOptions,
    | 'workspace'
    | 'home'
    | 'environment'
    | 'audit'
    | 'egress'
    | 'ruleFiles'
    | 'manifest'
    | 'configFolder'
    | 'sandbox'
    | 'record'
    | 'ownFiles'
  >
  /** Opens credentials of the store (`store:TEAM/NAME`). */
  readonly sealingKey?: Buffer
  readonly heartbeatMs?: number
  /** After this long without a heartbeat a runner loses its calls. The same for all runners of a database. */
  readonly silentMs?: number
  /** How often it looks for registered tools and for calls of lost runners. */
  readonly upkeepMs?: number
  readonly tell?: (news: RunnerNews) => void
  /** Called at every heartbeat, with whether it claims calls: its lease is held, and it does not drain. */
  readonly tellHealth?: (isReady: boolean) => void
}

export interface Runner {
  /** Its name in the database. */
  readonly name: string
  /** Claims nothing new. Resolves when all calls have ended and are completed. */
  readonly drain: () => Promise<void>
  /** Ends all calls. */
  readonly cancel: () => void
}

const UPKEEP_MS = 5_000
const ANSWER_MS = 15_000
/** Longer than a claim takes: a younger claim may still be answered. */
const FORGOTTEN_MS = 5_000
const WATCH_MS = 10_000

export const startRunner = async (options: RunnerOptions): Promise<Runner> => {
  const { silentMs = SILENT_MS } = options
  const engine = openPostgres({
    url: options.url,
    connections: Math.min(options.concurrency + 2, 20),
    answerMs: Math.min(ANSWER_MS, silentMs / 2),
  })
  return orClose(engine, async () => {
    if (!(await hasQueue(engine))) throw fail('runner-queue-missing', { where: engine.where })
    return begin(options, engine, silentMs)
  })
}

/** Adds a fix to the store's refusal of a credential. */
const refusedCredential =
  (ref: string) =>
  (error: unknown): never => {
    if (!(error instanceof CordonError) || error.code !== 'store-refused') throw error
    throw fail(
      'credential-missing',
      {
        credential: ref,
        problem: error.message,
        fix:
          `register the tool with it: "credential": "${ref}" in the file of cordon team tools register; a runner is ` +
          'given it while it runs a call of such a tool',
      },
      error,
    )
  }

const begin = async (options: RunnerOptions, engine: Engine, silentMs: number): Promise<Runner> => {
  const { concurrency, labels, runtime, sealingKey, heartbeatMs = HEARTBEAT_MS, upkeepMs = UPKEEP_MS } = options
  const { tell = () => undefined, tellHealth = () => undefined } = options
  const name = `${options.name}/${randomBytes(4).toString('hex')}`
  const holds = await mechanismsHere(runtime.sandbox)
  const sources = sourcesOf(runtime.egress?.secrets ?? {})
  const known = options.tools.map((tool) => ({
    ...tool,
    egressClass: egressClassOf(tool.definition, runtime),
    stored: storedSecrets(tool, sources),
  }))
  const calls = claimedCalls()
  const stored = async (team: string, ref: string): Promise<Buffer> => {
    const sealed = await resolveCredential(engine, team, ref).catch(refusedCredential(ref))
    return openCredential(sealingKey ?? bug('a credential without a sealing key'), team, ref, sealed)
  }
  const cordon = await openCordon(
    {
      ...runtime,
      ...(sealingKey === undefined ? {} : { egress: { ...runtime.egress, stored } }),
      mode: 'default',
      tools: known.map(({ definition }) => definition),
    },
    () => calls,
  )
  const changes = watchChanges(engine, { askAgainMs: WATCH_MS, channels: ['tool_invocation'] })
  const watch = watchInvocations(changes)
  const running = new Map<string, { readonly ended: AbortController; readonly done: Promise<void> }>()
  const claiming = new Set<string>()
  const enough = new AbortController()
  let isDraining = false

  const run = (invocation: Invocation): Promise<void> => {
    const ended = new AbortController()
    const done = runClaimed({ engine, watch, calls, cordon, tell, enough: enough.signal }, invocation, ended).finally(
      () => running.delete(invocation.id),
    )
    running.set(invocation.id, { ended, done })
    return done
  }
  const endAll = (reason: CordonError): void => {
    for (const { ended } of running.values()) ended.abort(reason)
  }
  const ready = async (id: string): Promise<void> => {
    // The call stays in the queue for another runner.
    if (isDraining) throw new Error('this runner takes nothing any more')
    claiming.add(id)
    let claimed: Invocation | undefined
    try {
      ;[claimed] = await claimInvocations(engine, name, { id })
    } finally {
      claiming.delete(id)
    }
    // Undefined if it was cancelled, claimed by another, or paused. A paused call comes again.
    if (claimed !== undefined) await run(claimed)
  }

  const heartbeat = () =>
    sendHeartbeat(engine, {
      name,
      labels,
      holds,
      isDraining,
      leaseMs: silentMs,
      facts: { concurrency, running: running.size, tools: known.length },
    })
  const lease = createLease(heartbeat, silentMs)
  // The second attempt throws the error.
  if (!(await lease.renew())) await heartbeat()
  const queue = await openQueue({ url: options.url, concurrency, ready })
  const told = new Set<string>()
  const serve = async (): Promise<void> => {
    const { tasks, refused } = chooseServing(
      known,
      await listRunnableTools(
        engine,
        known.map(({ definition }) => definition.name),
      ),
      { labels, holds },
    )
    for (const each of refused) {
      if (told.has(JSON.stringify(each))) continue
      told.add(JSON.stringify(each))
      tell({ kind: 'left-to-others', ...each })
    }
    if (!told.has(tasks.join())) tell({ kind: 'serving', tasks: tasks.length })
    told.add(tasks.join())
    if (!isDraining) queue.serve(tasks)
  }
  /** Runs calls whose claim succeeded although its answer was lost. */
  const adopt = async (): Promise<void> => {
    for (const claimed of await findClaimed(engine, name, FORGOTTEN_MS))
      if (!running.has(claimed.id) && !claiming.has(claimed.id)) void run(claimed)
  }

  const beats = keepLease(lease, heartbeatMs, () => {
    if (running.size === 0) return
    tell({ kind: 'lost', calls: running.size })
    endAll(fail('runner-lost', { runner: name, seconds: Math.round(silentMs / 1_000) }))
  })
  const keepServing = async (): Promise<void> => {
    await serve()
    await adopt()
    await maintainRegistry(engine, silentMs)
  }
  const upkeep = setInterval(() => {
    keepServing().catch((error: unknown) => {
      tell({ kind: 'trouble', because: messageOf(error) })
    })
  }, upkeepMs)
  tell({ kind: 'ready', runner: name, holds })
  await serve()
  const reportHealth = (): void => {
    tellHealth(lease.isHeld() && !isDraining)
  }
  reportHealth()
  const reports = setInterval(reportHealth, heartbeatMs)

  let draining: Promise<void> | undefined
  const drain = async (): Promise<void> => {
    isDraining = true
    reportHealth()
    tell({ kind: 'draining', calls: running.size })
    clearInterval(upkeep)
    await lease.renew()
    await queue.close()
    await Promise.all(Array.from(running.values(), ({ done }) => done))
    clearInterval(beats)
    clearInterval(reports)
    await Promise.all([cordon.close(), changes.close()])
    await engine.close()
  }
  return {
    name,
    drain: () => (draining ??= drain()),
    cancel: () => {
      endAll(fail('cancelled', {}))
    },
  }
}
