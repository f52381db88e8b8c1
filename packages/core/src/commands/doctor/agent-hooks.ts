import type { Environment } from '../../line/command-line.js'
import { installedHooks } from '../../hook/in-force/installed-hooks.js'
import { allAgents } from '../../hook/known-agents.js'
import type { HookDiagnosis } from './diagnosis.js'

export const examineHooks = async (environment: Environment): Promise<readonly HookDiagnosis[]> =>
  (await installedHooks(await allAgents(), environment)).map(({ agent, scope, file, state, obstacles }) => ({
    agent: agent.name,
    scope,
    file,
    in_force: state === 'in force',
    state,
    problems: obstacles,
  }))
