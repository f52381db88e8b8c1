// `cordon mcp diff | trust`: what servers offer beyond what was consented to, and the consent to it.
import { hashOf } from 'cordon/gate'
import type { JsonValue } from 'cordon/gate'
import { didYouMean } from 'cordon/policy'
import { consentFolderOf, homeOf, paintFor, STDOUT, usage, visible, visibleWord, writeText } from 'cordon/commands'
import type { CommandLine, Environment, Paint } from 'cordon/commands'

import { fail } from '../errors/errors.js'
import { consentTo, differenceOf, listConsents, warningsOf, writeConsent } from '../consent/index.js'
import type { KeptConsent } from '../consent/index.js'
import { acceptingLineOf } from '../servers/accept-proposal.js'

/** One offer that waits for consent. */
interface Waiting {
  readonly server: string
  readonly offer: string
  readonly because: string
  readonly difference: readonly string[]
  readonly warnings: readonly string[]
  /** The line of mcp.yaml that accepts the policy which it proposes. */
  readonly accept: string | null
  /** For `trust --seen`. */
  readonly seen: string
}

export const diffCommand = ({ given: { switches, rest }, environment }: CommandLine): number => {
  const [, name, ...more] = rest
  if (more.length > 0) throw usage('diff takes one server', 'cordon mcp')
  const waiting = consentsHere(environment, name).flatMap((consent) => waitingOf(consent))
  show(waiting, switches.has('json'), paintFor(STDOUT, environment))
  return 0
}

/** Consents to what `diff` showed, which `--seen` names. A server may have changed its offers since. */
export const trustCommand = ({ given: { switches, values, rest }, environment }: CommandLine): number => {
  const [, name, ...offers] = rest
  if (name === undefined) throw usage('trust takes a server', 'cordon mcp', 'see which there are: cordon mcp diff')
  const [consent] = consentsHere(environment, name)
  if (consent === undefined) return 0
  const keys = offers.length === 0 ? Object.keys(consent.held) : offers.map((offer) => keyNamed(offer, consent))
  const next = consentTo(consent, keys)
  const seen = values.get('seen')?.[0]
  if (keys.length > 0 && seen !== markOf(consent))
    throw fail('consent-unseen', { server: name, problem: seen === undefined ? 'without --seen' : 'to something else' })
  if (keys.length > 0) writeConsent(folderOf(environment), consent, next)
  if (switches.has('json')) print(JSON.stringify({ server: name, consented: keys }, undefined, 2))
  else print(keys.length === 0 ? NOTHING : `Consented to ${keys.map(visibleWord).join(', ')} of ${visible(name)}.`)
  if (!switches.has('json'))
    for (const { offer, accept } of waitingOf(consent))
      if (accept !== null && keys.includes(offer)) print(`${visible(offer)}: ${ACCEPTING} ${visible(accept)}`)
  return 0
}

/** Stands for everything of a server that waits. */
const markOf = ({ held }: KeptConsent): string =>
  hashOf(Object.entries(held).map(([key, { offered }]) => [key, offered])).slice(
    'sha256:'.length,
    'sha256:'.length + 12,
  )

const folderOf = (environment: Environment): string => consentFolderOf(environment, homeOf(environment))

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

const waitingOf = (consent: KeptConsent): readonly Waiting[] =>
  Object.keys(consent.held).flatMap((key) => {
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
        accept: acceptingLineOf(consent.server, value) ?? null,
        seen: markOf(consent),
      },
    ]
  })

const show = (waiting: readonly Waiting[], isJson: boolean, paint: Paint): void => {
  if (isJson) {
    print(JSON.stringify(waiting, undefined, 2))
    return
  }
  if (waiting.length === 0) print(NOTHING)
  for (const { server, offer, because, difference, warnings, accept } of waiting) {
    print(`${paint('bold', `${visible(server)}: ${visible(offer)}`)}, held because ${visible(because)}`)
    for (const warning of warnings) print(paint('yellow', `  warning: it ${visible(warning)}`))
    for (const line of difference) print(paint(line.startsWith('+') ? 'green' : 'red', `  ${visible(line)}`))
    if (accept !== null) print(`  ${ACCEPTING} ${visible(accept)}`)
  }
  const marks = new Map(waiting.map(({ server, seen }) => [server, seen]))
  for (const [server, seen] of marks) print(`To consent: cordon mcp trust ${visibleWord(server)} --seen ${seen}`)
}

/** Consent lets the model read the tool. It gives the tool no right. */
const ACCEPTING = 'It proposes a policy, which grants nothing by itself. To accept it, add to mcp.yaml:'

const NOTHING = 'Nothing waits for consent.'

const print = (line: string): void => {
  writeText(STDOUT, `${line}\n`)
}
