// What the texts of two policies say about their files, wherever workspace and home are. Most changes need no more.
import type { Boundary, ToolKind, ToolPolicy } from '../model.js'
import { TOOL_KINDS, isSandboxedKind, itemsIn } from '../model.js'
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
  const [ofA, ofB] = [entriesOf(a.policy), entriesOf(b.policy)]
  const known = new Set([...ofB.read, ...ofB.write].map(({ text }) => text))
  const isNew = ({ text, negated }: Entry) => !negated && !known.has(text)
  const rest = { read: ofA.read.filter((each) => !isNew(each)), write: ofA.write.filter((each) => !isNew(each)) }
  return [
    ...[...ofA.write, ...ofA.read].filter(isNew).map(({ written }) => `grant ${written}`),
    ...(isPlainlyWithin(rest, ofB) ? [] : ['carve-outs']),
    ...execKeys(execOf(a.policy, a.kind), execOf(b.policy, b.kind)),
  ]
}

/** A grant or a carve-out. */
interface Entry {
  /** One text per meaning. */
  readonly text: string
  readonly written: string
  readonly negated: boolean
}

type Entries = Readonly<Record<'read' | 'write', readonly Entry[]>>

const entriesOf = ({ filesystem, presets }: ToolPolicy): Entries => {
  const entries = (access: 'read' | 'write') => [
    ...itemsIn(filesystem[access]).flatMap((glob) =>
      globTexts(glob).map((text) => ({ text, written: glob.text, negated: glob.negated })),
    ),
    ...presets.flatMap((name) =>
      PRESETS[name][access].map((text) => ({ text: `preset ${name} ${text}`, written: text, negated: false })),
    ),
  ]
  return { read: entries('read'), write: entries('write') }
}

/** Grants add up, and carve-outs take away. */
const isPlainlyWithin = (a: Entries, b: Entries): boolean =>
  (['read', 'write'] as const).every((access) => {
    const [ofA, ofB] = [a[access], b[access]]
    const has = (entries: readonly Entry[], { text }: Entry) => entries.some((each) => each.text === text)
    return ofA.every((one) => one.negated || has(ofB, one)) && ofB.every((one) => !one.negated || has(ofA, one))
  })

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
