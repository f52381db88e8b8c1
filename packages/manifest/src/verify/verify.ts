// Compares a baseline with the present manifest, and sets apart the findings that somebody accepted.
import type { Finding, Manifest, ManifestContent, readManifest } from 'cordon/manifest'
import { compareManifests } from './compare-manifests.js'
import { makeFinding, say } from 'cordon/manifest'

export type Acceptance = NonNullable<Manifest['accepted']>[number]

export interface AcceptedFinding {
  readonly finding: Finding
  readonly acceptance: Acceptance
}

export interface Verification {
  /** Nobody accepted these. */
  readonly open: readonly Finding[]
  readonly accepted: readonly AcceptedFinding[]
  /** Acceptances of findings that do not occur any more. */
  readonly unused: readonly Acceptance[]
}

/** `accepted`: acceptances besides those of the baseline. */
export const verify = (
  baseline: ReturnType<typeof readManifest>,
  present: ManifestContent,
  accepted: readonly Acceptance[] = [],
): Verification => {
  const findings = [
    ...(baseline.problem === undefined ? [] : [tampered(baseline.manifest)]),
    ...compareManifests(baseline.manifest, present),
  ]
  const given = [...(baseline.manifest.accepted ?? []), ...accepted]
  const all = [...new Map(given.map((each) => [`${each.finding} ${each.fingerprint}`, each])).values()]
  const acceptanceOf = ({ id, fingerprint }: Finding) =>
    canBeAccepted(id) ? all.find((each) => each.fingerprint === fingerprint && each.finding === id) : undefined
  const current = new Set(findings.map(({ fingerprint }) => fingerprint))
  return {
    open: findings.filter((finding) => acceptanceOf(finding) === undefined),
    accepted: findings.flatMap((finding) => {
      const acceptance = acceptanceOf(finding)
      return acceptance === undefined ? [] : [{ finding, acceptance }]
    }),
    unused: all.filter(({ fingerprint }) => !current.has(fingerprint)),
  }
}

/** Nobody knows what a baseline says that somebody changed by hand. */
export const canBeAccepted = (id: Finding['id']): boolean => id !== 'baseline.tampered'

const tampered = ({ hash }: Manifest): Finding =>
  makeFinding(
    'baseline.tampered',
    {},
    {
      sentence: say`The content of the baseline does not fit its hash ${hash}. Somebody changed it by hand`,
      change: [hash],
    },
  )

/** Whether a check fails. */
export const isFailing = ({ open }: Verification): boolean => open.some(({ severity }) => severity !== 'info')
