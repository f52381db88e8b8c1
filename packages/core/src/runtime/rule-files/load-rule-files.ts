// Finds and reads the rule files of a workspace, in the order of their sources. A file that cannot be read or trusted
// is an error: a deny rule must not get lost unnoticed.
import type { Stats } from 'node:fs'
import { dirname, join } from 'node:path'

import { loadRules } from '../../gate/index.js'
import type { RuleSet, RuleSource } from '../../gate/index.js'
import { linkStatusAt, realPathOf } from '../../platform/index.js'
import { isCovered, parseAbsolutePath } from '../../policy/index.js'
import type { AbsolutePath, Places } from '../../policy/index.js'

import { readRuleFile, ruleFilesIn, trustOf } from './read-rule-file.js'

export const MANAGED_FOLDER = '/etc/cordon'

/** Found in the workspace and in the folders above it. */
export const PROJECT_FOLDER = '.cordon'

export interface RuleFileSettings extends Places {
  /** Rules of the machine's administrator. */
  readonly managed?: { readonly folder: string; readonly owner: number }
  /** Undefined: the user's rules are not read. */
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
  const trusted = [
    ...load('managed', managed.folder, managed.owner),
    ...(userFolder === undefined ? [] : load('user', userFolder, user)),
    ...files.map((file) =>
      loadRules(readRuleFile(file, trustOf('command_line', user, user)), file, { source: 'command_line', places }),
    ),
  ]
  const projects = settings.projects === 'read' ? projectFolders(workspace, user) : []
  return [
    ...trusted,
    ...projects.flatMap(({ folder, owner }) =>
      load('project', join(folder, PROJECT_FOLDER), owner).map((set) => ({
        ...set,
        isTrusted: isTrustedProject(folder, trusted),
      })),
    ),
  ]
}

/** Whether a trusted rule file lets this project's rules allow calls. A pattern with "!" wins. */
export const isTrustedProject = (folder: AbsolutePath, sets: readonly RuleSet[]): boolean =>
  isCovered(
    sets.flatMap(({ trustedProjects }) => trustedProjects),
    folder,
  )

export interface ProjectFolder {
  readonly folder: AbsolutePath
  readonly owner: number
}

/**
 * The workspace and the folders above it, so that the rules of a project hold in its subfolders. A folder that others
 * can write to is left out, such as /tmp, unless its rules are in a trusted folder: a tool may have opened it.
 */
export const projectFolders = (workspace: AbsolutePath, user: number): readonly ProjectFolder[] => {
  const folders: ProjectFolder[] = []
  // The folders above a link are not those above its target.
  for (let folder = realPathOf(workspace) ?? workspace; ; folder = dirname(folder)) {
    const found = linkStatusAt(folder)
    if (found?.isDirectory() !== true) break
    const trusted = [user, 0, folders[0]?.owner]
    const isOwn = ({ mode, uid }: Stats): boolean => (mode & 0o002) === 0 && trusted.includes(uid)
    const rules = linkStatusAt(join(folder, PROJECT_FOLDER))
    if (folders.length === 0 || isOwn(found) || (rules?.isDirectory() === true && isOwn(rules)))
      folders.push({ folder: parseAbsolutePath(folder), owner: found.uid })
    if (folder === '/') break
  }
  return folders
}
