// Commands and files for the sandbox interfaces of SDKs. Each command, and each look at a file, is a call of a runtime:
// it is decided, recorded, and runs in a cell with the policy of the sandbox.
import { resolve } from 'node:path'

import type { CordonError } from 'cordon/errors'
import { pathRead, pathWrite, text } from 'cordon/gate'
import { quotedWord } from 'cordon/runtime'
import type { PolicyInput } from 'cordon/policy'
import { commandWords } from 'cordon/commands'
import { createCordon, processTool } from 'cordon'
import type { CordonOptions, ResumeOptions, ToolResult } from 'cordon'
import { isMapping, withoutUndefined } from 'cordon/shapes'

import { fail } from './errors.js'

/** Those of `createCordon`. The default mode is `on_request`, because a sandbox interface has nobody to ask. */
export interface CellOptions extends Omit<CordonOptions, 'tools'> {
  /** What the commands of the sandbox may touch. Its files can be read and written as far as this allows. */
  readonly policy: PolicyInput
}

export interface CellCommand {
  readonly command: string
  /** From the workspace, if it is relative. */
  readonly cwd?: string | undefined
  readonly env?: Readonly<Record<string, string | undefined>> | undefined
  readonly signal?: AbortSignal | undefined
  readonly onOutput?: (stream: 'stdout' | 'stderr', bytes: Uint8Array) => void
}

interface CellEnd<Output> {
  readonly exitCode: number
  readonly stdout: Output
  readonly stderr: Output
}

export interface CellEntry {
  readonly name: string
  readonly type: 'file' | 'directory' | 'symlink' | 'other'
}

/** Paths are absolute, or start at the workspace. Undefined: there is no such file. */
export interface Cells {
  readonly workspace: string
  readonly run: (command: CellCommand) => Promise<CellEnd<string>>
  readonly readFile: (path: string, signal?: AbortSignal) => Promise<Uint8Array | undefined>
  /** Makes missing folders on the way. */
  readonly writeFile: (path: string, content: Uint8Array, signal?: AbortSignal) => Promise<void>
  readonly stat: (path: string, signal?: AbortSignal) => Promise<CellStat | undefined>
  readonly list: (path: string, signal?: AbortSignal) => Promise<CellEntry[] | undefined>
  /** Whether there was a file. */
  readonly remove: (path: string, signal?: AbortSignal) => Promise<boolean>
  readonly close: () => Promise<void>
}

export interface CellStat {
  readonly type: 'file' | 'directory' | 'other'
  readonly size: number
}

export const openCells = async ({ policy, ...options }: CellOptions): Promise<Cells> => {
  const workspace = resolve(options.workspace)
  const cordon = await createCordon({ mode: 'on_request', ...options, tools: toolsWith(policy) })
  const call = async (tool: string, input: unknown, listeners: ResumeOptions): Promise<CellEnd<Buffer>> =>
    endOf(await cordon.call(tool, input, listeners), listeners.signal)
  const onFile = async (tool: string, path: string, signal?: AbortSignal, content?: Uint8Array) => {
    const encoded = content === undefined ? undefined : Buffer.from(content).toString('base64')
    const input = withoutUndefined({ path: resolve(workspace, path), content: encoded })
    const end = await call(tool, input, withoutUndefined({ signal }))
    if (end.exitCode !== 0 && end.exitCode !== MISSING)
      throw refused(`${tool}: ${end.stderr.toString().trim()}`, 'look at the path and the policy')
    return end.exitCode === MISSING ? undefined : end.stdout
  }
  return {
    workspace,
    run: async ({ command, cwd, env, signal, onOutput }) => {
      const input = { script: scriptOf(command, workspace, cwd, env) }
      const { exitCode, stdout, stderr } = await call('run_command', input, {
        ...withoutUndefined({ signal }),
        onOutput: ({ stream, text: encoded }) => onOutput?.(stream, Buffer.from(encoded, 'base64')),
      })
      return { exitCode, stdout: stdout.toString(), stderr: stderr.toString() }
    },
    readFile: (path, signal) => onFile('read_file', path, signal),
    writeFile: async (path, content, signal) => {
      await onFile('write_file', path, signal, content)
    },
    stat: async (path, signal) => {
      const bytes = await onFile('stat_file', path, signal)
      const [letter, size] = bytes?.toString().trim().split(' ') ?? []
      return letter === undefined ? undefined : { type: followed(letter), size: Number(size) }
    },
    list: async (path, signal) => {
      const bytes = await onFile('list_directory', path, signal)
      const lines = bytes?.toString().split('\0').slice(0, -1)
      return lines?.map((line) => ({ type: typeOf(line), name: line.slice(2) }))
    },
    remove: async (path, signal) => (await onFile('delete_file', path, signal)) !== undefined,
    close: () => cordon.close(),
  }
}

/** The exit status of the scripts below for a path that leads nowhere. */
const MISSING = 44
/** In a folder that may not be entered nobody can tell. `cd` asks the kernel, and `[ -x` of a shell may only guess. */
const UNLESS_MISSING =
  '[ -e "$1" ] || [ -L "$1" ] || { above=$1; until above=${above%/*}; [ -e "$above/" ]; do :; done; ' +
  `cd -- "$above/" || exit 1; exit ${String(MISSING)}; }; `

const toolsWith = (policy: PolicyInput) => {
  const common = { policy, encoding: 'base64', successes: Array.from({ length: 256 }, (_, status) => status) } as const
  const onPath = (name: string, path: object, script: string) =>
    processTool({
      ...common,
      name,
      input: inputWith({ path }),
      command: (input: { path: string }) => ['sh', '-c', script, name, input.path],
    })
  return [
    processTool({
      ...common,
      name: 'run_command',
      argumentGate: 'off',
      input: inputWith({ script: text() }),
      command: ({ script }: { script: string }) => commandWords(script),
    }),
    processTool({
      ...common,
      name: 'write_file',
      input: inputWith({ path: pathWrite(), content: text() }),
      command: ({ path }: { path: string; content: string }) => [
        ...['sh', '-c', 'mkdir -p -- "${1%/*}/" && cat > "$1"', 'write_file', path],
      ],
      stdin: ({ content }) => Buffer.from(content, 'base64'),
    }),
    onPath('read_file', pathRead(), `${UNLESS_MISSING}exec cat -- "$1"`),
    onPath('stat_file', pathRead(), `${UNLESS_MISSING}exec find -L "$1" -maxdepth 0 -printf '%y %s'`),
    onPath(
      'list_directory',
      pathRead(),
      `${UNLESS_MISSING}cd -- "$1" && exec find . -mindepth 1 -maxdepth 1 -printf '%y %f\\0'`,
    ),
    onPath('delete_file', pathWrite(), `${UNLESS_MISSING}exec rm -f -- "$1"`),
  ]
}

const inputWith = (properties: Readonly<Record<string, object>>) => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
})

/** Rules about commands see the script, so folder and variables are set in it. */
const scriptOf = (
  command: string,
  workspace: string,
  cwd: string | undefined,
  env: CellCommand['env'] = {},
): string => {
  const folder = resolve(workspace, cwd ?? '')
  const variables = Object.entries(env).flatMap(([name, value]) => {
    if (!/^[A-Za-z_]\w*$/.test(name)) throw unsupported(`variable with the name ${JSON.stringify(name)}`)
    return value === undefined ? [] : [`export ${name}=${quotedWord(value)}`]
  })
  return [...(folder === workspace ? [] : [`cd -- ${quotedWord(folder)} || exit`]), ...variables, command].join('\n')
}

const endOf = (result: ToolResult, signal: AbortSignal | undefined): CellEnd<Buffer> => {
  if (result.status === 'cancelled' && signal?.aborted === true) throw signal.reason
  const { output } = result
  if (result.status !== 'ok' || !isMapping(output) || typeof output['exit_code'] !== 'number')
    throw refused(result.reason ?? 'The command was killed.', 'cordon why shows the call, if there is an audit log')
  const bytesIn = (name: 'stdout' | 'stderr') => Buffer.from(output[name] as string, 'base64')
  return { exitCode: output['exit_code'], stdout: bytesIn('stdout'), stderr: bytesIn('stderr') }
}

/** Of a letter of `find`. */
const typeOf = (line: string): CellEntry['type'] => (line.startsWith('l') ? 'symlink' : followed(line))

const followed = (line: string): CellStat['type'] =>
  line.startsWith('f') ? 'file' : line.startsWith('d') ? 'directory' : 'other'

const refused = (reason: string, fix: string): CordonError => fail('sandbox-refused', { reason, fix })

export const unsupported = (what: string, fix = 'do without it, or use a sandbox that has it'): CordonError =>
  fail('sandbox-unsupported', { what, fix })
