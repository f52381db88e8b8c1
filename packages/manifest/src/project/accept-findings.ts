// Keeps acceptances in the file of a manifest.
import { manifestJson, manifestYaml } from 'cordon/manifest'
import type { Finding } from 'cordon/manifest'
import { realPathOf } from 'cordon/runtime'

import { usage } from 'cordon/commands'
import { readManifestFile, writeManifestFile } from './baseline.js'
import { canBeAccepted } from '../verify/verify.js'
import type { Acceptance, Verification } from '../verify/verify.js'

export interface Acceptances {
  /** The beginnings of fingerprints. */
  readonly named: readonly string[]
  readonly all: boolean
  readonly reason: string
}

const COMMAND = 'cordon manifest verify'
const SHORTEST = 8

/** The findings that somebody wants to accept. */
export const chosenFindings = ({ open }: Verification, { named, all }: Acceptances): readonly Finding[] => {
  if (all) {
    const refused = open.find(({ id }) => !canBeAccepted(id))
    if (refused !== undefined) throw notAcceptable(refused)
    return open.filter(({ severity }) => severity !== 'info')
  }
  return named.map((start) => {
    const [finding, ...others] = open.filter(({ fingerprint }) => fingerprint.startsWith(start))
    if (start.length < SHORTEST || finding === undefined || others.length > 0)
      throw usage(`--accept ${start}: ${whyNot(start, others.length)}`, COMMAND, openText(open))
    if (!canBeAccepted(finding.id)) throw notAcceptable(finding)
    return finding
  })
}

const whyNot = (start: string, others: number): string => {
  if (start.length < SHORTEST) return `at least ${SHORTEST} characters of the fingerprint are needed`
  return others > 0 ? 'several open findings begin like this' : 'no open finding has this fingerprint'
}

const openText = (open: readonly Finding[]): string =>
  open.length === 0
    ? 'nothing is left to accept'
    : `open findings: ${open.map(({ id, fingerprint }) => `${fingerprint.slice(0, SHORTEST)} (${id})`).join(', ')}`

const notAcceptable = ({ id }: Finding) =>
  usage(`a finding ${id} cannot be accepted`, COMMAND, 'restore the file, or write it anew: cordon manifest generate')

/** Adds acceptances, and drops those of findings that do not occur any more. */
export const writeAcceptances = (
  file: string,
  findings: readonly Finding[],
  done: Verification,
  reason: string,
): void => {
  const { manifest } = readManifestFile(file)
  const unused = new Set(done.unused.map(({ fingerprint }) => fingerprint))
  const added: readonly Acceptance[] = findings.map(({ id, fingerprint }) => ({ finding: id, fingerprint, reason }))
  const kept = (manifest.accepted ?? []).filter(({ fingerprint }) => !unused.has(fingerprint))
  const accepted = [...kept, ...added].sort((one, other) => (one.fingerprint < other.fingerprint ? -1 : 1))
  const text = (file.endsWith('.json') ? manifestJson : manifestYaml)({ ...manifest, accepted })
  writeManifestFile(realPathOf(file) ?? file, text)
}
