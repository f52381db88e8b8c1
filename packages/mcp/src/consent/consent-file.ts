// The consent to one server, in a file of the user's state folder. Tools cannot reach it.
import crypto from 'node:crypto'
import { readFileSync, readdirSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'

import { messageOf } from 'cordon/errors'
import { makeFolders, replaceFile } from 'cordon/runtime'
import { fields, list, oneOf, placeInFile, text, valuesOf } from 'cordon/shapes'

import { fail } from '../errors/errors.js'
import { NO_CONSENT, OFFER_KINDS } from './consent.js'
import type { ConsentRecord, ConsentStore } from './consent.js'

/** The same name in another project is another server. */
export interface ServerIdentity {
  readonly server: string
  readonly workspace: string
}

export type KeptConsent = ServerIdentity & ConsentRecord

const CONSENT = fields({
  server: text(),
  workspace: text(),
  kinds: list(oneOf(...OFFER_KINDS)),
  pins: valuesOf(text()),
  held: valuesOf(fields({ offered: text(), because: text() })),
})

const pathOf = (folder: string, { server, workspace }: ServerIdentity): string =>
  join(folder, `${crypto.createHash('sha256').update(`${workspace}\0${server}`).digest('hex').slice(0, 32)}.json`)

/** A missing file is no consent. A file that cannot be read is an error: it might have refused something. */
const readConsent = (folder: string, identity: ServerIdentity): KeptConsent => {
  const path = pathOf(folder, identity)
  return statSync(path, { throwIfNoEntry: false }) === undefined ? { ...identity, ...NO_CONSENT } : readFile(path)
}

export const writeConsent = (
  folder: string,
  { server, workspace }: ServerIdentity,
  { kinds, pins, held }: ConsentRecord,
): void => {
  const path = pathOf(folder, { server, workspace })
  try {
    makeFolders(dirname(path), 0o700)
    replaceFile(path, `${JSON.stringify({ server, workspace, kinds, pins, held }, undefined, 2)}\n`, {
      mode: { ofNew: 0o600 },
    })
  } catch (error) {
    throw fail('consent-unwritable', { path, problem: messageOf(error) }, error)
  }
}

export const consentStore = (folder: string, identity: ServerIdentity): ConsentStore => ({
  read: () => readConsent(folder, identity),
  write: (record) => {
    writeConsent(folder, identity, record)
  },
})

/** All servers that somebody consented to, of all projects. */
export const listConsents = (folder: string): readonly KeptConsent[] =>
  statSync(folder, { throwIfNoEntry: false }) === undefined
    ? []
    : readdirSync(folder)
        .filter((name) => name.endsWith('.json'))
        .sort()
        .map((name) => readFile(join(folder, name)))

const readFile = (path: string): KeptConsent => {
  try {
    return CONSENT.read(JSON.parse(readFileSync(path, 'utf8')) as unknown, placeInFile(path)) as KeptConsent
  } catch (error) {
    throw fail('consent-unreadable', { path, problem: messageOf(error) }, error)
  }
}
