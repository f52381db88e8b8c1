// A sandbox for `experimental_sandbox` of the AI SDK (package `ai`, version 7). Nothing of the SDK is loaded.
import type { Experimental_SandboxProcess, Experimental_SandboxSession } from 'ai'

import { openCells, unsupported } from './cells.js'
import type { CellOptions, Cells } from './cells.js'

export type { CellOptions }

export interface AiSandbox extends Experimental_SandboxSession {
  readonly close: () => Promise<void>
}

export const aiSandbox = async (options: CellOptions): Promise<AiSandbox> => {
  const cells = await openCells(options)
  const { readFile, writeFile } = cells
  return {
    description:
      `Commands run with bash in ${cells.workspace}, each in a cell of its own with no more rights than a policy grants. ` +
      'No port is published, and nothing keeps running after its command has ended.',
    run: ({ command, workingDirectory: cwd, env, abortSignal: signal }) => cells.run({ command, cwd, env, signal }),
    spawn: (given: SpawnOptions) => spawn(cells, given) as Promise<never>,
    readFile: async ({ path, abortSignal }) => {
      const bytes = await readFile(path, abortSignal)
      return bytes === undefined ? null : new Blob([new Uint8Array(bytes)]).stream()
    },
    readBinaryFile: async ({ path, abortSignal }) => (await readFile(path, abortSignal)) ?? null,
    readTextFile: async ({ path, abortSignal, encoding, startLine = 1, endLine = Infinity }) => {
      const bytes = await readFile(path, abortSignal)
      if (bytes === undefined) return null
      const lines = new TextDecoder(encoding).decode(bytes).split(/(?<=\n)/)
      return lines.slice(startLine - 1, endLine).join('')
    },
    writeFile: async ({ path, content, abortSignal }) =>
      writeFile(path, new Uint8Array(await new Response(content).arrayBuffer()), abortSignal),
    writeBinaryFile: ({ path, content, abortSignal }) => writeFile(path, content, abortSignal),
    writeTextFile: async ({ path, content, encoding = 'utf-8', abortSignal }) => {
      if (!Buffer.isEncoding(encoding)) throw unsupported(`encoding ${JSON.stringify(encoding)}`, 'write it as bytes')
      await writeFile(path, Buffer.from(content, encoding), abortSignal)
    },
    stat: async ({ path, abortSignal }) => (await cells.stat(path, abortSignal)) ?? null,
    listDirectory: async ({ path, abortSignal }) => (await cells.list(path, abortSignal)) ?? null,
    deleteFile: ({ path, abortSignal }) => cells.remove(path, abortSignal),
    close: cells.close,
  }
}

type SpawnOptions = Parameters<Experimental_SandboxSession['spawn']>[0]

/** The exit status of a command that `kill` ended. */
const KILLED = 137

const spawn = (
  cells: Cells,
  { command, workingDirectory: cwd, env, abortSignal, stdin = false }: SpawnOptions,
): Promise<Experimental_SandboxProcess> => {
  if (stdin) return Promise.reject(unsupported('open stdin', 'write the input to a file, and read it in the command'))
  const killed = new AbortController()
  const streams = { stdout: byteStream(), stderr: byteStream() }
  const signal = abortSignal === undefined ? killed.signal : AbortSignal.any([killed.signal, abortSignal])
  const ended = cells
    .run({
      command,
      cwd,
      env,
      signal,
      onOutput: (stream, bytes) => {
        streams[stream].add(bytes)
      },
    })
    .then(({ exitCode }) => exitCode)
    .catch((error: unknown) => {
      if (killed.signal.aborted) return KILLED
      throw error
    })
    .finally(() => {
      for (const { close } of Object.values(streams)) close()
    })
  // Nobody may wait for it.
  ended.catch(() => undefined)
  return Promise.resolve({
    stdout: streams.stdout.stream,
    stderr: streams.stderr.stream,
    wait: async () => ({ exitCode: await ended }),
    kill: async () => {
      killed.abort()
      await ended.catch(() => undefined)
    },
  })
}

const byteStream = () => {
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined
  const stream = new ReadableStream<Uint8Array>({
    start: (given) => {
      controller = given
    },
    // Nobody reads it any more.
    cancel: () => {
      controller = undefined
    },
  })
  return { stream, add: (bytes: Uint8Array) => controller?.enqueue(bytes), close: () => controller?.close() }
}
