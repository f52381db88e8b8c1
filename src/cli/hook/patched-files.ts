// The files that a patch of the form "*** Begin Patch" changes.
import type { ToolAction } from './agent.js'
import { unreadable } from './message.js'

// Blanks around a marker do not matter to the programs that apply patches. A line of content that looks like one adds
// a path that is judged in vain, and hides none.
const MARKER = /^[ \t]*\*\*\* (?:Add File|Update File|Delete File|Move to):(?<path>.*)$/

export const patchedFiles = (patch: string, agent: string): ToolAction => {
  const write = patch.split(/\r?\n/).flatMap((line) => {
    const path = MARKER.exec(line)?.groups?.['path']?.trim()
    return path === undefined ? [] : [path]
  })
  if (write.length === 0 || write.includes('')) throw unreadable(agent, 'has a patch that names no file')
  return { kind: 'files', read: [], write }
}
