// Warnings before the command runs: options without effect are probably mistakes.
import { renderDestination } from '../../policy/index.js'
import type { Boundary } from '../../policy/index.js'
import { unmatchedReads, unsetVariables } from '../../sandbox/index.js'

import type { Environment } from '../../line/command-line.js'
import { unusedPins } from '../../settings/egress-order.js'
import type { EgressOrder } from '../../settings/egress-order.js'
import { asWord } from '../../line/text/shell-word.js'

interface TypedWords {
  readonly env: readonly string[]
  /** Typed network options. */
  readonly way: readonly string[]
  /** `--resolve` */
  readonly pins: EgressOrder['pins']
  /** A terminal that the command does not get. */
  readonly withoutTerminal: boolean
}

export const warningsOf = (
  { env: typedVariables, way, pins, withoutTerminal }: TypedWords,
  boundary: Boundary,
  environment: Environment,
): readonly string[] => [
  ...unmatchedReads(boundary).map((text) => `the read pattern ${asWord(text)} matches nothing, so it grants nothing`),
  ...unsetVariables(boundary, environment).map(
    (name) =>
      `${typedVariables.includes(name) ? `--env ${name}: this variable` : `the policy passes on ${name}, which`} ` +
      `is not set, so the command does not get it; --env ${name}=VALUE sets it`,
  ),
  ...(withoutTerminal
    ? ['a command in a container has no terminal, so its input is empty; pipe its input, or add < /dev/null']
    : []),
  ...localNames(boundary.network),
  ...(way.length > 0 && boundary.network.kind !== 'hosts'
    ? [
        `${way.join(' and ')}: the command is granted ` +
          `${boundary.network.kind === 'all' ? 'the whole network, without the proxy' : 'no host'}, ` +
          'so this has no effect',
      ]
    : []),
  ...(boundary.network.kind === 'hosts' ? unusedPins(pins, boundary.network) : []),
]

/** In a cell localhost is the cell itself. */
const localNames = (network: Boundary['network']): readonly string[] =>
  (network.kind === 'hosts' ? network.entries : [])
    .filter(
      ({ action, destination }) => action !== 'deny' && destination.kind === 'host' && destination.host === 'localhost',
    )
    .map(
      (entry) =>
        `${renderDestination(entry)}: in a cell this name is the cell itself, where nobody listens; grant ` +
        'the address, and use it in the command: --net ' +
        renderDestination(entry).replace('localhost', '127.0.0.1'),
    )
