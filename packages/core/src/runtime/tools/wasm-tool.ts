import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'

import { WASI_ADVICE, fail } from '../../errors/index.js'
import type { JsonValue } from '../../gate/index.js'
import { describeValue } from '../../policy/index.js'
import type { ToolPolicy } from '../../policy/index.js'
import { isTexts } from '../../shapes/index.js'

import { noteTool } from '../describing.js'
import type { WasmWords } from '../function-cell/messages.js'
import { checkWasmToolOptions } from './check-tool-options.js'
import { pathOf } from './function-source.js'
import { realFile } from './module-files.js'
import type { GivenInputOf, InputSchema, ParsedInputOf } from './schema-type.js'
import type { WasmToolOptions } from './tool-options.js'
import { commonDefinition } from './tools.js'
import type { ProcessOutput, ToolDefinition } from './tools.js'

/** The first bytes of a module of WebAssembly, with its version. */
const MODULE = Buffer.from([0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00])

/** A tool that is a WASI 0.1 program. It runs in a Node process in a cell, and the cell is its boundary. */
export const wasmTool = <
  const Name extends string,
  const Schema extends InputSchema | undefined = undefined,
  Input = ParsedInputOf<Schema>,
>(
  options: WasmToolOptions<Name, Schema, Input>,
): ToolDefinition<Name, NoInfer<GivenInputOf<Schema, Input>>, ProcessOutput> => {
  checkWasmToolOptions(options)
  const { name, module, args, stdin, successes = [0] } = options
  const definition = commonDefinition(options)
  requireReachable(name, definition.policy)
  const path = realFile(name, pathOf(module))
  const bytes = bytesOf(name, path)
  if (!bytes.subarray(0, MODULE.length).equals(MODULE))
    throw fail('wasm-unusable', {
      tool: name,
      problem: `${path} is not a WebAssembly module of version 1`,
      fix: WASI_ADVICE,
    })
  const hash = createHash('sha256').update(bytes).digest('hex')
  const words = (input: JsonValue): WasmWords => {
    const given: unknown = args?.(input as Input) ?? []
    if (!isTexts(given))
      throw fail('option-invalid', {
        of: `the tool "${name}"`,
        option: 'args',
        expected: 'a function that returns a list of texts',
        found: `one that returns ${describeValue(given)}`,
        fix: 'return a list such as ["--count", path]',
      })
    return { args: given, stdin: stdin?.(input as Input) ?? JSON.stringify(input) }
  }
  return noteTool({
    ...definition,
    kind: 'function',
    from: { kind: 'wasm', bytes, hash, words, written: [args, stdin], successes },
    result: options.result,
  })
}

/** WASI 0.1 has neither connections nor processes. */
const requireReachable = (tool: string, policy: ToolPolicy): void => {
  const granted = (['network', 'exec'] as const).find((name) => ['list', 'all'].includes(policy[name].kind))
  const section = granted ?? (policy.credentials.length > 0 ? 'credentials' : undefined)
  if (section !== undefined)
    throw fail('wasm-unusable', {
      tool,
      problem: `its policy has "${section}", and WASI 0.1 has neither connections nor other programs`,
      fix: `remove "${section}" from its policy; if the tool needs that, declare a processTool`,
    })
}

const bytesOf = (tool: string, path: string): Buffer => {
  try {
    return readFileSync(path)
  } catch (cause) {
    throw fail('module-unreadable', { tool, module: path, cwd: process.cwd() }, cause)
  }
}
