// `cordon run --manifest FILE`: the policy of the command must be within a reviewed one. Loaded only for this option.
import { fail } from '../errors/index.js'
import { createHolder, policyValue, portablePolicy } from '../manifest/index.js'
import type { ManifestVerdict } from '../manifest/index.js'
import { isWithinPath } from '../policy/index.js'
import { manifestReference, readManifestOption } from '../runtime/held/index.js'

import { readOnly, withheld } from '../settings/own-files.js'
import type { RunOrder } from './request/run-request.js'

export interface HeldRun {
  /** The command can neither change the manifest nor read its key. */
  readonly order: RunOrder
  readonly manifest: ManifestVerdict | undefined
}

/** Only policy files that the configuration names are policies of `cordon run` in a manifest. */
const FIX =
  'narrow it; or write the policy into a file, name that under policies in cordon.config.js, let somebody review it, ' +
  'and run: cordon manifest generate'

export const holdRun = (order: RunOrder, file: string): HeldRun => {
  const given = readManifestOption(file)
  if (given === undefined) return { order, manifest: undefined }
  const { workspace, home, policy } = order
  const places = { workspace, project: workspace, homes: [home] }
  // `./**` was reviewed as a project, which cannot hold a home.
  const verdict = isWithinPath(home, workspace)
    ? ({ verdict: 'beyond', differences: [`its workspace ${workspace} holds the home`] } as const)
    : createHolder(given.manifest, undefined, { workspace, home }).run(
        policyValue(portablePolicy(policy, places), given.key),
      )
  const { name, hash } = manifestReference(given)
  if (verdict.verdict === 'beyond')
    throw fail('manifest-exceeded', {
      what: 'the command',
      name,
      hash,
      differences: verdict.differences.join('; '),
      fix: FIX,
    })
  const { key } = given.files
  const ownFiles = [
    ...order.ownFiles,
    ...readOnly([file], 'the manifest of the command'),
    ...(key === undefined ? [] : [withheld(key, 'the key of the manifest')]),
  ]
  return { order: { ...order, ownFiles }, manifest: { name, hash, ...verdict } }
}
