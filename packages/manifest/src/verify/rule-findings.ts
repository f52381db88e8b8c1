// Findings about the rules of one agent. Their order, ids and reasons mean nothing.
import { canonicalJson, EFFECTS, parseTextPattern } from 'cordon/gate'
import type { JsonValue } from 'cordon/gate'

import type { Change, Finding, ManifestRule, Owner } from 'cordon/manifest'
import { makeFinding, namedPart, say, words } from 'cordon/manifest'
import { coversConditions } from './rule-coverage.js'
import type { Conditions } from './rule-coverage.js'

type Rules = readonly ManifestRule[]

/** `renamed`: the present names of tools that had other names. */
export const ruleFindings = (
  change: Change<Rules>,
  owner: Owner,
  renamed: ReadonlyMap<string, string>,
): readonly Finding[] => {
  const before = change.before.map((rule) => ({ ...rule, conditions: forRenamed(rule.conditions, renamed) }))
  return [
    ...before
      .filter((rule) => rule.effect !== 'allow' && !change.after.some((other) => replaces(other, rule)))
      .map((rule) => removed(rule, change.after, owner)),
    ...change.after
      .filter(
        (rule) => rule.effect === 'allow' && !before.some((other) => other.effect === 'allow' && covers(other, rule)),
      )
      .map((rule) => allowed(rule, owner)),
  ]
}

const covers = (outer: ManifestRule, inner: ManifestRule): boolean =>
  coversConditions(outer.conditions, inner.conditions)

const replaces = (present: ManifestRule, past: ManifestRule): boolean =>
  EFFECTS.indexOf(present.effect) <= EFFECTS.indexOf(past.effect) && covers(present, past)

const removed = (rule: ManifestRule, present: Rules, owner: Owner): Finding => {
  const same = present.find(({ id }) => id === rule.id)
  const source = same?.source ?? owner.source
  const conditions = canonicalJson(rule.conditions as JsonValue)
  return makeFinding(
    'rule.removed',
    { ...owner, ...(source === undefined ? {} : { source }) },
    {
      sentence:
        same === undefined
          ? say`The rule ${namedPart(rule.id)} no longer ${words(VERBS[rule.effect])} ${conditions}`
          : say`The rule ${namedPart(rule.id)} changed, and no rule ${words(VERBS[rule.effect])} all of ${conditions} any more`,
      // What is left of it, so that taking away more is another change.
      change: [rule.effect, rule.conditions, same === undefined ? null : [same.effect, same.conditions]],
    },
  )
}

const VERBS = { deny: 'denies', ask: 'asks about', allow: 'allows' } as const

const allowed = (rule: ManifestRule, owner: Owner): Finding =>
  makeFinding(
    'tool.approval.loosened',
    { ...owner, ...(rule.source === undefined ? {} : { source: rule.source }) },
    {
      sentence: say`The rule ${namedPart(rule.id)} now allows ${canonicalJson(rule.conditions as JsonValue)}`,
      change: ['rule', rule.conditions],
    },
  )

/** A rule about a tool has to follow its new name. */
const forRenamed = (conditions: Conditions, renamed: ReadonlyMap<string, string>): Conditions => {
  const { tool } = conditions
  if (tool === undefined || renamed.size === 0) return conditions
  const patterns = (Array.isArray(tool) ? tool : [tool]).filter((each) => typeof each === 'string')
  return {
    ...conditions,
    tool: patterns.flatMap((pattern) => {
      const { isLiteral, matches } = parseTextPattern(pattern)
      const names = [...renamed].filter(([old]) => matches(old)).map(([, present]) => present)
      return isLiteral && names.length > 0 ? names : [pattern, ...names]
    }),
  }
}
