import { isReadable, isWithinPath, isWritable } from '../../policy/index.js'
import type { AbsolutePath, PathPattern } from '../../policy/index.js'

import type { GateTool } from '../tool.js'

export type PathAccess = 'read' | 'write' | 'any'

/** What a tool declared about files, as a question that can be asked of a path. */
export interface FileStance {
  readonly allows: (path: AbsolutePath, access: PathAccess) => boolean
  /** The globs that were asked, for the operator. */
  readonly granted: (access: PathAccess) => string
}

const SETTINGS = '/etc' as AbsolutePath

/**
 * Undefined where the policy leaves reading and writing out: then the gate takes no stance, and a cell grants nothing.
 *
 * A cell can read programs, libraries and settings of the system, because programs need them. As an
 * argument the name of a program is ordinary; one of the settings is not, and has to be granted.
 */
export const fileStanceOf = (tool: GateTool): FileStance | undefined => {
  const isInProcess = tool.runs === 'in-process'
  if (tool.noStance.includes('read') && tool.noStance.includes('write')) return undefined

  const grants = { read: tool.boundary.read, write: tool.boundary.write, presetRead: impliedRead(tool) }
  const declared = { ...grants, presetRead: [] }
  const onlyRead = { ...grants, write: [] }
  const hasNoStanceOn = (access: PathAccess) => access !== 'any' && tool.noStance.includes(access)
  return {
    allows: (path, access) => {
      if (hasNoStanceOn(access)) return true
      if (access === 'write') return isWritable(grants, path)
      // The system's own paths last: there are many, and arguments seldom name them.
      if (access === 'read' || !isInProcess) return isReadable(declared, path) || isReadable(grants, path)
      // Nobody knows which it will be, and no cell holds it: what is only writable must really be so.
      return isReadable(onlyRead, path) || isWritable(grants, path)
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
  // "None" means none, also of what the system would lend.
  const isNone = (read.kind === 'none' && write.kind !== 'list') || (write.kind === 'none' && read.kind !== 'list')
  if (runs === 'in-process' || isNone) return []
  return boundary.presetRead.filter(({ base }) => !isWithinPath(base, SETTINGS))
}
