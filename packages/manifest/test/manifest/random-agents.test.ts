// Random small agents against the plain definition, which only knows sets of files and hosts.
import { expect, test } from 'vitest'

import type { ManifestAgent } from 'cordon/manifest'
import type { Exfiltration } from '@cordon/manifest'
import { exfiltrations } from '@cordon/manifest'
import { IS_MATRIX } from '../../../../test/turns.js'
import { agentOf, manifestWith, toolOf } from './agents.js'

const FILES = ['./a', './b/c', '~/d', '/srv/e']
const HOSTS = ['one.test', '*.two.test', '192.0.2.1']

interface Model {
  readonly name: string
  readonly agent: string
  readonly kind: 'function' | 'in-process'
  readonly asks: boolean
  readonly read: readonly string[]
  readonly write: readonly string[]
  readonly network: readonly string[]
  readonly environment: readonly string[]
}

interface World {
  readonly tools: readonly Model[]
  readonly tags: {
    readonly public: readonly string[]
    readonly trusted: readonly string[]
    readonly own: readonly string[]
  }
}

const AGENTS = ['one', 'two']

// --- the definition

const within = (some: readonly string[], known: readonly string[]) => some.every((each) => known.includes(each))
const readsOf = (tool: Model) => (tool.kind === 'in-process' ? FILES : [...tool.read, ...tool.write])
const isUnconfined = ({ kind }: Model) => kind === 'in-process'

const isPrivate = (tool: Model, { tags }: World) =>
  isUnconfined(tool) || tool.environment.length > 0 || !within(readsOf(tool), tags.public)
const isUntrusted = (tool: Model, { tags }: World) =>
  isUnconfined(tool) || !within([...readsOf(tool), ...tool.network], tags.trusted)

/** The open sinks among some tools. */
const sinksAmong = (tools: readonly Model[], { tags }: World): readonly Model[] => {
  const open = tools.filter(({ asks }) => !asks)
  let sinks = open.filter((tool) => isUnconfined(tool) || !within(tool.network, tags.own))
  for (;;) {
    const more = open.filter(
      (tool) => !sinks.includes(tool) && sinks.some((sink) => tool.write.some((file) => readsOf(sink).includes(file))),
    )
    if (more.length === 0) return sinks
    sinks = [...sinks, ...more]
  }
}

const hasPath = (tools: readonly Model[], agent: string, world: World): boolean => {
  const own = tools.filter((tool) => tool.agent === agent)
  return (
    own.some((tool) => isPrivate(tool, world)) &&
    own.some((tool) => isUntrusted(tool, world)) &&
    sinksAmong(tools, world).some((tool) => tool.agent === agent)
  )
}

const smallest = (agent: string, world: World): number => {
  const sizes = Array.from({ length: 2 ** world.tools.length }, (_, bits) =>
    world.tools.filter((_tool, at) => (bits & (1 << at)) !== 0),
  )
    .filter((tools) => hasPath(tools, agent, world))
    .map((tools) => tools.length)
  return Math.min(...sizes)
}

// --- single changes, by their costs

const RANKS = ['ask', 'isolate', 'remove', 'tag'] as const

const changing = (world: World, old: Model, changed: Partial<Model>): World => ({
  ...world,
  tools: world.tools.map((tool) => (tool === old ? { ...tool, ...changed } : tool)),
})
const tagging = (world: World, tag: keyof World['tags'], entry: string): World => ({
  ...world,
  tags: { ...world.tags, [tag]: [...world.tags[tag], entry] },
})
const without = (entries: readonly string[], entry: string) => entries.filter((each) => each !== entry)

const singleChanges = (agent: string, world: World): readonly { readonly kind: string; readonly world: World }[] => {
  const own = world.tools.filter((tool) => tool.agent === agent)
  return [
    ...own.map((tool) => ({ kind: 'ask', world: changing(world, tool, { asks: true }) })),
    ...own.map((tool) => ({ kind: 'isolate', world: changing(world, tool, { kind: 'function' }) })),
    ...own.flatMap((tool) =>
      (['read', 'write', 'network', 'environment'] as const).flatMap((section) =>
        tool[section].map((entry) => ({
          kind: 'remove',
          world: changing(world, tool, { [section]: without(tool[section], entry) }),
        })),
      ),
    ),
    ...FILES.flatMap((file) =>
      (['public', 'trusted'] as const).map((tag) => ({ kind: 'tag', world: tagging(world, tag, file) })),
    ),
    ...HOSTS.flatMap((host) =>
      (['own', 'trusted'] as const).map((tag) => ({ kind: 'tag', world: tagging(world, tag, host) })),
    ),
  ]
}

const withCut = ({ cut, agent }: Exfiltration, world: World): World => {
  const named = (name: string): Model => {
    const found = world.tools.find((tool) => tool.agent === agent && tool.name === name)
    if (found === undefined) throw new Error(`there is no ${name}`)
    return found
  }
  switch (cut.kind) {
    case 'ask':
      return cut.parts.reduce((changed, { name }) => {
        const tool = changed.tools.find((each) => each.agent === agent && each.name === name)
        return tool === undefined ? changed : changing(changed, tool, { asks: true })
      }, world)
    case 'isolate':
      return changing(world, named(cut.part.name), { kind: 'function' })
    case 'remove': {
      const tool = named(cut.part.name)
      const section = cut.section === 'credentials' ? 'environment' : cut.section
      return changing(world, tool, { [section]: without(tool[section], cut.entry) })
    }
    case 'tag':
      return tagging(world, cut.tag, cut.entry)
  }
}

// --- random worlds

const WORLDS = IS_MATRIX ? 500 : 200

const randomOf = (seed: number) => {
  let state = seed
  const next = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
  const some = (all: readonly string[], share: number) => all.filter(() => next() < share)
  return { next, some }
}

const worldOf = (seed: number): World => {
  const { next, some } = randomOf(seed)
  for (let skipped = 0; skipped < 5; skipped += 1) next()
  const tools = Array.from({ length: 2 + Math.floor(next() * 5) }, (_, at): Model => ({
    name: `tool${String(at)}`,
    agent: next() < 0.6 ? 'one' : 'two',
    kind: next() < 0.06 ? 'in-process' : 'function',
    asks: next() < 0.25,
    read: some(FILES, 0.2),
    write: some(FILES, 0.2),
    network: some(HOSTS, 0.2),
    environment: some(['TOKEN'], 0.1),
  }))
  return {
    tools,
    tags: { public: some(FILES, 0.5), trusted: [...some(FILES, 0.5), ...some(HOSTS, 0.4)], own: some(HOSTS, 0.4) },
  }
}

const agentIn = (world: World, name: string): ManifestAgent =>
  agentOf(
    name,
    world.tools
      .filter((tool) => tool.agent === name)
      .map(({ name: tool, kind, asks, read, write, network, environment }) =>
        toolOf(tool, { filesystem: { read, write }, network, environment }, { kind, approval: asks ? 'ask' : 'allow' }),
      ),
  )

test('on random worlds each agent with a path gets one finding, whose set is smallest and whose cut cuts', () => {
  const seen = new Map<string, number>()
  const count = (what: string) => seen.set(what, (seen.get(what) ?? 0) + 1)
  for (let seed = 1; seed <= WORLDS; seed += 1) {
    const world = worldOf(seed)
    const found = exfiltrations(
      manifestWith(
        AGENTS.map((name) => agentIn(world, name)),
        world.tags,
      ),
    )
    for (const agent of AGENTS) {
      const own = found.filter((each) => each.agent === agent)
      const expected = hasPath(world.tools, agent, world)
      expect(own.length, `seed ${String(seed)}, agent ${agent}`).toBe(expected ? 1 : 0)
      count(expected ? 'path' : 'none')
      const [finding] = own
      if (finding === undefined) continue
      const parts = world.tools.filter((tool) =>
        finding.path.parts.some((part) => part.name === tool.name && part.agent === tool.agent),
      )
      expect(hasPath(parts, agent, world), `seed ${String(seed)}: the set suffices`).toBe(true)
      expect(parts.length, `seed ${String(seed)}: the set is smallest`).toBe(smallest(agent, world))
      const after = withCut(finding, world)
      expect(hasPath(after.tools, agent, after), `seed ${String(seed)}: the cut cuts`).toBe(false)
      const isMany = finding.cut.kind === 'ask' && finding.cut.parts.length > 1
      const rank = isMany ? RANKS.length : RANKS.indexOf(finding.cut.kind)
      const cheaper = singleChanges(agent, world).filter(
        (change) =>
          RANKS.findIndex((kind) => kind === change.kind) < rank && !hasPath(change.world.tools, agent, change.world),
      )
      expect(
        cheaper.map(({ kind }) => kind),
        `seed ${String(seed)}: no cheaper single change cuts`,
      ).toEqual([])
      count(isMany ? 'ask several' : finding.cut.kind)
      count(`size ${String(parts.length)}`)
    }
  }
  // The worlds are of all kinds.
  for (const what of ['path', 'none', 'ask', 'ask several', 'isolate', 'remove', 'tag', 'size 1', 'size 2', 'size 3'])
    expect(seen.get(what), what).toBeGreaterThan(0)
})
