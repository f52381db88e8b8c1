// The files that a patch of the form "*** Begin Patch" changes. The programs that apply patches differ in the blanks
// that they trim. So a line that only some of them would take for a marker blocks the call.
import type { ToolAction } from './agent.js'
import { unreadable } from './message.js'

/** A file of the patch. The line ends as on Linux or Windows. */
const FILE = /^[ \t]*\*\*\* (?:Add File|Update File|Delete File|Move to): ?(?<path>[^\p{Cc}\p{Zl}\p{Zp}]*?)\r?$/u
const FRAME = /^[ \t]*\*\*\* (?:Begin Patch|End Patch|End of File)[ \t]*\r?$/

/** No program trims these, so the line is content for all of them. */
const CONTENT = /^(?:[+-]|@@)/
/** Content for one program can be a marker for the next one, which trims it. */
const TRIMMED_MARKER = /^[\s\p{C}\p{Z}]*\*\*\* (?:Add File|Update File|Delete File|Move to|Begin Patch|End Patch)/u

export const patchedFiles = (patch: string, agent: string): ToolAction => {
  // Rust and opencode know no other end of a line.
  const write = patch.split('\n').flatMap((line) => pathsIn(line, agent))
  if (write.length === 0) throw unreadable(agent, 'has a patch that names no file')
  return { kind: 'files', read: [], write }
}

/** The path as it stands, and without the blanks around it. */
const pathsIn = (line: string, agent: string): readonly string[] => {
  if (CONTENT.test(line) || !line.includes('***') || FRAME.test(line)) return []
  const path = FILE.exec(line)?.groups?.['path']
  if (path === undefined) {
    if (line.startsWith(' ') && !TRIMMED_MARKER.test(line)) return []
    throw unreadable(agent, `has a patch with a line that may be a marker: ${JSON.stringify(line.slice(0, 60))}`)
  }
  const trimmed = path.trim()
  if (trimmed === '') throw unreadable(agent, 'has a patch that names no file')
  if (/[^\S ]/.test(path)) throw unreadable(agent, `has a patch with unusual blanks in a path: ${JSON.stringify(path)}`)
  return trimmed === path ? [path] : [path, trimmed]
}
