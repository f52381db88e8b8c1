// Grants that grant nothing: said before the command runs, because they are most likely slips.
import { renderDestination } from '../../policy/index.js'
import type { Boundary } from '../../policy/index.js'
import { unmatchedReads } from '../../sandbox/index.js'

import { unusedPins } from '../settings/egress-order.js'
import type { EgressOrder } from '../settings/egress-order.js'
import { asWord } from '../text/shell-word.js'

export interface TypedWords {
  readonly env: readonly string[]
  /** Options about the way to granted hosts. */
  readonly way: readonly string[]
  /** `--resolve` */
  readonly pins: EgressOrder['pins']
}

export const warningsOf = (
  { env: typedVariables, way, pins }: TypedWords,
  boundary: Boundary,
  environment: Readonly<Record<string, string | undefined>>,
): readonly string[] => [
  ...unmatchedReads(boundary).map(
    (text) => `the read pattern ${asWord(text)} matches nothing here, and so grants nothing`,
  ),
  ...typedVariables
    .filter((word) => !word.includes('=') && environment[word] === undefined)
    .map(
      (name) => `--env ${name}: there is no such variable here, so the command gets none; --env ${name}=VALUE sets it`,
    ),
  ...localNames(boundary.network),
  ...(way.length > 0 && boundary.network.kind !== 'hosts'
    ? [
        `${way.join(' and ')}: the command is granted ` +
          `${boundary.network.kind === 'all' ? 'the whole network, which the proxy is not on the way of' : 'no host'}, ` +
          'so that this has no effect',
      ]
    : []),
  ...(boundary.network.kind === 'hosts' ? unusedPins(pins, boundary.network) : []),
]

/** What leads to the host by another name is the command itself in its cell. */
const localNames = (network: Boundary['network']): readonly string[] =>
  (network.kind === 'hosts' ? network.entries : [])
    .filter(
      ({ action, destination }) => action !== 'deny' && destination.kind === 'host' && destination.host === 'localhost',
    )
    .map(
      (entry) =>
        `${renderDestination(entry)}: in a cell that name is the cell itself, where nobody listens; grant ` +
        'the address, and use it in the command: --net ' +
        renderDestination(entry).replace('localhost', '127.0.0.1'),
    )
