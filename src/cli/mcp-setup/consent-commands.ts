// `cordon mcp diff | trust`: what servers offer beyond what was consented to, and the consent to it.
import { homedir } from 'node:os'

import { fail } from '../../errors/index.js'
import type { JsonValue } from '../../gate/index.js'
import { consentTo, differenceOf, listConsents, warningsOf, writeConsent } from '../../mcp/index.js'
import type { KeptConsent } from '../../mcp/index.js'
import { didYouMean } from '../../policy/index.js'

import { usage } from '../arguments.js'
import type { CommandLine, Environment } from '../command-line.js'
import { consentFolderOf } from '../settings/own-folders.js'
import { STDOUT, paintFor, writeText } from '../text/console-text.js'
import type { Paint } from '../text/console-text.js'
import { visible, visibleWord } from '../text/visible-text.js'

/** One offer that waits for consent. */
interface Waiting {
  readonly server: string
  readonly offer: string
  readonly because: string
  readonly difference: readonly string[]
  readonly warnings: readonly string[]
}

export const diffCommand = ({ given: { switches, rest }, environment }: CommandLine): number => {
  const [, name, ...more] = rest
  if (more.length > 0) throw usage('diff takes one server', 'cordon mcp')
  const waiting = consentsHere(environment, name).flatMap((consent) => waitingOf(consent))
  show(waiting, switches.has('json'), paintFor(STDOUT, environment))
  return 0
}

/** Consents to exactly what was offered last. It says what that is. */
export const trustCommand = ({ given: { switches, rest }, environment }: CommandLine): number => {
  const [, name, ...offers] = rest
  if (name === undefined) throw usage('trust takes a server', 'cordon mcp', 'see which there are: cordon mcp diff')
  const [consent] = consentsHere(environment, name)
  if (consent === undefined) return 0
  const keys = offers.length === 0 ? Object.keys(consent.held) : offers.map((offer) => keyNamed(offer, consent))
  const { kinds, pins, held } = consentTo(consent, keys)
  show(waitingOf(consent, keys), switches.has('json'), paintFor(STDOUT, environment))
  if (keys.length === 0) return 0
  writeConsent(folderOf(environment), consent, { kinds, pins, held })
  if (!switches.has('json')) print(`Consented to ${keys.map(visibleWord).join(', ')} of ${visible(name)}.`)
  return 0
}

const folderOf = (environment: Environment): string => {
  const { HOME: own } = environment
  return consentFolderOf(environment, own?.startsWith('/') === true ? own : homedir())
}

/** The servers of this folder, or the one that is named. */
const consentsHere = (environment: Environment, name: string | undefined): readonly KeptConsent[] => {
  const here = listConsents(folderOf(environment)).filter(({ workspace }) => workspace === process.cwd())
  const found = here.filter(({ server }) => name === undefined || server === name)
  if (found.length > 0 || name === undefined) return found
  const known = here.map(({ server }) => server)
  throw fail('usage-error', {
    problem: `no server "${visible(name)}" was started in this folder`,
    fix:
      didYouMean(name, known) ??
      (known.length === 0 ? 'change to the folder where it is started' : `there are: ${known.join(', ')}`),
  })
}

/** `tool read_file`, or `read_file` if that names one offer. */
const keyNamed = (offer: string, { held }: KeptConsent): string => {
  const keys = Object.keys(held)
  const named = keys.filter((key) => key === offer || key.slice(key.indexOf(' ') + 1) === offer)
  return named.length === 1 ? (named[0] ?? offer) : offer
}

const waitingOf = (consent: KeptConsent, keys = Object.keys(consent.held)): readonly Waiting[] =>
  keys.flatMap((key) => {
    const { offered, because } = consent.held[key] ?? {}
    if (offered === undefined || because === undefined) return []
    const value = JSON.parse(offered) as JsonValue
    const pinned = consent.pins[key]
    return [
      {
        server: consent.server,
        offer: key,
        because,
        difference: differenceOf(pinned === undefined ? {} : (JSON.parse(pinned) as JsonValue), value),
        warnings: warningsOf(value).map(({ problem }) => problem),
      },
    ]
  })

const show = (waiting: readonly Waiting[], isJson: boolean, paint: Paint): void => {
  if (isJson) {
    print(JSON.stringify(waiting, undefined, 2))
    return
  }
  if (waiting.length === 0) print('Nothing waits for consent.')
  for (const { server, offer, because, difference, warnings } of waiting) {
    print(`${paint('bold', `${visible(server)}: ${visible(offer)}`)}, held because ${visible(because)}`)
    for (const warning of warnings) print(paint('yellow', `  warning: it ${visible(warning)}`))
    for (const line of difference) print(paint(line.startsWith('+') ? 'green' : 'red', `  ${visible(line)}`))
  }
}

const print = (line: string): void => {
  writeText(STDOUT, `${line}\n`)
}
