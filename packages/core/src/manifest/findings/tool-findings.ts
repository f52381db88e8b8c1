// Findings about one tool: its grants, and how its calls are decided.
import { EFFECTS } from '../../gate/index.js'
import { RISKS, resolvePolicy, undeclaredSections } from '../../policy/index.js'
import { ROOT_PATH } from '../../policy/index.js'

import type { ManifestTool } from '../manifest.js'
import { NOTHING } from './compare-policies.js'
import type { PolicyReader } from './compare-policies.js'
import type { Finding, Owner } from './finding.js'
import { makeFinding } from './make-finding.js'
import { newlyCan } from './newly-can.js'
import { policyFindings } from './policy-findings.js'
import { programFindings } from './program-findings.js'
import type { Change } from './policy-findings.js'
import { named, say, words } from './sentence.js'
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
    sentence: say`${named(name)} is a new tool of the risk ${words(risk)}`,
    witnesses,
    more: witnesses.map((witness) => say`${named(name)}${newlyCan(witness)}`),
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
    before.name === after.name ? say`${named(after.name)}` : say`${named(after.name)} (before: ${named(before.name)})`
  return [
    ...heldFindings(change, context, subject),
    ...riskFindings(change, context.owner, subject),
    ...approvalFindings(change, context.owner, subject),
    ...versionFindings(change, context.owner, subject),
  ]
}

/** Those that a running tool is held to, whatever rules and modes say. */
export const heldFindings = (
  change: Change<HeldTool>,
  context: ToolContext,
  subject: Sentence = say`${named(change.after.name)}`,
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

const riskFindings = ({ before, after }: Change<ManifestTool>, owner: Owner, subject: Sentence): readonly Finding[] =>
  RISKS.indexOf(after.risk) <= RISKS.indexOf(before.risk)
    ? []
    : [
        makeFinding('tool.risk.increased', owner, {
          sentence: say`${subject} now has the risk ${words(after.risk)}, was ${words(before.risk)}`,
          change: [before.risk, after.risk],
        }),
      ]

const ANSWERS = {
  deny: 'denies its calls',
  ask: 'asks about its calls',
  allow: 'allows its calls without a question',
} as const

const approvalFindings = (
  { before, after }: Change<ManifestTool>,
  owner: Owner,
  subject: Sentence,
): readonly Finding[] =>
  EFFECTS.indexOf(after.approval) <= EFFECTS.indexOf(before.approval)
    ? []
    : [
        makeFinding('tool.approval.loosened', owner, {
          sentence: say`${subject}: Cordon now ${words(ANSWERS[after.approval])}, where it ${words(PAST[before.approval])}`,
          change: [before.approval, after.approval],
        }),
      ]

const PAST = { deny: 'denied them', ask: 'asked about them', allow: 'allowed them' } as const

const constraintFindings = (
  { before, after }: Change<HeldTool>,
  { owner, presentName }: ToolContext,
  subject: Sentence,
): readonly Finding[] => {
  const [past, present] = [before.constraints, after.constraints]
  const loosened = (sentence: Sentence, change: unknown) =>
    makeFinding('tool.constraint.loosened', owner, { sentence, change })
  const [bound, value] = [past.max_invocations, present.max_invocations]
  const dropped = past.only_after.map(presentName).filter((name) => !present.only_after.includes(name))
  return [
    ...(past.forbidden && !present.forbidden
      ? [loosened(say`${subject} was forbidden to models, and is not any more`, ['forbidden'])]
      : []),
    ...(bound !== undefined && (value === undefined || value > bound)
      ? [
          loosened(
            value === undefined
              ? say`${subject} may now run any number of times, was ${bound}`
              : say`${subject} may now run ${value} times, was ${bound}`,
            ['max_invocations', bound, value ?? null],
          ),
        ]
      : []),
    ...dropped.map((name) => loosened(say`${subject} no longer has to run after ${named(name)}`, ['only_after', name])),
  ]
}

/** An omitted section is no stance: the argument gate does not compare arguments with it. */
const gateFindings = (
  { before, after }: Change<HeldTool>,
  { owner, policies }: ToolContext,
  subject: Sentence,
): readonly Finding[] => {
  const unchecked = (sentence: Sentence, change: unknown) =>
    makeFinding('tool.constraint.loosened', owner, { sentence, change })
  if (before.argument_gate === 'enforced' && after.argument_gate === 'off')
    return [unchecked(say`Arguments of ${subject} are no longer compared with its policy`, ['argument_gate'])]
  // Only for these tools the argument gate is what narrows a call to its policy. All tools of a server share its cell.
  if (before.kind !== 'mcp' || after.kind !== 'mcp' || after.argument_gate === 'off') return []
  if (JSON.stringify(before.policy) === JSON.stringify(after.policy)) return []
  const omitted = ({ policy }: HeldTool) => {
    const { policy: read } = policies.read(policy)
    return undeclaredSections(read, resolvePolicy(read, { workspace: ROOT_PATH, home: ROOT_PATH, kind: 'mcp' }))
  }
  const past = omitted(before)
  return omitted(after)
    .filter((section) => !past.includes(section))
    .map((section) =>
      unchecked(say`Arguments of ${subject} are no longer compared with ${words(section)}`, ['stance', section]),
    )
}

const versionFindings = (
  { before, after }: Change<ManifestTool>,
  owner: Owner,
  subject: Sentence,
): readonly Finding[] => {
  const [past, present] = [before.registry_version, after.registry_version]
  return past === undefined || present === undefined || past === present
    ? []
    : [
        makeFinding('manifest.version.changed', owner, {
          sentence: say`${subject} is now version ${present} of the registry, was ${past}`,
          change: [past, present],
        }),
      ]
}
