import { coversHost, matches } from '../policy/index.js'

import type { CallPath } from './argument-gate.js'
import type { CallFacts, FoldedPath } from './call-facts.js'
import { isList, isMapping } from './canonical-json.js'
import { allowsCommand, forbidsCommand } from './command-pattern.js'
import { foldedMatches } from './folded-path.js'
import type { JsonValue } from './json-value.js'
import type { ArgumentCondition, HostCondition, PathCondition, Rule } from './rule.js'
import type { UrlTarget } from './url-spelling.js'

/**
 * Whether a rule speaks of a call. Strict in both directions: an allow must cover all that the call
 * names, each by its exact text; for a deny or an ask it is enough that any of it may be meant.
 */
export const ruleMatches = (rule: Rule, facts: CallFacts): boolean => {
  if (rule.tools.length > 0 && !rule.tools.some((pattern) => pattern.matches(facts.tool))) return false
  const isAllow = rule.effect === 'allow'
  if (!rule.arguments.every((condition) => argumentMatches(condition, facts.input, isAllow))) return false
  if (rule.paths.length > 0 && !(isAllow ? allowsPaths(rule.paths, facts.paths) : forbidsPaths(rule.paths, facts.folded))) return false
  if (rule.hosts.length > 0 && !(isAllow ? allowsUrls(rule.hosts, facts.urls) : forbidsUrls(rule.hosts, facts))) return false
  if (rule.commands.length === 0) return true
  if (isAllow) return facts.commands.length > 0 && facts.commands.every((command) => rule.commands.some((pattern) => allowsCommand(pattern, command)))
  return facts.commands.some((command) => rule.commands.some((pattern) => forbidsCommand(pattern, command)))
}

const allowsPaths = (conditions: readonly PathCondition[], paths: readonly CallPath[]): boolean =>
  paths.length > 0 && paths.every((path) => conditions.some((condition) => allowsPath(condition, path)))

const allowsPath = ({ access, patterns }: PathCondition, path: CallPath): boolean =>
  (access === 'any' || access === path.access) &&
  patterns.some((pattern) => !pattern.negated && matches(pattern, path.path)) &&
  !patterns.some((pattern) => pattern.negated && matches(pattern, path.path))

const forbidsPaths = (conditions: readonly PathCondition[], paths: readonly FoldedPath[]): boolean =>
  paths.some(({ names, access }) =>
    conditions.some(
      (condition) =>
        (condition.access === 'any' || access === 'any' || condition.access === access) &&
        condition.folded.some((pattern) => !pattern.isNegated && foldedMatches(pattern, names)) &&
        !condition.folded.some((pattern) => pattern.isNegated && foldedMatches(pattern, names)),
    ),
  )

const allowsUrls = (conditions: readonly HostCondition[], urls: readonly UrlTarget[]): boolean =>
  urls.length > 0 && urls.every((url) => conditions.some((condition) => hostFits(condition, url, [80, 443])))

const forbidsUrls = (conditions: readonly HostCondition[], { urls, suspectedUrls }: CallFacts): boolean =>
  [...urls, ...suspectedUrls].some((url) => conditions.some((condition) => hostFits(condition, url, 'all')))

/** A host without a port: the web's in an allow, all of them in a denial. */
const hostFits = ({ destination, port }: HostCondition, url: UrlTarget, unspecified: readonly number[] | 'all'): boolean => {
  if (destination !== undefined && !coversHost(destination, url.host)) return false
  if (port.kind === 'port') return port.port === url.port
  return unspecified === 'all' || unspecified.includes(url.port)
}

const argumentMatches = ({ keys, accepts }: ArgumentCondition, input: JsonValue, isAllow: boolean): boolean => {
  const values = valuesAt(input, keys).flatMap((value) => (isList(value) ? value : [value]))
  const isAccepted = (value: JsonValue) =>
    accepts.some((accept) => ('exactly' in accept ? accept.exactly === value : typeof value === 'string' && accept.matches(value)))
  return isAllow ? values.length > 0 && values.every(isAccepted) : values.some(isAccepted)
}

export const valuesAt = (value: JsonValue, keys: readonly string[]): readonly JsonValue[] => {
  const [key, ...rest] = keys
  if (key === undefined) return [value]
  if (isList(value)) {
    const items = key === '*' ? value : [value[Number(key)]].filter((item) => item !== undefined)
    return items.flatMap((item) => valuesAt(item, rest))
  }
  if (!isMapping(value)) return []
  if (key === '*') return Object.values(value).flatMap((child) => valuesAt(child, rest))
  return Object.hasOwn(value, key) ? valuesAt(value[key] ?? null, rest) : []
}
