// The option `manifest` of createCordon: the tools of a runtime are held against it.
import { readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'

import { codeOf, fail, messageOf, reasonOf } from '../../errors/index.js'
import { createHolder, hasKeyedHash, isManifestKey, readManifest } from '../../manifest/index.js'
import type { Holder, Manifest, ManifestKey, ManifestVerdict, ProjectPlaces, Verdict } from '../../manifest/index.js'
import { readOrdinaryFile } from '../../platform/index.js'
import { isWithinPath } from '../../policy/index.js'
import type { AbsolutePath, Places } from '../../policy/index.js'

import type { EventContext } from '../events/event.js'
import type { ToolDefinition } from '../tools/tools.js'
import { describeForManifest } from './held-tool.js'

/** One of `file` and `content`. */
export interface ManifestOption {
  /** What `cordon manifest generate` wrote. */
  readonly file?: string
  /** The same, parsed. */
  readonly content?: unknown
  /** The file of its key (default: `.cordon/manifest.key` beside the file). It is only needed for keyed hashes. */
  readonly key?: string
  /** False: a tool beyond the manifest runs, and its facts say so (default: true). */
  readonly enforce?: boolean
}

export interface GivenManifest {
  readonly manifest: Manifest
  /** For people. */
  readonly name: string
  readonly files: { readonly manifest: string | undefined; readonly key: string | undefined }
  readonly key: ManifestKey
  readonly isEnforced: boolean
}

/** Throws if the tool is beyond an enforced manifest. Undefined: there is no manifest. */
type HoldTool = (definition: ToolDefinition) => ManifestVerdict | undefined

export const readManifestOption = (option: string | ManifestOption | undefined): GivenManifest | undefined => {
  if (option === undefined) return undefined
  const { file, content, key, enforce = true } = typeof option === 'string' ? { file: option } : option
  if ((file === undefined) === (content === undefined))
    throw fail('manifest-invalid', { problem: 'createCordon: manifest names neither or both of file and content' })
  if (file !== undefined && /^sha256:[0-9a-f]{64}$/.test(file))
    throw fail('manifest-invalid', { problem: 'tools cannot be held against a hash: name the file of the manifest' })
  const name = file ?? 'the given manifest'
  const text = file === undefined ? JSON.stringify(content) : textOf(file)
  const { manifest, problem } = readManifest(text, name)
  if (problem !== undefined) throw fail('manifest-invalid', { problem: `${name}: its hash is not that of its content` })
  const keyFile = key ?? (file === undefined ? undefined : join(dirname(resolve(file)), MANIFEST_KEY_FILE))
  return {
    manifest,
    name,
    files: { manifest: file === undefined ? undefined : resolve(file), key: keyFile },
    key: hasKeyedHash(text) ? requireKey(keyFile) : NO_KEY,
    isEnforced: enforce,
  }
}

/** For a manifest without keyed hashes, with which no hash can be the same. */
const NO_KEY: ManifestKey = '0'.repeat(64)

const requireKey = (path: string | undefined): ManifestKey => {
  const key = path === undefined ? undefined : readManifestKey(path)
  if (key !== undefined) return key
  throw fail('manifest-key-missing', { path: path ?? 'manifest.key', problem: 'there is no such file' })
}

const textOf = (path: string): string => {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw fail(
      'manifest-unreadable',
      { path, problem: codeOf(error) === 'ENOENT' ? 'there is no such file' : reasonOf(error) },
      error,
    )
  }
}

/** The context of all events, with the hash of the manifest. */
export const contextOf = (
  context: EventContext | undefined,
  given: GivenManifest | undefined,
): EventContext | undefined => (given === undefined ? context : { ...context, manifest_hash: given.manifest.hash })

export const holdTools = (given: GivenManifest | undefined, agent: string | undefined, home: Places): HoldTool => {
  if (given === undefined) return () => undefined
  const places = placesIn(given.manifest, agent, home)
  const holder = createHolder(given.manifest, agent, home)
  return (definition) => {
    const verdict = isTooWide(home)
      ? ({ verdict: 'beyond', differences: [`its workspace ${home.workspace} holds the home`] } as const)
      : verdictOf(definition, holder, places, given.key)
    if (verdict.verdict === 'beyond' && given.isEnforced)
      throw fail('manifest-exceeded', {
        ...manifestReference(given),
        what: `the tool "${definition.name}"`,
        differences: verdict.differences.join('; '),
        fix: REVIEW,
      })
    return { ...manifestReference(given), ...verdict }
  }
}

/** The way out of whatever is beyond a manifest that was generated from code or settings. */
export const REVIEW =
  'narrow it; or let somebody review the change: cordon manifest verify, then cordon manifest generate'

export const manifestReference = ({
  name,
  manifest: { hash },
}: GivenManifest): Pick<ManifestVerdict, 'name' | 'hash'> => ({
  name,
  hash,
})

const verdictOf = (definition: ToolDefinition, holder: Holder, places: ProjectPlaces, key: ManifestKey): Verdict => {
  const held = describeForManifest(definition, places, key)
  return definition.kind === 'mcp'
    ? holder.serverTool(definition.server.name, definition.ownName, held, definition.hasPolicy)
    : holder.tool(held)
}

/** `./**` was reviewed as a project, which cannot hold a home. */
const isTooWide = ({ workspace, home }: Places): boolean => isWithinPath(home, workspace)

/** As when the manifest was written: the project is above the workspace by as many folders as it says. */
const placesIn = ({ agents }: Manifest, agent: string | undefined, { workspace, home }: Places): ProjectPlaces => {
  const { workspace: below = '.' } = agents.find(({ name }) => name === agent) ?? {}
  const suffix = below.startsWith('./') ? below.slice(1) : ''
  const project = workspace.endsWith(suffix) ? workspace.slice(0, workspace.length - suffix.length) : workspace
  return { workspace, project: project as AbsolutePath, homes: [home] }
}

/** In the folder of the project. */
export const MANIFEST_KEY_FILE = '.cordon/manifest.key'

/** Undefined: there is no such file. */
export const readManifestKey = (path: string): ManifestKey | undefined => {
  let key: string
  try {
    key = readOrdinaryFile(path).trim()
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw fail('manifest-key-missing', { path, problem: messageOf(error) }, error)
  }
  if (isManifestKey(key)) return key
  throw fail('manifest-key-missing', { path, problem: 'it is not 64 hexadecimal digits' })
}
