// Offers of servers that wait for consent, and the consent to those that somebody was shown.
import { hashOf } from 'cordon/gate'
import type { JsonValue } from 'cordon/gate'
import { didYouMean } from 'cordon/policy'
import { visible } from 'cordon/commands'

import { consentTo, differenceOf, listConsents, warningsOf, writeConsent } from '../consent/index.js'
import type { KeptConsent } from '../consent/index.js'
import { fail } from '../errors/errors.js'
import { acceptingLineOf } from './accept-proposal.js'

/** One offer that waits for consent. */
export interface WaitingOffer {
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

/** Of the servers of a folder, or of the one that is named. */
export const waitingOffers = (folder: string, workspace: string, name: string | undefined): readonly WaitingOffer[] =>
  consentsIn(folder, workspace, name).flatMap(waitingOf)

/** Consents to these offers, or to all. `seen` names what was shown: a server may have changed its offers since. */
export const consentToShown = (
  folder: string,
  workspace: string,
  { server, offers, seen }: { server: string; offers: readonly string[]; seen: string | undefined },
): { readonly consented: readonly string[]; readonly waiting: readonly WaitingOffer[] } => {
  const [consent] = consentsIn(folder, workspace, server)
  if (consent === undefined) return { consented: [], waiting: [] }
  const keys = offers.length === 0 ? Object.keys(consent.held) : offers.map((offer) => keyNamed(offer, consent))
  const next = consentTo(consent, keys)
  if (keys.length > 0) {
    if (seen !== markOf(consent))
      throw fail('consent-unseen', { server, problem: seen === undefined ? 'without --seen' : 'to something else' })
    writeConsent(folder, consent, next)
  }
  return { consented: keys, waiting: waitingOf(consent).filter(({ offer }) => keys.includes(offer)) }
}

/** Stands for everything of a server that waits. */
const markOf = ({ held }: KeptConsent): string =>
  hashOf(Object.entries(held).map(([key, { offered }]) => [key, offered])).slice(
    'sha256:'.length,
    'sha256:'.length + 12,
  )

const consentsIn = (folder: string, workspace: string, name: string | undefined): readonly KeptConsent[] => {
  const here = listConsents(folder).filter((consent) => consent.workspace === workspace)
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
  const [key, another] = Object.keys(held).filter(
    (each) => each === offer || each.slice(each.indexOf(' ') + 1) === offer,
  )
  return another === undefined && key !== undefined ? key : offer
}

const waitingOf = (consent: KeptConsent): readonly WaitingOffer[] =>
  Object.entries(consent.held).map(([key, { offered, because }]) => {
    const { server, pins } = consent
    const value = JSON.parse(offered) as JsonValue
    return {
      server,
      offer: key,
      because,
      difference: differenceOf(JSON.parse(pins[key] ?? '{}') as JsonValue, value),
      warnings: warningsOf(value).map(({ problem }) => problem),
      accept: acceptingLineOf(server, value) ?? null,
      seen: markOf(consent),
    }
  })
