import { isProtectedFile, isReadable, isWithinPath, isWritable } from '../../policy/index.js'
import type { AbsolutePath, PathPattern } from '../../policy/index.js'

import type { GateTool } from '../tool.js'
import type { ListFolder } from './resolve-path.js'

export type PathAccess = 'read' | 'write' | 'any'

/** The file grants of a tool, as the argument gate uses them. */
export interface FileStance {
  readonly allows: (path: AbsolutePath, access: PathAccess) => boolean
  /** The globs of the grants, for messages. */
  readonly granted: (access: PathAccess) => string
}

const SETTINGS = '/etc' as AbsolutePath

/**
 * Undefined if the policy omits both reading and writing. Then the gate does not judge paths, and a cell grants
 * nothing.
 *
 * Every cell can read programs, libraries and settings of the system. As an argument, the path of a program is
 * ordinary, but a path of the settings must be granted.
 */
export const fileStanceOf = (tool: GateTool, listFolder: ListFolder): FileStance | undefined => {
  const isInProcess = tool.runs === 'in-process'
  if (tool.noStance.includes('read') && tool.noStance.includes('write')) return undefined

  const grants = { read: tool.boundary.read, write: tool.boundary.write, presetRead: impliedRead(tool) }
  const declared = { ...grants, presetRead: [] }
  const onlyRead = { ...grants, write: [] }
  const hasNoStanceOn = (access: PathAccess) => access !== 'any' && tool.noStance.includes(access)
  // A tool in a cell makes what it wants there, and the watcher sets aside what it must not.
  const mayWrite = (path: AbsolutePath) =>
    isWritable(grants, path) && !(isInProcess && isProtectedFile(grants.write, path) && listFolder(path) === undefined)
  return {
    allows: (path, access) => {
      if (hasNoStanceOn(access)) return true
      if (access === 'write') return mayWrite(path)
      // The paths of the system last, because they are many and rarely in arguments.
      if (access === 'read' || !isInProcess) return isReadable(declared, path) || isReadable(grants, path)
      // The access is not known, and no cell confines the tool. A path without a read grant must be writable.
      return isReadable(onlyRead, path) || mayWrite(path)
    },
    granted: (access) => {
      const patterns =
        access === 'read' ? grants.read : access === 'write' ? grants.write : [...grants.read, ...grants.write]
      return patterns.length === 0 ? 'nothing' : [...new Set(patterns.map(({ text }) => text))].join(' ')
    },
  }
}

const impliedRead = ({ runs, policy, boundary }: GateTool): readonly PathPattern[] => {
  const { read, write } = policy.filesystem
  if (policy.presets.includes('system')) return boundary.presetRead
  // "none" excludes the paths of the system too.
  const isNone = (read.kind === 'none' && write.kind !== 'list') || (write.kind === 'none' && read.kind !== 'list')
  if (runs === 'in-process' || isNone) return []
  return boundary.presetRead.filter(({ base }) => !isWithinPath(base, SETTINGS))
}
