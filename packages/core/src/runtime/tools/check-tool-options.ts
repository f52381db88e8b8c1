import { isStandardSchema } from '../../gate/index.js'
import type { DestructiveFacts } from '../../gate/index.js'
import { isMapping, list, oneOf, such, yesOrNo } from '../../shapes/index.js'

import { aCount, aFunction, aText, shapeOfCheck, mapping, mappingWith, optionPlace } from '../option-checks.js'
import type { ShapesOf } from '../option-checks.js'
import type { ResultLimits } from '../result/result-limits.js'
import type { InputSchema } from './schema-type.js'
import type { ContainerToolOptions, FunctionToolOptions, ProcessToolOptions, WasmToolOptions } from './tool-options.js'

const anything = shapeOfCheck<never>(() => undefined)

const destructiveFacts = mappingWith<DestructiveFacts>({
  options: { impactScope: aText('what is destroyed, in words'), rollbackAdvice: aText('how to get it back, in words') },
  required: ['impactScope', 'rollbackAdvice'],
  expected: 'what a call destroys, { impactScope, rollbackAdvice }, or a function of the input that gives it',
})

const COMMON = {
  name: aText('a name'),
  description: such<string>('a text', (value) => typeof value === 'string'),
  input: such<never>(
    'a schema: of zod, valibot or another library of Standard Schema, or a JSON Schema',
    (value) => isStandardSchema(value) || isMapping(value),
  ),
  // Checked later, with errors that name the place.
  policy: such<never>('a policy', (value) => typeof value !== 'string', {
    fix: "a file is read with policyFrom('./policy.yaml')",
  }),
  constraints: anything,
  cwd: aText('the path of a folder'),
  destructive: shapeOfCheck<never>((value, place) => {
    if (typeof value !== 'function') destructiveFacts.read(value, place)
  }),
  argumentGate: oneOf('enforced', 'off'),
  observe: yesOrNo(),
} as const

const exitStatuses = list(
  such<number>(
    'an exit status, 0 to 255',
    (value) => Number.isInteger(value) && Number(value) >= 0 && Number(value) <= 255,
  ),
  { expected: 'a list of exit statuses' },
)
const moduleFile = such<string | URL>(
  'the path or the file: URL of a module',
  (value) => (typeof value === 'string' && value !== '') || (value instanceof URL && value.protocol === 'file:'),
  { fix: 'write it like new URL("./tool.mjs", import.meta.url)' },
)
const resultLimits = mapping<ResultLimits>(
  { bytes: aCount('bytes'), elements: aCount('values and keys') },
  'result: { bytes: 8 * 1024 * 1024, elements: 200_000 }',
)

const PROCESS: ShapesOf<ProcessToolOptions<string, InputSchema, unknown>> = {
  ...COMMON,
  command: aFunction(
    'a function that gives a list of words',
    'write it like command: ({ path }) => ["wc", "-l", path]; no shell reads the words',
  ),
  stdin: aFunction('a function that gives a text or bytes', 'write it like stdin: ({ text }) => text'),
  encoding: oneOf('utf8', 'base64'),
  successes: exitStatuses,
}

const CONTAINER: ShapesOf<ContainerToolOptions<string, InputSchema, unknown>> = {
  ...PROCESS,
  image: aText('an image of the container engine'),
  runtime: aText('the name of an OCI runtime'),
}

const FUNCTION: ShapesOf<FunctionToolOptions<string, InputSchema, unknown, unknown>> = {
  ...COMMON,
  run: aFunction('a function', 'write it like run: async ({ path }) => { … }'),
  module: moduleFile,
  export: aText('the name of a function that the module exports'),
  inProcess: yesOrNo(),
  result: resultLimits,
}

const WASM: ShapesOf<WasmToolOptions<string, InputSchema, unknown>> = {
  ...COMMON,
  module: moduleFile,
  args: aFunction('a function that gives a list of words', 'write it like args: ({ path }) => ["-l", path]'),
  stdin: aFunction('a function that gives a text', 'write it like stdin: ({ text }) => text'),
  successes: exitStatuses,
  result: resultLimits,
}

/** Throws where the options of a tool are wrong. `maker`: the function that they are given to. */
const checker = <Options>(
  maker: string,
  options: ShapesOf<Options>,
  required: readonly (keyof Options)[],
  least: string,
): ((given: unknown) => void) => {
  const shape = mappingWith({ options, required, expected: `a mapping with at least ${least}` })
  return (given) => {
    const isNamed = isMapping(given) && typeof given['name'] === 'string'
    shape.read(given, optionPlace(isNamed ? `the tool "${String(given['name'])}"` : `${maker}()`))
  }
}

export const checkProcessToolOptions = checker('processTool', PROCESS, ['name', 'command'], 'a name and a command')
export const checkContainerToolOptions = checker(
  'containerTool',
  CONTAINER,
  ['name', 'image', 'command'],
  'a name, an image and a command',
)
export const checkWasmToolOptions = checker('wasmTool', WASM, ['name', 'module'], 'a name and a module')
export const checkFunctionToolOptions = checker('tool', FUNCTION, ['name'], 'a name and a function (run) or a module')
