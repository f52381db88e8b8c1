// Whether the copy of Cordon that a hook starts is there, whole and current.
import { copyProblem, grantOverCopy } from '../program/program-facts.js'
import type { HookAt, Obstacle } from './obstacle.js'

export const copyObstacles = ({ agent, scope, command, folder, environment }: HookAt): readonly Obstacle[] => {
  const problem = copyProblem(command, scope, environment)
  const option = scope === 'project' ? '' : ` --${scope}`
  const over = scope === 'managed' ? undefined : grantOverCopy(command, folder, environment)
  return [
    ...(problem === undefined ? [] : [{ problem, fix: `cordon hook install ${agent.name}${option}` }]),
    ...(over === undefined ? [] : [over]),
  ]
}
