// Bounds: policies that every tool of a machine or of a project must be within. A tool beyond one is refused when it is
// registered, with an example of what it could do.
import { join } from 'node:path'

import { lstatSync } from '../../platform/index.js'
import { fail } from '../../errors/index.js'
import type { RuleSource } from '../../gate/index.js'
import { describeWitness, isWithin, loadPolicyText } from '../../policy/index.js'
import type { Places, ToolKind, ToolPolicy } from '../../policy/index.js'

import { MANAGED_FOLDER, PROJECT_FOLDER, projectFolders } from './load-rule-files.js'
import { readRuleFile, trustOf } from './read-rule-file.js'

const NAMES = ['bound.yaml', 'bound.yml', 'bound.json']

export interface BoundSettings extends Places {
  readonly managed?: { readonly folder: string; readonly owner: number }
  readonly projects: 'read' | 'left-out'
}

export interface BoundedTool {
  readonly name: string
  readonly kind: ToolKind
  readonly policy: ToolPolicy
}

/** Throws if the tool may do more than a bound allows. */
export type RequireWithin = (tool: BoundedTool) => void

interface Bound {
  readonly path: string
  readonly policy: ToolPolicy
}

/** Reads the bounds of the machine and of the projects. A bound of a project must be within that of the machine. */
export const loadBounds = (settings: BoundSettings): RequireWithin => {
  const { workspace, home, managed = { folder: MANAGED_FOLDER, owner: 0 }, projects } = settings
  const user = process.geteuid?.() ?? 0
  // A link that leads nowhere is an error, not a missing bound.
  const load = (source: RuleSource, folder: string, owner: number): readonly Bound[] =>
    NAMES.map((name) => join(folder, name))
      .filter((path) => lstatSync(path, { throwIfNoEntry: false }) !== undefined)
      .map((path) => ({ path, policy: loadPolicyText(readRuleFile(path, trustOf(source, user, owner)), path) }))
  const places = { workspace, home }
  const ofMachine = load('managed', managed.folder, managed.owner)
  const ofProjects =
    projects === 'read'
      ? projectFolders(workspace, user).flatMap(({ folder, owner }) =>
          load('project', join(folder, PROJECT_FOLDER), owner),
        )
      : []
  const judge = (what: string, { kind, policy }: Omit<BoundedTool, 'name'>, bounds: readonly Bound[]): void => {
    for (const bound of bounds) {
      // The bound has no kind of its own, except that everything it allows is in a cell.
      const boundKind = kind === 'in-process' ? 'process' : kind
      const found = isWithin(policy, bound.policy, { ...places, kind, boundKind })
      if (!found.within)
        throw fail('policy-beyond-bound', { what, bound: bound.path, witness: describeWitness(found.witness) })
    }
  }
  for (const { path, policy } of ofProjects) judge(path, { kind: 'process', policy }, ofMachine)
  return (tool) => {
    judge(`the tool "${tool.name}"`, tool, [...ofMachine, ...ofProjects])
  }
}
