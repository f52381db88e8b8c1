// `cordon doctor`: what this host can enforce, and how to enable more.
import { usage } from '../../line/arguments.js'
import type { CommandLine } from '../../line/caller.js'
import { STDOUT, paintFor, writeText } from '../../line/text/console-text.js'
import { installedHooks } from '../../hook/in-force/installed-hooks.js'
import { allAgents } from '../../hook/known-agents.js'
import { examineEngine, examineHost } from '../../diagnosis/index.js'
import { renderDiagnosis } from './doctor-table.js'
import type { Diagnosis } from './doctor-table.js'

export const doctor = async ({ given, environment }: CommandLine): Promise<number> => {
  if (given.rest.length > 0) throw usage(`doctor takes options only: ${given.rest.join(' ')}`, 'cordon doctor')
  const [examined, engine, installed] = await Promise.all([
    examineHost(environment),
    examineEngine(environment),
    installedHooks(await allAgents(), environment),
  ])
  const hooks = installed.map(({ agent, scope, file, state, obstacles }) => ({
    agent: agent.name,
    scope,
    file,
    in_force: state === 'in force',
    state,
    problems: obstacles,
  }))
  const diagnosis: Diagnosis = { ...examined, engine, hooks }
  writeText(
    STDOUT,
    given.switches.has('json')
      ? `${JSON.stringify(diagnosis, undefined, 2)}\n`
      : renderDiagnosis(diagnosis, paintFor(STDOUT, environment)),
  )
  return diagnosis.holds ? 0 : 1
}
