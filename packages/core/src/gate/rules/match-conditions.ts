// Matches conditions with a call. An allow must cover everything that the call names, by exact text. A deny or an ask
// must possibly mean one part of it.
import { coversHost, isCovered, isWebPort } from '../../policy/index.js'
import { isMapping } from '../../shapes/index.js'

import type { CallPath } from '../arguments/argument-gate.js'
import type { RuleFacts } from '../call-facts.js'
import { isList } from '../input/canonical-json.js'
import { allowsCommand, forbidsCommand } from '../commands/command-pattern.js'
import type { CommandPattern } from '../commands/command-pattern.js'
import { foldedMatches } from '../arguments/folded-path.js'
import type { JsonValue } from '../input/json-value.js'
import type { ArgumentCondition, HostCondition, PathCondition } from './rule.js'
import type { TextPattern } from '../commands/text-pattern.js'
import type { UrlTarget } from '../arguments/url-spelling.js'

export const namesTool = (patterns: readonly TextPattern[], { tool }: RuleFacts): boolean =>
  patterns.some((pattern) => pattern.matches(tool))

export const allowsCommands = (patterns: readonly CommandPattern[], { commands }: RuleFacts): boolean =>
  commands.length > 0 && commands.every((command) => patterns.some((pattern) => allowsCommand(pattern, command)))

export const forbidsCommands = (patterns: readonly CommandPattern[], { commands }: RuleFacts): boolean =>
  commands.some((command) => patterns.some((pattern) => forbidsCommand(pattern, command)))

export const allowsArguments = (conditions: readonly ArgumentCondition[], { input }: RuleFacts): boolean =>
  conditions.every(({ keys, accepts }) => {
    const values = itemsAt(input, keys)
    return values.length > 0 && values.every((value) => isAccepted(accepts, value))
  })

export const forbidsArguments = (conditions: readonly ArgumentCondition[], { input }: RuleFacts): boolean =>
  conditions.every(({ keys, accepts }) => itemsAt(input, keys).some((value) => isAccepted(accepts, value)))

export const allowsPaths = (conditions: readonly PathCondition[], { paths }: RuleFacts): boolean =>
  paths.length > 0 && paths.every((path) => conditions.some((condition) => allowsPath(condition, path)))

const allowsPath = ({ access, patterns }: PathCondition, path: CallPath): boolean =>
  (access === 'any' || access === path.access) && isCovered(patterns, path.path)

export const forbidsPaths = (conditions: readonly PathCondition[], { folded }: RuleFacts): boolean =>
  folded.some(({ names, access }) =>
    conditions.some(
      (condition) =>
        (condition.access === 'any' || access === 'any' || condition.access === access) &&
        condition.folded.some((pattern) => !pattern.isNegated && foldedMatches(pattern, names)) &&
        !condition.folded.some((pattern) => pattern.isNegated && foldedMatches(pattern, names)),
    ),
  )

export const allowsUrls = (conditions: readonly HostCondition[], { urls }: RuleFacts): boolean =>
  urls.length > 0 && urls.every((url) => conditions.some((condition) => hostFits(condition, url, isWebPort)))

export const forbidsUrls = (conditions: readonly HostCondition[], { urls, suspectedUrls }: RuleFacts): boolean =>
  [...urls, ...suspectedUrls].some((url) => conditions.some((condition) => hostFits(condition, url, () => true)))

/** A host without a port means the ports of the web in an allow, and all ports in a denial. */
const hostFits = (
  { destination, port }: HostCondition,
  url: UrlTarget,
  isDefaultPort: (port: number) => boolean,
): boolean =>
  (destination === undefined || coversHost(destination, url.host)) &&
  (port.kind === 'port' ? port.port === url.port : isDefaultPort(url.port))

const isAccepted = (accepts: ArgumentCondition['accepts'], value: JsonValue): boolean =>
  accepts.some((accept) =>
    'exactly' in accept ? accept.exactly === value : typeof value === 'string' && accept.matches(value),
  )

/** The values at some keys. Of a list, its items. */
export const itemsAt = (value: JsonValue, keys: readonly string[]): readonly JsonValue[] =>
  valuesAt(value, keys).flatMap((found) => (isList(found) ? found : [found]))

const valuesAt = (value: JsonValue, keys: readonly string[]): readonly JsonValue[] => {
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
