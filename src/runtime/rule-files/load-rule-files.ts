// The rule files that are in force in a workspace, found where they lie and read in the order of
// their sources. Whatever cannot be read or trusted is an error: rules deny, and a denial that is
// lost because of a typing error would be lost without anybody noticing.
import { lstatSync, realpathSync } from 'node:fs'
import type { Stats } from 'node:fs'
import { dirname, join } from 'node:path'

import { loadRules } from '../../gate/index.js'
import type { RuleSet, RuleSource } from '../../gate/index.js'
import { matches, parseAbsolutePath } from '../../policy/index.js'
import type { AbsolutePath, Places } from '../../policy/index.js'

import { readRuleFile, ruleFilesIn, trustOf } from './read-rule-file.js'

export const MANAGED_FOLDER = '/etc/cordon'

/** In a workspace, and in the folders above it. */
export const PROJECT_FOLDER = '.cordon'

export interface RuleFileSettings extends Places {
  /** Of the administrator of this machine. */
  readonly managed?: { readonly folder: string; readonly owner: number }
  /** Undefined: none of the user's. */
  readonly userFolder: string | undefined
  readonly projects: 'read' | 'left-out'
  /** Named on the command line. */
  readonly files: readonly string[]
}

export const loadRuleFiles = (settings: RuleFileSettings): readonly RuleSet[] => {
  const { workspace, home, managed = { folder: MANAGED_FOLDER, owner: 0 }, userFolder, files } = settings
  const user = process.geteuid?.() ?? 0
  const places = { workspace, home }
  const load = (source: RuleSource, folder: string, owner: number): readonly RuleSet[] => {
    const trust = trustOf(source, user, owner)
    return ruleFilesIn(folder, trust).map((file) => loadRules(readRuleFile(file, trust), file, { source, places }))
  }
  const vouching = [
    ...load('managed', managed.folder, managed.owner),
    ...(userFolder === undefined ? [] : load('user', userFolder, user)),
    ...files.map((file) =>
      loadRules(readRuleFile(file, trustOf('command_line', user, user)), file, { source: 'command_line', places }),
    ),
  ]
  const projects = settings.projects === 'read' ? projectFolders(workspace, user) : []
  return [
    ...vouching,
    ...projects.flatMap(({ folder, owner }) =>
      load('project', join(folder, PROJECT_FOLDER), owner).map((set) => ({
        ...set,
        isTrusted: isTrustedProject(folder, vouching),
      })),
    ),
  ]
}

/** Whether somebody who may has said that this project's rules may allow. Of several the last word is a "!". */
export const isTrustedProject = (folder: AbsolutePath, sets: readonly RuleSet[]): boolean => {
  const patterns = sets.flatMap(({ trustedProjects }) => trustedProjects)
  return (
    patterns.some((pattern) => !pattern.negated && matches(pattern, folder)) &&
    !patterns.some((pattern) => pattern.negated && matches(pattern, folder))
  )
}

/** What lies above a link is not what lies above the folder that it leads to. */
const realPathOf = (folder: string): string => {
  try {
    return realpathSync(folder)
  } catch {
    return folder
  }
}

/** Undefined: there is no such thing, or nobody here may look at it. */
const statOf = (folder: string): Stats | undefined => {
  try {
    return lstatSync(folder, { throwIfNoEntry: false })
  } catch {
    return undefined
  }
}

export interface ProjectFolder {
  readonly folder: AbsolutePath
  readonly owner: number
}

/**
 * The workspace and the folders above it, as far as nobody else can put anything there: who starts a
 * command in a part of a project does not leave its rules behind, and what lies in /tmp is no project.
 */
export const projectFolders = (workspace: AbsolutePath, user: number): readonly ProjectFolder[] => {
  const folders: ProjectFolder[] = []
  for (let folder = realPathOf(workspace); ; folder = dirname(folder)) {
    const found = statOf(folder)
    if (found?.isDirectory() !== true) break
    const isForeign = (found.mode & 0o002) !== 0 || ![user, 0, folders[0]?.owner].includes(found.uid)
    if (isForeign && folders.length > 0) break
    folders.push({ folder: parseAbsolutePath(folder), owner: found.uid })
    if (folder === '/') break
  }
  return folders
}
