// What the texts of two policies say about their files, wherever workspace and home are. Most changes need no more.
import type { Boundary, Section, ToolKind, ToolPolicy } from '../model.js'
import { TOOL_KINDS, isSandboxedKind, itemsIn } from '../model.js'
import type { PathGlob } from '../glob/path-glob.js'
import { globTexts, programText } from '../resolve/canonical-policy.js'
import { PRESETS } from '../resolve/presets.js'

/** A policy, and the kind of the tool that has it. */
interface Side {
  readonly policy: ToolPolicy | Boundary
  readonly kind: ToolKind
}

/**
 * The keys of the checks that can find a witness: for each grant that only `a` has, and for the carve-outs if `b` has
 * one that `a` has not. After these, other places have nothing to add. `unknown`: the texts do not tell.
 */
export const plainDifference = (a: Side, b: Side): readonly string[] | 'unknown' => {
  if (!('filesystem' in a.policy) || !('filesystem' in b.policy)) return 'unknown'
  // In the agent's process an omitted section means everything.
  if (!isSandboxedKind(a.kind) || !isSandboxedKind(b.kind)) return 'unknown'
  const [ofA, ofB] = [grantsOf(a.policy), grantsOf(b.policy)]
  const known = new Set([...ofB.read, ...ofB.write].map(({ text }) => text))
  const isNew = ({ text }: Grant) => !known.has(text)
  const rest = {
    ...ofA,
    read: ofA.read.filter((each) => !isNew(each)),
    write: ofA.write.filter((each) => !isNew(each)),
  }
  return [
    ...[...ofA.write, ...ofA.read].filter(isNew).map(({ written }) => `grant ${written}`),
    ...(isPlainlyWithin(rest, ofB) ? [] : ['carve-outs']),
    ...execKeys(execOf(a.policy, a.kind), execOf(b.policy, b.kind)),
  ]
}

interface Grant {
  /** One text per meaning. */
  readonly text: string
  readonly written: string
}

interface Grants {
  readonly read: readonly Grant[]
  readonly write: readonly Grant[]
  readonly carvedRead: readonly string[]
  readonly carvedWrite: readonly string[]
}

const grantsOf = ({ filesystem, presets }: ToolPolicy): Grants => {
  const ofPresets = (access: 'read' | 'write') =>
    presets.flatMap((name) => PRESETS[name][access].map((text) => ({ text: `preset ${name} ${text}`, written: text })))
  return {
    read: [...grantsIn(filesystem.read), ...ofPresets('read')],
    write: [...grantsIn(filesystem.write), ...ofPresets('write')],
    carvedRead: carvedIn(filesystem.read),
    carvedWrite: carvedIn(filesystem.write),
  }
}

const grantsIn = (section: Section<PathGlob>): readonly Grant[] =>
  itemsIn(section)
    .filter(({ negated }) => !negated)
    .flatMap((glob) => globTexts(glob).map((text) => ({ text, written: glob.text })))

const carvedIn = (section: Section<PathGlob>): readonly string[] =>
  itemsIn(section)
    .filter(({ negated }) => negated)
    .flatMap(globTexts)

/** Grants add up, and carve-outs take away. */
const isPlainlyWithin = (a: Grants, b: Grants): boolean => {
  const has = (texts: readonly string[], of: readonly string[]) => texts.every((text) => of.includes(text))
  const textsOf = (grants: readonly Grant[]) => grants.map(({ text }) => text)
  return (
    has(textsOf(a.read), textsOf(b.read)) &&
    has(textsOf(a.write), textsOf(b.write)) &&
    has(b.carvedRead, a.carvedRead) &&
    has(b.carvedWrite, a.carvedWrite)
  )
}

type Exec = 'all' | 'none' | readonly string[]

const execOf = ({ exec }: ToolPolicy, kind: ToolKind): Exec => {
  if (exec.kind === 'unspecified') return TOOL_KINDS[kind].execByDefault
  return exec.kind === 'list' ? exec.items.map(programText) : exec.kind
}

/** A listed program can be read too. */
const execKeys = (a: Exec, b: Exec): readonly string[] => {
  if (a === 'none' || (a === 'all' && b === 'all')) return []
  if (a === 'all') return ['exec']
  const listed = Array.isArray(b) ? b : []
  return a.flatMap((program, at) =>
    listed.includes(program)
      ? []
      : [
          ...(b === 'all' ? [] : [`exec ${String(at)}`]),
          ...(program.includes('/') ? [`grant program ${String(at)}`] : []),
        ],
  )
}
