// Runs inside a cell: a WASI module as a program. Node's WASI is no boundary. The cell is.
import { closeSync, mkdtempSync, openSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

import type { WasmOrigin, WasmWords } from './messages.js'
import { passOnOutput } from './wasm-output.js'
import type { WasiCalls, WriteOutput } from './wasm-output.js'

// The library of TypeScript declares it for browsers only.
type Module = { readonly compiled: never }
interface Instance {
  readonly exports: { readonly memory?: { readonly buffer: ArrayBuffer } }
}
interface Named {
  readonly module: string
  readonly name: string
  readonly kind: string
}
declare const WebAssembly: {
  readonly compile: (bytes: Uint8Array) => Promise<Module>
  readonly instantiate: (module: Module, imports: object) => Promise<Instance>
  readonly Module: {
    readonly exports: (module: Module) => readonly Named[]
    readonly imports: (module: Module) => readonly Named[]
  }
}

/** Where every module finds the private folder of its cell. */
const SCRATCH = '/tmp'

/** Compiles the module, which runs nothing of it, and returns what runs it once and answers with its exit status. */
export const loadWasm = async (
  { bytes, grants }: WasmOrigin,
  write: WriteOutput,
): Promise<(input: unknown) => Promise<number>> => {
  const module = await WebAssembly.compile(Buffer.from(bytes, 'base64'))
  requireCommand(module)
  // Node warns that its WASI is experimental.
  process.removeAllListeners('warning')
  const { WASI } = await import('node:wasi')
  const input = join(mkdtempSync(join(tmpdir(), 'wasi-')), 'stdin')
  writeFileSync(input, '')
  // The module's output does not get to these descriptors: it is passed on while the module runs.
  const streams = {
    stdin: openSync(input, 'r'),
    stdout: openSync('/dev/null', 'w'),
    stderr: openSync('/dev/null', 'w'),
  }
  const run = async (program: Module, options: object): Promise<number> => {
    const wasi = new WASI({ version: 'preview1', returnOnExit: true, ...streams, ...options })
    const { wasi_snapshot_preview1: calls } = wasi.getImportObject() as { readonly wasi_snapshot_preview1: WasiCalls }
    const running: { instance?: Instance } = {}
    const output = passOnOutput(calls, () => running.instance?.exports.memory?.buffer, write)
    running.instance = await WebAssembly.instantiate(program, { wasi_snapshot_preview1: { ...calls, ...output } })
    return wasi.start(running.instance)
  }
  // Node compiles its own part of WASI with the first program. That is not to be waited for in the call.
  await run(await WebAssembly.compile(EMPTY_PROGRAM), {})
  return async (given) => {
    const words = given as WasmWords
    writeFileSync(input, words.stdin)
    return run(module, {
      args: ['module', ...words.args],
      env: { ...process.env, TMPDIR: SCRATCH },
      preopens: { ...foldersOf(grants), [SCRATCH]: tmpdir() },
    })
  }
}

// (module (memory (export "memory") 1) (func (export "_start")))
const EMPTY_PROGRAM = Buffer.from(
  '0061736d01000000010401600000030201000503010001071302066d656d6f72790200065f737461727400000a040102000b',
  'hex',
)

const requireCommand = (module: Module): void => {
  if (!WebAssembly.Module.exports(module).some(({ name, kind }) => name === '_start' && kind === 'function'))
    throw new TypeError('the module exports no function _start: build it as a WASI command, not as a library')
  const other = WebAssembly.Module.imports(module).find((each) => each.module !== 'wasi_snapshot_preview1')
  if (other !== undefined)
    throw new TypeError(
      `the module imports ${other.module}.${other.name}, and gets only WASI 0.1 (wasi_snapshot_preview1)`,
    )
}

/** A module sees only these folders, by the same paths. The working directory is `.`, if it can be opened. */
const foldersOf = (grants: readonly string[]): Readonly<Record<string, string>> => {
  const folders = new Set(grants.map((path) => (isFolder(path) ? path : dirname(path))).filter(canOpen))
  return { ...Object.fromEntries([...folders].map((path) => [path, path])), ...(canOpen('.') ? { '.': '.' } : {}) }
}

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true

/** One folder that cannot be opened would end the whole module. */
const canOpen = (path: string): boolean => {
  try {
    closeSync(openSync(path, 'r'))
    return true
  } catch {
    return false
  }
}
