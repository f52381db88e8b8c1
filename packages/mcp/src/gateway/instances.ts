// The processes of the servers. Each server has a base, which answers everything but calls of tools with policies of
// their own. Those calls go to instances: further processes of the server, each in a cell of exactly one policy. An
// instance is started when a call first needs it, and ends when none came for a while. A fresh instance takes one call.
import type { CordonError } from 'cordon/errors'
import type { ServerInstance } from 'cordon/runtime'

import { fail } from '../errors/errors.js'
import { listAll } from './list-all.js'
import { openServerLink } from './server-link.js'
import type { ServerLink } from './server-link.js'
import type { ServerSource } from './server-run.js'
import { METHODS } from '../wire/era-2025.js'
import { fieldsOf, notificationOf, paramsOf, textField } from '../wire/messages.js'
import type { Fields, NotificationMessage, RequestMessage } from '../wire/messages.js'

/** Where the calls of a tool run. */
export type ToolCell =
  /** `server`: no tool of the server has another policy. */
  | { readonly kind: 'base'; readonly scope: 'policy' | 'server' }
  /** `key` names the policy: tools with equal policies share an instance. */
  | { readonly kind: 'own'; readonly key: string; readonly source: ServerSource; readonly isFresh: boolean }

/** A process that takes calls, until its taker gives it back. */
export interface TakenInstance {
  readonly link: ServerLink
  readonly scope: ServerInstance['scope']
  /** Whether it has a tool of this name, as its server calls it. */
  readonly hasTool: (name: string) => boolean
  readonly giveBack: () => void
}

export interface Instances {
  readonly take: (base: ServerLink, cell: ToolCell) => Promise<TakenInstance>
  /** Gets a fresh instance ready. */
  readonly prepare: (base: ServerLink, cell: ToolCell) => void
  readonly running: () => readonly ServerLink[]
  /** Remembers what a result refers to: its resources and its task are where they were made. */
  readonly remember: (taken: TakenInstance, result: Fields) => void
  /** That made the resource or the task which a request names. */
  readonly makerOf: (request: RequestMessage) => ServerLink | undefined
  readonly close: () => Promise<void>
}

export interface InstanceListener {
  readonly onMessage: (link: ServerLink, message: RequestMessage | NotificationMessage) => void
  readonly onTrouble: (error: CordonError) => void
  readonly onEnd: (link: ServerLink, error: CordonError) => void
  /** Holds what is not as it was consented to. Returns the names of the tools. */
  readonly compare: (link: ServerLink, tools: readonly unknown[]) => Promise<ReadonlySet<string>>
}

/** Beyond this the one that was used least recently ends, or a call waits. */
const MOST_OF_ONE_SERVER = 16
const IDLE_MS = 10 * 60_000
/** Things that instances made. The oldest is forgotten first. */
const MOST_REMEMBERED = 10_000

/** The rest of what a server tells unasked belongs to its base. */
const TOLD_BY_INSTANCES: ReadonlySet<string> = new Set([
  METHODS.cancelled,
  METHODS.progress,
  METHODS.logMessage,
  'notifications/elicitation/complete',
])

/** Requests for what a call has made. */
const OF_MADE: ReadonlySet<string> = new Set([METHODS.readResource, 'tasks/get', 'tasks/result', 'tasks/cancel'])

interface Started {
  readonly link: ServerLink
  readonly tools: ReadonlySet<string>
}

interface Instance {
  readonly base: ServerLink
  readonly started: Promise<Started>
  /** Undefined: it is not started yet. */
  opened: ServerLink | undefined
  calls: number
  idle: NodeJS.Timeout | undefined
}

export const createInstances = (listener: InstanceListener): Instances => {
  /** By their policy. */
  const shared = new Map<string, Instance>()
  /** Fresh ones that nobody has taken yet, by their policy. */
  const spare = new Map<string, Instance>()
  const all = new Set<Instance>()
  const madeBy = new Map<string, ServerLink>()
  let waiting: (() => void)[] = []
  let isClosing = false

  const wake = (): void => {
    const woken = waiting
    waiting = []
    for (const go of woken) go()
  }
  const end = async (instance: Instance): Promise<void> => {
    clearTimeout(instance.idle)
    all.delete(instance)
    for (const kept of [shared, spare]) for (const [key, each] of kept) if (each === instance) kept.delete(key)
    wake()
    await instance.opened?.close()
  }
  const siblingsOf = (base: ServerLink) => [...all].filter((each) => each.base === base)
  /** Ends what nobody uses until there is room for one more, or waits until something is given back. */
  const takeRoom = async (instance: Instance): Promise<void> => {
    for (;;) {
      const siblings = siblingsOf(instance.base)
      if (siblings.length < MOST_OF_ONE_SERVER) {
        all.add(instance)
        return
      }
      // A set keeps the order, and what is given back moves to its end.
      const unused = siblings.find(({ calls, opened }) => calls === 0 && opened !== undefined)
      if (unused !== undefined) await end(unused)
      else await new Promise<void>((resolve) => waiting.push(resolve))
    }
  }
  const open = (base: ServerLink, source: ServerSource): Instance => {
    let begin: (started: Promise<Started>) => void = () => undefined
    const started = new Promise<Started>((resolve) => {
      begin = resolve
    })
    const instance: Instance = { base, calls: 0, opened: undefined, idle: undefined, started }
    begin(takeRoom(instance).then(() => start(instance, source)))
    started.catch(() => end(instance))
    return instance
  }
  const start = async (instance: Instance, source: ServerSource): Promise<Started> => {
    const introduction = instance.base.introduction()
    if (introduction === undefined || isClosing)
      throw fail('mcp-server-ended', { server: source.name, how: 'it was not introduced to its client' })
    const link = openServerLink(source, {
      onTrouble: listener.onTrouble,
      onMessage: (from, message) => {
        if (message.kind === 'request' || TOLD_BY_INSTANCES.has(message.method)) listener.onMessage(from, message)
      },
      onEnd: (from, error) => {
        listener.onEnd(from, error)
        void end(instance)
      },
    })
    instance.opened = link
    const answer = await link.ask(introduction).answer
    if (answer.kind === 'lost') throw answer.error
    link.run().send(notificationOf(METHODS.initialized, {}))
    return { link, tools: await listener.compare(link, await listAll(link, METHODS.listTools)) }
  }
  const rest = (instance: Instance): void => {
    clearTimeout(instance.idle)
    instance.idle = setTimeout(() => void end(instance), IDLE_MS).unref()
  }
  const takeShared = async (key: string, base: ServerLink, source: ServerSource): Promise<TakenInstance> => {
    const instance = shared.get(key) ?? open(base, source)
    shared.set(key, instance)
    instance.calls += 1
    clearTimeout(instance.idle)
    const giveBack = (): void => {
      instance.calls -= 1
      if (!all.delete(instance)) return
      all.add(instance)
      if (instance.calls === 0) rest(instance)
      wake()
    }
    try {
      return { ...takenOf(await instance.started), scope: 'policy', giveBack }
    } catch (error) {
      giveBack()
      throw error
    }
  }
  const takeFresh = async (key: string, base: ServerLink, source: ServerSource): Promise<TakenInstance> => {
    const instance = spare.get(key) ?? open(base, source)
    spare.delete(key)
    instance.calls += 1
    const taken = takenOf(await instance.started)
    getSpare(key, base, source)
    return { ...taken, scope: 'call', giveBack: () => void end(instance) }
  }
  /** Only if there is room: no call waits for one that nobody has asked for. */
  const getSpare = (key: string, base: ServerLink, source: ServerSource): void => {
    if (!isClosing && !spare.has(key) && siblingsOf(base).length < MOST_OF_ONE_SERVER)
      spare.set(key, open(base, source))
  }
  return {
    take: async (base, cell) => {
      if (cell.kind === 'base') {
        await base.awaken()
        return { link: base, scope: cell.scope, hasTool: () => true, giveBack: () => undefined }
      }
      const key = `${base.name} ${cell.key}`
      return cell.isFresh ? takeFresh(key, base, cell.source) : takeShared(key, base, cell.source)
    },
    prepare: (base, cell) => {
      if (cell.kind === 'own' && cell.isFresh) getSpare(`${base.name} ${cell.key}`, base, cell.source)
    },
    running: () => [...all].flatMap(({ opened }) => (opened === undefined ? [] : [opened])),
    remember: ({ link, scope }, result) => {
      if (scope !== 'policy') return
      for (const name of namesMadeIn(result)) {
        const [oldest = ''] = madeBy.keys()
        if (madeBy.size >= MOST_REMEMBERED) madeBy.delete(oldest)
        madeBy.set(name, link)
      }
    },
    makerOf: (request) => {
      if (!OF_MADE.has(request.method)) return undefined
      const params = paramsOf(request)
      const link = [params['uri'], params['taskId']].map((name) => madeBy.get(textField(name))).find(isDefined)
      return link?.run().isEnded() === false ? link : undefined
    },
    close: async () => {
      isClosing = true
      await Promise.all([...all].map(end))
    },
  }
}

const takenOf = ({ link, tools }: Started): Pick<TakenInstance, 'link' | 'hasTool'> => ({
  link,
  hasTool: (name) => tools.has(name),
})

const isDefined = <Value>(value: Value | undefined): value is Value => value !== undefined

/** Links to resources in a result, and its task. */
const namesMadeIn = (result: Fields): readonly string[] => {
  const content = Array.isArray(result['content']) ? (result['content'] as readonly unknown[]) : []
  const links = content.map(fieldsOf).filter(({ type }) => type === 'resource_link')
  return [...links.map(({ uri }) => uri), fieldsOf(result['task'])['taskId']].flatMap((name) =>
    typeof name === 'string' && name.length <= 8_192 ? [name] : [],
  )
}
