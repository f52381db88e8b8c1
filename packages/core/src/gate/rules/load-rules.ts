// Rule files, and rules as people write them for the compiler.
import { fail } from '../../errors/index.js'
import {
  bindGlob,
  invalid,
  itemsOf,
  keyOf,
  mappingOf,
  oneOf,
  parsePathGlob,
  placeOf,
  readDocument,
  rootNode,
  sourceOf,
  nodeText,
} from '../../policy/index.js'
import type { PathPattern, Places, PolicyNode } from '../../policy/index.js'

import { MODES } from './modes.js'
import type { Mode } from './modes.js'
import { parseRule } from './parse-rule.js'
import type { Effect, Rule, RuleSource } from './rule.js'
import { checkExamples } from './rule-examples.js'

/** What only managed rules may do. */
export const LOCKS = ['allow_rules', 'hook_allows'] as const
export type Lock = (typeof LOCKS)[number]

/** One file, or one list, of rules. */
export interface RuleSet {
  readonly source: RuleSource
  /** The file, or the name of a list that is not from a file. */
  readonly name: string
  readonly rules: readonly Rule[]
  /** `allow_rules`: allows of other sources do not count. `hook_allows`: those of hooks do not. */
  readonly managedOnly: readonly Lock[]
  /** Undefined: all modes. */
  readonly permittedModes: readonly Mode[] | undefined
  /** Folders whose own rule files may allow. Those of other projects can only deny and ask. */
  readonly trustedProjects: readonly PathPattern[]
  /** False: its allows do not count, because the project is not trusted. */
  readonly isTrusted: boolean
}

export interface RuleFileContext {
  readonly source: RuleSource
  readonly places: Places
}

/** Reads a rule file in YAML or JSON. Errors name the file, the line and the key. */
export const loadRules = (text: string, fileName: string, context: RuleFileContext): RuleSet =>
  parseRuleSet({ ...readDocument(text, fileName), whole: 'the rules' }, fileName, context)

/** Reads rules from a value: `{ rules: [...] }`, or the list alone. */
export const parseRules = (value: unknown, name: string, context: RuleFileContext): RuleSet =>
  parseRuleSet(
    rootNode(Array.isArray(value) ? { rules: value } : value, () => name, 'the rules'),
    name,
    context,
  )

const parseRuleSet = (given: PolicyNode, name: string, { source, places }: RuleFileContext): RuleSet => {
  // The value of a file in which everything is a comment is null.
  const node = given.value === null ? { ...given, value: {} } : given
  if (Array.isArray(node.value))
    throw fail('policy-not-an-object', {
      source: sourceOf(node),
      where: node.whole,
      found: 'a list',
      hint: 'put "rules:" above the list, and indent it',
    })
  const {
    rules,
    managed_only: locks,
    modes,
    trusted_projects: trusted,
  } = mappingOf(node, ['rules', 'managed_only', 'modes', 'trusted_projects'])
  for (const reserved of [locks, modes]) {
    if (reserved !== undefined && source !== 'managed')
      throw invalid(
        reserved,
        'left out: only managed rules may lock anything',
        `${keyOf(reserved)} belongs in /etc/cordon/rules.yaml`,
      )
  }
  if (trusted !== undefined && !VOUCHING.includes(source))
    throw invalid(trusted, 'left out: a project cannot vouch for itself; put it into the rules of the user')
  return {
    source,
    name,
    rules: rules === undefined ? [] : parseList(rules, { source, places }),
    managedOnly: namesOf(locks, LOCKS) ?? [],
    permittedModes: namesOf(modes, MODES),
    trustedProjects:
      trusted === undefined ? [] : itemsOf(trusted, 'a list of folders').flatMap((item) => parseFolder(item, places)),
    isTrusted: true,
  }
}

const namesOf = <Name extends string>(
  node: PolicyNode | undefined,
  known: readonly Name[],
): readonly Name[] | undefined =>
  node && itemsOf(node, `a list of: ${known.join(', ')}`).map((item) => oneOf(item, known))

/** The sources that can trust a project. */
const VOUCHING: readonly RuleSource[] = ['managed', 'user', 'command_line']

const parseFolder = (node: PolicyNode, places: Places): readonly PathPattern[] => {
  const text = nodeText(node, 'a folder')
  // With a relative folder, every project could trust itself.
  if (!/^!?[/~]/.test(text)) throw invalid(node, 'a folder that begins with / or ~')
  return bindGlob(parsePathGlob(text, placeOf(node)), places)
}

const parseList = (node: PolicyNode, { source, places }: RuleFileContext): readonly Rule[] => {
  const ids = new Set<string>()
  return itemsOf(node, 'a list of rules').map((item, at) => {
    const { rule, examples } = parseRule(item, { source, places, number: at + 1 })
    if (ids.has(rule.id)) throw invalid(item, `a rule with an id of its own, and "${rule.id}" is already taken`)
    ids.add(rule.id)
    if (examples !== undefined) checkExamples(rule, examples, places)
    return rule
  })
}

/** One file of rules, or the same as a value. */
export interface RuleSetInput {
  readonly rules?: readonly RuleInput[]
  /** Only managed rules may have this, and `modes`. */
  readonly managed_only?: readonly Lock[]
  readonly modes?: readonly Mode[]
  readonly trusted_projects?: readonly string[]
}

type OneOrMore<Item> = Item | readonly Item[]

export interface RuleInput {
  readonly id?: string
  readonly effect: Effect
  /** Why the rule exists. Decisions and refusals repeat it. */
  readonly because: string
  readonly tool?: OneOrMore<string>
  readonly arguments?: Readonly<Record<string, OneOrMore<string | number | boolean | null>>>
  readonly paths?: OneOrMore<string> | { readonly read?: OneOrMore<string>; readonly write?: OneOrMore<string> }
  readonly hosts?: OneOrMore<string>
  readonly command?: OneOrMore<string>
  readonly destructive?: { readonly impact_scope: string; readonly rollback_advice: string }
  /** Tried when the rule is loaded. A text is a command of the rule's own tool. */
  readonly examples?: { readonly match?: readonly ExampleInput[]; readonly not_match?: readonly ExampleInput[] }
}

type ExampleInput = string | { readonly tool?: string; readonly input?: unknown }
