// The places of policies: bundled with Cordon, of the project, of the user.
import { basename, join } from 'node:path'

import { CordonError, fail } from '../errors/index.js'
import { PACKAGE_FOLDER, existsSync } from '../platform/index.js'
import type { AbsolutePath, Places } from '../policy/index.js'
import {
  PROJECT_FOLDER,
  documentsIn,
  isTrustedProject,
  loadRuleFiles,
  projectFolders,
  readRuleFile,
  trustOf,
} from '../runtime/rule-files/index.js'
import type { Trust } from '../runtime/rule-files/index.js'

export const POLICY_SOURCES = ['bundled', 'project', 'user'] as const
export type PolicySource = (typeof POLICY_SOURCES)[number]

/** A policy that was found, but not read yet. */
export interface FoundPolicy {
  readonly name: string
  readonly source: PolicySource
  readonly path: string
  readonly trust: Trust
  /** Its project, for project policies. */
  readonly project: AbsolutePath | undefined
}

export interface PolicyPlaces extends Places {
  readonly configFolder: string
  /** Where relative paths begin. */
  readonly folder: string
  /** `--rules`, which may trust a project. */
  readonly ruleFiles: readonly string[]
  /** The command that takes names of policies, such as `cordon policy show`. Undefined: --policy. */
  readonly askedBy?: string
}

export const POLICY_ENDING = /\.(?:ya?ml|json)$/

const BUNDLED = join(PACKAGE_FOLDER, 'policies')

const ANYBODY: Trust = { owners: 'anybody', closedTo: 0, links: 'followed' }

/** All policies by source. Several may have the same name. */
export const findPolicies = ({ workspace, configFolder }: PolicyPlaces): readonly FoundPolicy[] => {
  const user = process.geteuid?.() ?? 0
  const listed = (source: PolicySource, folder: string, trust: Trust, project?: AbsolutePath): readonly FoundPolicy[] =>
    safely(() => documentsIn(folder, trust))
      .map((path) => ({ name: basename(path).replace(POLICY_ENDING, ''), source, path, trust, project }))
      .toSorted(byName)
  return [
    ...(existsSync(BUNDLED) ? listed('bundled', BUNDLED, ANYBODY) : []),
    ...projectFolders(workspace, user).flatMap(({ folder, owner }) =>
      listed('project', join(folder, PROJECT_FOLDER, 'policies'), trustOf('project', user, owner), folder),
    ),
    ...listed('user', join(configFolder, 'policies'), trustOf('user', user, user)),
  ]
}

const byName = ({ name: one }: FoundPolicy, { name: other }: FoundPolicy): number => (one < other ? -1 : 1)

export const readFound = ({ path, trust }: FoundPolicy): string => safely(() => readRuleFile(path, trust))

/** `bundled:github`, or the path. */
export const shownAs = ({ source, name, path }: FoundPolicy): string =>
  source === 'bundled' ? `bundled:${name}` : path

/** Whether the rules of the user, or managed rules, trust this project. */
export const isVouchedFor = (
  project: AbsolutePath,
  { workspace, home, configFolder, ruleFiles }: PolicyPlaces,
): boolean =>
  isTrustedProject(
    project,
    loadRuleFiles({ workspace, home, userFolder: configFolder, projects: 'left-out', files: ruleFiles }),
  )

const safely = <Value>(work: () => Value): Value => {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof CordonError)) throw error
    const { path = '', problem = '', fix = '' } = error.params
    if (error.code === 'rules-unsafe') throw fail('policy-unsafe', { path, problem, fix }, error)
    if (error.code === 'rules-unreadable')
      throw fail('file-unreadable', { path, problem, fix: 'make it readable, or remove it' }, error)
    throw error
  }
}
