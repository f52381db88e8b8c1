// Runs inside a cell: a WASI module as a program, with files for its streams. Node's WASI is no boundary. The cell is.
import { closeSync, mkdtempSync, openSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

import type { WasmOrigin, WasmWords } from './messages.js'

// The library of TypeScript declares it for browsers only.
type Module = { readonly compiled: never }
interface Named {
  readonly module: string
  readonly name: string
  readonly kind: string
}
declare const WebAssembly: {
  readonly compile: (bytes: Uint8Array) => Promise<Module>
  readonly instantiate: (module: Module, imports: object) => Promise<object>
  readonly Module: {
    readonly exports: (module: Module) => readonly Named[]
    readonly imports: (module: Module) => readonly Named[]
  }
}

/** Where every module finds the private folder of its cell. */
const SCRATCH = '/tmp'
const LONGEST_COMPLAINT = 2_000

interface Ended {
  readonly exit_code: number
  readonly stdout: string
  readonly stderr: string
}

/** Compiles the module, which runs nothing of it, and returns what runs it once. */
export const loadWasm = async ({
  bytes,
  grants,
  successes,
}: WasmOrigin): Promise<(input: unknown) => Promise<Ended>> => {
  const module = await WebAssembly.compile(Buffer.from(bytes, 'base64'))
  requireCommand(module)
  // Node warns that its WASI is experimental.
  process.removeAllListeners('warning')
  const { WASI } = await import('node:wasi')
  const run = async (program: Module, options: object): Promise<number> => {
    const wasi = new WASI({ version: 'preview1', returnOnExit: true, ...options })
    return wasi.start(await WebAssembly.instantiate(program, wasi.getImportObject()))
  }
  const streams = openStreams()
  // Node compiles its own part of WASI with the first program. That is not to be waited for in the call.
  const [stdin, stdout, stderr] = ['r', 'w', 'w'].map((mode) => openSync('/dev/null', mode))
  await run(await WebAssembly.compile(EMPTY_PROGRAM), { stdin, stdout, stderr })
  return async (input) => {
    const words = input as WasmWords
    writeFileSync(streams.input, words.stdin)
    const code = await run(module, {
      args: ['module', ...words.args],
      env: { ...process.env, TMPDIR: SCRATCH },
      preopens: { ...foldersOf(grants), [SCRATCH]: tmpdir() },
      ...streams.descriptors,
    })
    const ended = { exit_code: code, ...streams.written() }
    if (successes.includes(code)) return ended
    throw new Error(`it ended with the status ${code}${complaintOf(ended.stderr)}`)
  }
}

// (module (memory (export "memory") 1) (func (export "_start")))
const EMPTY_PROGRAM = Buffer.from(
  '0061736d01000000010401600000030201000503010001071302066d656d6f72790200065f737461727400000a040102000b',
  'hex',
)

const openStreams = () => {
  const folder = mkdtempSync(join(tmpdir(), 'wasi-'))
  const [stdin, stdout, stderr] = ['stdin', 'stdout', 'stderr'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ]
  const input = openSync(stdin, 'w')
  return {
    input,
    descriptors: { stdin: openSync(stdin, 'r'), stdout: openSync(stdout, 'w'), stderr: openSync(stderr, 'w') },
    written: () => ({ stdout: textOf(stdout), stderr: textOf(stderr) }),
  }
}

const textOf = (path: string): string => readFileSync(path, 'utf8')

const complaintOf = (stderr: string): string => {
  const text = stderr.trim()
  return text === '' ? '' : `: ${text.slice(-LONGEST_COMPLAINT)}`
}

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
