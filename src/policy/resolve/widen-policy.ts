import type { AbsolutePath } from '../glob/absolute-path.js'
import { escapeGlob } from '../glob/glob-segments.js'
import type { Limits, List, ProgramGrant, Section, ToolPolicy } from '../model.js'
import { parsePathGlob } from '../glob/path-glob.js'
import type { PathGlob } from '../glob/path-glob.js'

/** What a policy should grant beyond itself: these very paths and programs, and these limits in place of its own. */
export interface MoreGrants {
  readonly read: readonly AbsolutePath[]
  readonly write: readonly AbsolutePath[]
  readonly exec: readonly AbsolutePath[]
  readonly limits: Limits
}

/**
 * The policy with more. What it carves out stays carved out, and what it says of itself (risk, egress class) stays
 * said.
 */
export const widenPolicy = (policy: ToolPolicy, more: MoreGrants): ToolPolicy => ({
  ...policy,
  filesystem: {
    read: withItems(policy.filesystem.read, more.read.map(globOf)),
    write: withItems(policy.filesystem.write, more.write.map(globOf)),
  },
  exec:
    policy.exec.kind === 'all'
      ? policy.exec
      : withItems<ProgramGrant>(
          policy.exec,
          more.exec.map((path) => ({ kind: 'path', glob: globOf(path) })),
        ),
  limits: { ...policy.limits, ...more.limits },
})

const globOf = (path: AbsolutePath): PathGlob => parsePathGlob(escapeGlob(path), 'a wider policy')

const withItems = <Item>(section: Section<Item>, items: readonly Item[]): Section<Item> | List<Item> =>
  items.length === 0 ? section : { kind: 'list', items: [...(section.kind === 'list' ? section.items : []), ...items] }
