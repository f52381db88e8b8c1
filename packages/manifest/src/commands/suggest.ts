// `cordon manifest suggest TOOL`: prints the least policy that the code of a tool needs.
import { nearestKey } from 'cordon/policy'

import { STDOUT, usage, writeText } from 'cordon/commands'

import { manifestAction } from './manifest.js'
import { projectRequestOf } from '../project/project-request.js'
import { withCompiler } from '../project/with-compiler.js'

const COMMAND = 'cordon manifest suggest'
const EXIT_INCOMPLETE = 1

export const suggest = manifestAction(async (line) => {
  const [, name, ...others] = line.given.rest
  if (name === undefined || others.length > 0) throw usage('suggest takes one tool', COMMAND)
  const { folder, home } = projectRequestOf(line)
  const places = { workspace: folder, home }
  const [{ toolsInCode }, { suggestPolicy }] = await withCompiler(() =>
    Promise.all([import('../project/project-code.js'), import('../project/suggest-policy.js')]),
  )
  const tools = toolsInCode(places)
  const named = tools.filter(({ site }) => site.name === name)
  const [tool] = named
  if (tool === undefined) {
    const names = [...new Set(tools.flatMap(({ site }) => site.name ?? []))].sort()
    const near = nearestKey(name, names)
    throw usage(
      `the code in ${folder} has no tool ${name} whose options are written out`,
      COMMAND,
      near === undefined ? `tools there: ${names.join(', ') || 'none'}` : `did you mean: ${COMMAND} ${near}?`,
    )
  }
  if (named.length > 1) throw usage(`the code in ${folder} has ${String(named.length)} tools ${name}`, COMMAND)
  const { text, isComplete } = suggestPolicy(tool, places)
  writeText(STDOUT, text)
  return isComplete ? 0 : EXIT_INCOMPLETE
})
