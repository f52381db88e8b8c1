// Findings about one tool: its grants, and how its calls are decided.
import { EFFECTS } from '../../gate/index.js'
import { RISKS, ROOT_PATH, resolvePolicy, undeclaredSections } from '../../policy/index.js'

import type { ManifestTool } from '../manifest.js'
import { NOTHING } from './compare-policies.js'
import type { PolicyReader } from './compare-policies.js'
import type { Finding, Owner } from './finding.js'
import { makeFinding } from './finding.js'
import { newlyCan, policyFindings } from './policy-findings.js'
import type { Change } from './policy-findings.js'
import { namedPart, say, words } from './sentence.js'
import type { Sentence } from './sentence.js'

interface ToolContext {
  readonly owner: Owner
  readonly policies: PolicyReader
  /** The present name of a tool that had this name. */
  readonly presentName: (name: string) => string
}

const HIGH: ReadonlySet<string> = new Set(['high', 'critical', 'unknown'])

export const toolAdded = (tool: ManifestTool, { owner, policies }: Omit<ToolContext, 'presentName'>): Finding => {
  const { name, kind, policy, risk } = tool
  const witnesses = policies.beyond({ kind, policy }, { kind, policy: NOTHING })
  return makeFinding(HIGH.has(risk) ? 'tool.added.high-risk' : 'tool.added', owner, {
    sentence: say`${namedPart(name)} is a new tool of the risk ${words(risk)}`,
    witnesses,
    more: witnesses.map((witness) => say`${namedPart(name)}${newlyCan(witness)}`),
    change: rightsOf(tool, policies),
  })
}

/** Everything about a tool that decides what it may do. Not its code, and not where it is written. */
export const rightsOf = (tool: ManifestTool, policies: PolicyReader): readonly unknown[] => {
  const { kind, container = null, command = null, risk, egress_class, constraints, approval, argument_gate } = tool
  const what = [kind, container, command, tool.cwd ?? null]
  return [what, policies.read(tool.policy).text, risk, egress_class, constraints, approval, argument_gate]
}

export const toolFindings = (change: Change<ManifestTool>, context: ToolContext): readonly Finding[] => {
  const { before, after } = change
  const subject =
    before.name === after.name
      ? say`${namedPart(after.name)}`
      : say`${namedPart(after.name)} (before: ${namedPart(before.name)})`
  return [...boundaryFindings(change, context, subject), ...decisionFindings(change, context.owner, subject)]
}

/** Those that a running tool is held to, whatever rules and modes say. */
export const boundaryFindings = (
  change: Change<HeldTool>,
  context: ToolContext,
  subject: Sentence = say`${namedPart(change.after.name)}`,
): readonly Finding[] => [
  ...policyFindings(change, context.owner, subject, context.policies),
  ...programFindings(change, context.owner, subject),
  ...constraintFindings(change, context, subject),
  ...gateFindings(change, context, subject),
]

export type HeldTool = Pick<
  ManifestTool,
  'name' | 'kind' | 'container' | 'command' | 'policy' | 'constraints' | 'argument_gate'
>

function* decisionFindings(
  { before, after }: Change<ManifestTool>,
  owner: Owner,
  subject: Sentence,
): Generator<Finding> {
  if (RISKS.indexOf(after.risk) > RISKS.indexOf(before.risk))
    yield makeFinding('tool.risk.increased', owner, {
      sentence: say`${subject} now has the risk ${words(after.risk)}, was ${words(before.risk)}`,
      change: [before.risk, after.risk],
    })
  if (EFFECTS.indexOf(after.approval) > EFFECTS.indexOf(before.approval))
    yield makeFinding('tool.approval.loosened', owner, {
      sentence: say`${subject}: Cordon now ${words(ANSWERS[after.approval])}, where it ${words(PAST[before.approval])}`,
      change: [before.approval, after.approval],
    })
  const [past, present] = [before.registry_version, after.registry_version]
  if (past !== undefined && present !== undefined && past !== present)
    yield makeFinding('manifest.version.changed', owner, {
      sentence: say`${subject} is now version ${present} of the registry, was ${past}`,
      change: [past, present],
    })
}

const ANSWERS = {
  deny: 'denies its calls',
  ask: 'asks about its calls',
  allow: 'allows its calls without a question',
} as const
const PAST = { deny: 'denied them', ask: 'asked about them', allow: 'allowed them' } as const

/** What a tool runs: the image and the runtime of its container, and its command line. */
function* programFindings({ before, after }: Change<HeldTool>, owner: Owner, subject: Sentence): Generator<Finding> {
  const changed = (sentence: Sentence, change: readonly unknown[]) =>
    makeFinding('tool.program.changed', owner, { sentence, change })
  const [past, present] = [before.container, after.container]
  const [imageBefore, imageNow] = [imageText(past), imageText(present)]
  if (!isSameImage(past, present))
    yield changed(say`${subject} now runs in ${imageNow}, was ${imageBefore}`, ['image', imageBefore, imageNow])
  const [runtimeBefore, runtimeNow] = [past?.runtime ?? DEFAULT_RUNTIME, present?.runtime ?? DEFAULT_RUNTIME]
  if (past !== undefined && present !== undefined && runtimeBefore !== runtimeNow) {
    const sentence = say`The OCI runtime of ${subject} is now ${runtimeNow}, was ${runtimeBefore}`
    yield changed(sentence, ['runtime', runtimeBefore, runtimeNow])
  }
  const [line, lineNow] = [before.command, after.command]
  // A command line that was not known before may have been this one.
  if (line !== undefined && JSON.stringify(line) !== JSON.stringify(lineNow)) {
    const sentence = say`The command line of ${subject} is now ${commandText(lineNow)}, was ${commandText(line)}`
    yield changed(sentence, ['command', line, lineNow ?? null])
  }
}

type Container = ManifestTool['container']

const DEFAULT_RUNTIME = 'that of the engine'

/** A digest that is new only says more exactly which image it is. */
const isSameImage = (past: Container, present: Container): boolean =>
  past?.image === present?.image && (past?.digest ?? present?.digest) === present?.digest

const imageText = (container: Container): string => {
  if (container === undefined) return 'no container'
  return `the container image ${container.image}${container.digest === null ? '' : `@${container.digest}`}`
}

const commandText = (command: ManifestTool['command']): Sentence =>
  command === undefined
    ? words('computed by its code')
    : say`${command.map((word) => (word === null ? '…' : wordText(word))).join(' ')}`

/** A word as a person reads it in a line. */
export const wordText = (word: string): string => (/^[^\s"]+$/.test(word) ? word : JSON.stringify(word))

function* constraintFindings(
  { before, after }: Change<HeldTool>,
  { owner, presentName }: ToolContext,
  subject: Sentence,
): Generator<Finding> {
  const [past, present] = [before.constraints, after.constraints]
  if (past.forbidden && !present.forbidden)
    yield loosenedConstraint(owner, say`${subject} was forbidden to models, and is not any more`, ['forbidden'])
  const [bound, value] = [past.max_invocations, present.max_invocations]
  if (bound !== undefined && (value === undefined || value > bound)) {
    const sentence =
      value === undefined
        ? say`${subject} may now run any number of times, was ${bound}`
        : say`${subject} may now run ${value} times, was ${bound}`
    yield loosenedConstraint(owner, sentence, ['max_invocations', bound, value ?? null])
  }
  for (const name of past.only_after.map(presentName).filter((each) => !present.only_after.includes(each)))
    yield loosenedConstraint(owner, say`${subject} no longer has to run after ${namedPart(name)}`, ['only_after', name])
}

export const loosenedConstraint = (owner: Owner, sentence: Sentence, change: readonly unknown[]): Finding =>
  makeFinding('tool.constraint.loosened', owner, { sentence, change })

/** An omitted section is no stance: the argument gate does not compare arguments with it. */
function* gateFindings(
  { before, after }: Change<HeldTool>,
  { owner, policies }: ToolContext,
  subject: Sentence,
): Generator<Finding> {
  if (before.argument_gate === 'enforced' && after.argument_gate === 'off') {
    yield loosenedConstraint(owner, say`Arguments of ${subject} are no longer compared with its policy`, [
      'argument_gate',
    ])
    return
  }
  // For tools of remote servers the argument gate is all that narrows a call to its policy.
  if (before.kind !== 'mcp' || after.kind !== 'mcp' || after.argument_gate === 'off') return
  if (JSON.stringify(before.policy) === JSON.stringify(after.policy)) return
  const omitted = ({ policy }: HeldTool) => {
    const { policy: read } = policies.read(policy)
    return undeclaredSections(read, resolvePolicy(read, { workspace: ROOT_PATH, home: ROOT_PATH, kind: 'mcp' }))
  }
  const past = omitted(before)
  for (const section of omitted(after).filter((each) => !past.includes(each))) {
    const sentence = say`Arguments of ${subject} are no longer compared with ${words(section)}`
    yield loosenedConstraint(owner, sentence, ['stance', section])
  }
}
