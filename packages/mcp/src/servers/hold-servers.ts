// `cordon mcp --manifest FILE`: each server must be one that was reviewed, with at most the grants of its review.
import { createHolder, policyValue, portablePath, portablePolicy } from 'cordon/manifest'
import type { HeldServer, ManifestServer, ManifestVerdict } from 'cordon/manifest'
import { isWithinPath } from 'cordon/policy'
import type { PlacedPolicy } from 'cordon/policy'
import { withoutUndefined } from 'cordon/shapes'
import { manifestReference, REVIEW } from 'cordon/runtime'
import type { GivenManifest, OwnFile } from 'cordon/runtime'
import { readOnly, withheld } from 'cordon/commands'

import { fail } from '../errors/errors.js'
import { lockPlaceOf } from '../packages/lock-file.js'
import { areShownAs, pinOf, serverAddress, serverWords } from '../packages/server-words.js'
import type { PreparedCell, PreparedServer } from './server-cell.js'

/** Servers can neither change the manifest nor read its key. */
export const manifestFilesOf = (given: GivenManifest | undefined): readonly OwnFile[] => {
  const { manifest, key } = given?.files ?? {}
  return [
    ...readOnly([manifest], 'the manifest of the servers'),
    ...(key === undefined ? [] : [withheld(key, 'the key of the manifest')]),
  ]
}

interface OfServer {
  /** What it may ask its client for. */
  readonly allowed: Iterable<string>
  /** The policies of its tools. */
  readonly written: readonly PlacedPolicy[]
  readonly configFolder: string
}

/** Throws if its processes together are beyond the manifest. Its tools are held when they are known. */
export const holdServer = (
  prepared: PreparedServer,
  given: GivenManifest,
  { allowed, written, configFolder }: OfServer,
): PreparedServer => {
  const { reviewed } = prepared.cellFor(...written)
  const manifest = verdictOn({ ...prepared, reviewed }, given, [...new Set(allowed)].sort(), configFolder)
  const held = (cell: PreparedCell): PreparedCell => ({ ...cell, prepared: { ...cell.prepared, manifest } })
  return { ...prepared, base: held(prepared.base), cellFor: (...policies) => held(prepared.cellFor(...policies)) }
}

const verdictOn = (
  { chosen, base: { prepared }, reviewed }: PreparedServer & Pick<PreparedCell, 'reviewed'>,
  given: GivenManifest,
  features: readonly string[],
  configFolder: string,
): ManifestVerdict => {
  const { workspace, home, cwd } = prepared.order
  const places = { workspace, project: workspace, homes: [home] }
  const { name, argv, transport } = chosen
  const folder = portablePath(cwd, places)
  const startedAs = (listed: ManifestServer): Pick<HeldServer, 'command' | 'url'> => {
    const { command, url } = listed
    if (transport.kind === 'remote')
      return isBehind(transport.remote.url, listed)
        ? withoutUndefined({ command, url })
        : { url: serverAddress(transport.remote.url, given.key) }
    const isListed = command !== undefined && areShownAs(argv, command, places, given.key)
    return { command: isListed ? command : serverWords(argv, places, given.key) }
  }
  const asListed = (listed: ManifestServer): HeldServer => ({
    name,
    ...startedAs(listed),
    ...(folder === '.' ? {} : { cwd: folder }),
    ...(features.length === 0 ? {} : { allow: features }),
    ...(transport.kind === 'published' ? { publish: transport.url } : {}),
    pin: transport.kind === 'remote' ? null : pinOf(argv, lockPlaceOf(workspace, configFolder)),
    policy: policyValue(portablePolicy(reviewed, places), given.key),
  })
  const verdict = isWithinPath(home, workspace)
    ? ({ verdict: 'beyond', differences: [`its workspace ${workspace} holds the home`] } as const)
    : createHolder(given.manifest, undefined, { workspace, home }).server(name, asListed)
  if (verdict.verdict === 'beyond')
    throw fail('manifest-exceeded', {
      ...manifestReference(given),
      what: `the MCP server "${name}"`,
      differences: verdict.differences.join('; '),
      fix: REVIEW,
    })
  return { ...manifestReference(given), ...verdict }
}

/** `cordon mcp install` leaves the host in the client's file, and moves the address. */
const isBehind = (address: string, { command, url }: ManifestServer): boolean =>
  command !== undefined && url === new URL(address).origin
