// One cell: what it is asked for, and what was planned for it.
import { randomBytes } from 'node:crypto'

import type { AbsolutePath, Boundary, Form } from '../../policy/index.js'
import { isWithinPath, once, parentOf } from '../../policy/index.js'

import type { CarvedOut } from '../grants/carve-outs.js'
import { pathsOf } from '../grants/object-at.js'
import type { Program } from '../grants/program.js'
import type { Survey } from '../grants/survey.js'
import { appliedSumOf, encodePlan } from './encode-plan.js'
import type { AppliedSum } from './encode-plan.js'
import type { Environment } from './environment.js'
import { FORM_HAS } from './host-facts.js'
import { outermost } from './layout.js'
import { newToken } from './plan-network.js'
import type { Plan, Step } from './plan.js'
import type { SandboxProfile } from './sandbox-profile.js'

/**
 * Which refused files are reported: those to be changed or made, those to be read too, or every open, which the host
 * has to support.
 */
export type Observing = 'changes' | 'reads' | 'everything'

export interface CellRequest {
  readonly boundary: Boundary
  readonly cwd: AbsolutePath
  readonly program: string
  readonly searchPath: string
  readonly hostEnvironment: Environment
  readonly form: Form
  readonly stdio: Plan['stdio']
  readonly foreground: boolean
  readonly clock: Plan['clock']
  readonly delivery: Plan['delivery']
  readonly observe: Observing
  /** The certificate of its authority, in PEM. */
  readonly proxy: { readonly authority: string } | undefined
}

export interface PlannedCell {
  readonly plan: Plan
  /** The words of the plan: tens of kilobytes, made once, when first needed. */
  readonly encoded: () => Buffer
  /** What the launcher has to report of its mounts and rules, made once, when first needed. */
  readonly sum: () => AppliedSum
  readonly program: Program
  readonly profile: SandboxProfile
  /** What a wall around the launcher mounts. */
  readonly wallSteps: readonly Step[]
  /** The objects that the boundary is made of, without the system's own. */
  readonly ground: readonly AbsolutePath[]
  readonly carved: CarvedOut
  /** Folders of the write roots in which the tool can make nothing. */
  readonly closed: readonly AbsolutePath[]
  /** Of the image of a container. Those of the cell and of the policy replace them. */
  readonly imageVariables?: Environment
}

/** The same plan for another call, with another private folder and another token for the proxy. */
export const planAgain = (planned: PlannedCell): PlannedCell => {
  const { plan } = planned
  const network = typeof plan.network === 'string' ? plan.network : { ...plan.network, token: newToken() }
  const { ownRoot } = FORM_HAS[plan.form]
  if (ownRoot && network === plan.network) return planned
  const temporary = ownRoot ? plan.temporary : newFolderIn(parentOf(plan.temporary))
  const moved = <Item extends { readonly path: AbsolutePath }>(item: Item): Item =>
    temporary !== plan.temporary && isWithinPath(item.path, plan.temporary)
      ? { ...item, path: `${temporary}${item.path.slice(plan.temporary.length)}` }
      : item
  const again: Plan = { ...plan, network, temporary, rules: plan.rules.map(moved), steps: plan.steps.map(moved) }
  return {
    ...planned,
    plan: again,
    ...encodedOnce(again),
    ...(temporary === plan.temporary ? { sum: planned.sum } : {}),
  }
}

/** The folder that only one call can use, for temporary files. */
export const newFolderIn = (parent: AbsolutePath): AbsolutePath =>
  `${parent}/cordon-${randomBytes(12).toString('hex')}` as AbsolutePath

export const encodedOnce = (plan: Plan): Pick<PlannedCell, 'encoded' | 'sum'> => ({
  encoded: once(() => encodePlan(plan)),
  sum: once(() => appliedSumOf(plan)),
})

/** `survey`: without the protected names, which the watcher knows. */
export const carvedIn = ({ read, hidden, sealed }: Survey): CarvedOut => ({
  paths: pathsOf([...hidden, ...sealed]),
  hidden: pathsOf(hidden),
  readable: pathsOf(outermost(read)),
})
