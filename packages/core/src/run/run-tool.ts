// `cordon run` as a tool: its input, which the gate judges, rules match and the permit is bound to.
import { resolve } from 'node:path'

import { commandLine, describeTool, text } from '../gate/index.js'
import type { GateTool, JsonObject, ParsedInput } from '../gate/index.js'
import { shellWord } from '../platform/index.js'
import { policyHash } from '../policy/index.js'
import type { Boundary } from '../policy/index.js'
import { lookUp } from '../sandbox/index.js'

import type { RunOrder } from './request/run-request.js'

/** Its name in rules. Tools of models have no colon in their name. */
export const RUN_TOOL = 'cordon:run'

export const inputOf = (order: RunOrder, argv: readonly string[], searchPath: string): JsonObject => {
  return {
    argv,
    line: argv.map(shellWord).join(' '),
    program: programOf(order, argv, searchPath) ?? null,
    cwd: order.cwd,
    workspace: order.workspace,
    grants: typedGrants(order).join(' '),
    form: formOf(order),
    policy: policyHash(order.policy),
  }
}

/** A path of an image is not that of this host, so the image stands before it. Rules tell them apart. */
const programOf = ({ cwd, image }: RunOrder, [first = '']: readonly string[], searchPath: string) => {
  if (image !== undefined) return `${image} ${first}`
  return first.includes('/') ? resolve(cwd, first) : lookUp(first, searchPath)
}

const formOf = ({ backend, form, image }: RunOrder): string => {
  if (image !== undefined) return 'container'
  return backend === 'auto' ? form : `${form} ${backend}`
}

/** As typed, and policies by their names. */
const typedGrants = ({ grants, policySources }: Pick<RunOrder, 'grants' | 'policySources'>): readonly string[] => [
  ...grants,
  ...policySources.map((source) => `--policy ${shellWord(source)}`),
]

export const describeTyped = (order: RunOrder): string => {
  const named = typedGrants(order)
  return named.length === 0
    ? 'typed on the command line, with no grants'
    : `typed on the command line: ${named.join(', ')}`
}

const said = () => text({ type: 'string' })

// The argument gate does not check the words. The cell decides about the files that they name.
const SCHEMA = {
  type: 'object',
  properties: {
    argv: commandLine({ type: 'array', items: { type: 'string' } }),
    line: said(),
    program: said(),
    cwd: said(),
    workspace: said(),
    grants: said(),
    form: said(),
    policy: said(),
  },
}

export const runTool = ({ policy, workspace, home, cwd }: RunOrder, boundary: Boundary): GateTool => ({
  ...describeTool({ name: RUN_TOOL, kind: 'process', policy, workspace, home, cwd, schema: SCHEMA, parse }),
  boundary,
})

const parse = (input: unknown): ParsedInput => {
  const argv = argvOf(input)
  if (argv.length === 0 || argv[0] === '') return { kind: 'problem', problem: 'there is no command' }
  if (argv.some((word) => word.includes('\0'))) return { kind: 'problem', problem: 'no program can be given a NUL' }
  return { kind: 'input', value: input }
}

/** The words of a permitted input. */
export const argvOf = (input: unknown): readonly string[] => {
  const argv = typeof input === 'object' && input !== null && 'argv' in input ? input.argv : undefined
  return Array.isArray(argv) ? argv.filter((word): word is string => typeof word === 'string') : []
}
