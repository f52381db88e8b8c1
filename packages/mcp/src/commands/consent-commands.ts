// `cordon mcp diff | trust`: what servers offer beyond what was consented to, and the consent to it.
import { STDOUT, consentFolderOf, homeOf, paintFor, usage, visible, visibleWord } from 'cordon/commands'
import type { CommandLine, Environment } from 'cordon/commands'

import { consentToShown, waitingOffers } from '../servers/waiting-offers.js'
import { print, printJson } from './print.js'

export const diffCommand = ({ given: { switches, rest }, environment }: CommandLine): number => {
  const [, name, ...more] = rest
  if (more.length > 0) throw usage('diff takes one server', 'cordon mcp')
  const waiting = waitingOffers(folderOf(environment), process.cwd(), name)
  if (switches.has('json')) {
    printJson(waiting)
    return 0
  }
  const paint = paintFor(STDOUT, environment)
  if (waiting.length === 0) print(NOTHING)
  for (const { server, offer, because, difference, warnings, accept } of waiting) {
    print(`${paint('bold', `${visible(server)}: ${visible(offer)}`)}, held because ${visible(because)}`)
    for (const warning of warnings) print(paint('yellow', `  warning: it ${visible(warning)}`))
    for (const line of difference) print(paint(line.startsWith('+') ? 'green' : 'red', `  ${visible(line)}`))
    if (accept !== null) print(`  ${ACCEPTING} ${visible(accept)}`)
  }
  const marks = new Map(waiting.map(({ server, seen }) => [server, seen]))
  for (const [server, seen] of marks) print(`To consent: cordon mcp trust ${visibleWord(server)} --seen ${seen}`)
  return 0
}

export const trustCommand = ({ given: { switches, values, rest }, environment }: CommandLine): number => {
  const [, server, ...offers] = rest
  if (server === undefined) throw usage('trust takes a server', 'cordon mcp', 'see which there are: cordon mcp diff')
  const shown = { server, offers, seen: values.get('seen')?.[0] }
  const { consented, waiting } = consentToShown(folderOf(environment), process.cwd(), shown)
  if (switches.has('json')) {
    printJson({ server, consented })
    return 0
  }
  print(
    consented.length === 0 ? NOTHING : `Consented to ${consented.map(visibleWord).join(', ')} of ${visible(server)}.`,
  )
  for (const { offer, accept } of waiting)
    if (accept !== null) print(`${visible(offer)}: ${ACCEPTING} ${visible(accept)}`)
  return 0
}

const folderOf = (environment: Environment): string => consentFolderOf(environment, homeOf(environment))

/** Consent lets the model read the tool. It gives the tool no right. */
const ACCEPTING = 'It proposes a policy, which grants nothing by itself. To accept it, add to mcp.yaml:'

const NOTHING = 'Nothing waits for consent.'
