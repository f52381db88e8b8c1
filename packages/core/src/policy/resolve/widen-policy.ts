import type { AbsolutePath } from '../glob/absolute-path.js'
import { escapeGlob } from '../glob/glob-segments.js'
import { itemsIn } from '../model.js'
import type { Limits, List, ProgramGrant, Section, ToolPolicy } from '../model.js'
import { parsePathGlob } from '../glob/path-glob.js'
import type { PathGlob } from '../glob/path-glob.js'

/** Grants to add to a policy: exactly these paths and programs, and limits in place of its own. */
export interface MoreGrants {
  readonly read: readonly AbsolutePath[]
  readonly write: readonly AbsolutePath[]
  readonly exec: readonly AbsolutePath[]
  readonly limits: Limits
}

/** Carve-outs, and the declared risk and egress class, stay. */
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
  items.length === 0 ? section : { kind: 'list', items: [...itemsIn(section), ...items] }
