// `cordon manifest verify`: compares a project with a baseline.
import type { Manifest } from 'cordon/manifest'

import { keepKeyOf, requireKeptKey, requireKeyOf, STDOUT, usage, writeText } from 'cordon/commands'
import type { Arguments, CommandLine } from 'cordon/commands'

import { chosenFindings, writeAcceptances } from '../project/accept-findings.js'
import type { Acceptances } from '../project/accept-findings.js'
import { MANIFEST_FILE, isFileName, readBaseline, readIntactManifest, readManifestFile } from '../project/baseline.js'
import type { Baseline } from '../project/baseline.js'
import { manifestAction } from './manifest.js'
import { projectRequestOf } from '../project/project-request.js'
import { REPORTS } from '../report/report.js'
import type { ReportForm } from '../report/report.js'
import { isFailing, verify } from '../verify/verify.js'
import type { Verification } from '../verify/verify.js'

const COMMAND = 'cordon manifest verify'
const EXIT_FINDINGS = 1

export const verifyProject = manifestAction(async (line) => {
  const { given, environment } = line
  const named = given.values.get('baseline')?.[0]
  if (named === undefined) throw usage('no baseline is named', COMMAND, 'add --baseline FILE or --baseline GIT-REF')
  const form = formOf(given)
  const wanted = acceptancesOf(given)
  const baseline = await readBaseline(named, () => ({ ...projectRequestOf(line), environment }))
  const present = await presentOf(line, baseline, { named, keepsKey: wanted?.all === true })
  const found = verify(baseline.content, present, baseline.accepted)
  const done = wanted === undefined ? found : accept(baseline, present, found, wanted)
  writeText(
    STDOUT,
    REPORTS[form]({ ...done, baseline: named, hash: present.hash, manifestFile: MANIFEST_FILE, environment }),
  )
  return isFailing(done) ? EXIT_FINDINGS : 0
})

const formOf = ({ values }: Arguments): ReportForm => {
  const given = values.get('format')?.[0] ?? 'text'
  if (!isForm(given))
    throw usage(`--format ${given} is unknown`, COMMAND, `use one of: ${Object.keys(REPORTS).join(', ')}`)
  return given
}

const isForm = (text: string): text is ReportForm => Object.hasOwn(REPORTS, text)

const acceptancesOf = ({ values, switches }: Arguments): Acceptances | undefined => {
  const [named, all, reason] = [values.get('accept') ?? [], switches.has('accept-all'), values.get('reason')?.[0]]
  if (named.length === 0 && !all) {
    if (reason !== undefined) throw usage('--reason is for --accept or --accept-all', COMMAND)
    return undefined
  }
  if (reason === undefined || reason.trim() === '')
    throw usage('an acceptance needs a reason', COMMAND, 'add --reason TEXT')
  return { named, all, reason }
}

interface Keying {
  /** The baseline. */
  readonly named: string
  /** Acceptances of all findings are written. One fingerprint cannot be known before there is a key. */
  readonly keepsKey: boolean
}

/** Must not replace a baseline that is a file. */
const generating = (baseline: string): string =>
  isFileName(baseline) ? 'cordon manifest generate --out present.json' : 'cordon manifest generate'

/** A manifest that the command line names, or the project as it is now. */
const presentOf = async (line: CommandLine, { content }: Baseline, keying: Keying): Promise<Manifest> => {
  const [, file, ...others] = line.given.rest
  if (others.length > 0) throw usage(`verify takes one manifest: ${others.join(' ')} is too much`, COMMAND)
  if (file !== undefined) return readIntactManifest(file)
  // Loads the runtime, which a comparison of two files does not need.
  const { describeProject } = await import('../project/describe-project.js')
  const request = projectRequestOf(line)
  requireKeyOf(JSON.stringify(content.manifest), request.key)
  const manifest = await describeProject(request)
  const text = JSON.stringify(manifest)
  if (keying.keepsKey) keepKeyOf(text, request.key, request.folder)
  else requireKeptKey(text, request.key, generating(keying.named))
  return manifest
}

const accept = (baseline: Baseline, present: Manifest, found: Verification, wanted: Acceptances): Verification => {
  const chosen = chosenFindings(found, wanted)
  const { file } = baseline
  writeAcceptances(file, chosen, found, wanted.reason)
  const { accepted = [] } = readManifestFile(file).manifest
  return verify(baseline.content, present, accepted)
}
