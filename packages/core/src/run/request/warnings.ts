// Warnings before the command runs: options without effect are probably mistakes.

import { shellWord } from '../../platform/index.js'
import { renderDestination } from '../../policy/index.js'
import type { Boundary } from '../../policy/index.js'
import { unmatchedReads, unsetVariables } from '../../sandbox/index.js'

import type { CommandLine } from '../../line/caller.js'
import type { Arguments } from '../../line/arguments.js'
import { unusedPins } from '../../settings/egress-order.js'
import type { RunOrder } from './run-request.js'

export const warningsOf = (
  { given: { values }, environment, terminals }: CommandLine,
  { egress, image }: RunOrder,
  boundary: Boundary,
): readonly string[] => [
  ...unmatchedReads(boundary).map(
    (text) => `the read pattern ${shellWord(text)} matches nothing, so it grants nothing`,
  ),
  ...unsetVariables(boundary, environment).map(
    (name) =>
      (values.get('env')?.includes(name) === true
        ? `--env ${name}: this variable`
        : `the policy passes on ${name}, which`) +
      ` is not set, so the command does not get it; --env ${name}=VALUE sets it`,
  ),
  ...(image !== undefined && terminals.in
    ? ['a command in a container has no terminal, so its input is empty; pipe its input, or add < /dev/null']
    : []),
  ...localNames(boundary.network),
  ...(boundary.network.kind === 'hosts'
    ? unusedPins(egress.pins, boundary.network)
    : withoutEffect(values, boundary.network.kind)),
]

/** Options of the proxy, which such a command does not use. */
const withoutEffect = (values: Arguments['values'], network: 'all' | 'none'): readonly string[] => {
  const typed = ['resolve', 'upstream-ca'].filter((name) => values.has(name)).map((name) => `--${name}`)
  const granted = network === 'all' ? 'the whole network, without the proxy' : 'no host'
  return typed.length === 0 ? [] : [`${typed.join(' and ')}: the command is granted ${granted}, so this has no effect`]
}

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
