// A sandbox client for agents of OpenAI (package `@openai/agents`). The root of its files is the workspace.
import { applyDiff } from '@openai/agents'
import { Manifest, normalizeSandboxClientCreateArgs } from '@openai/agents/sandbox'
import type {
  Entry,
  ExecCommandArgs,
  SandboxClient,
  SandboxClientCreateArgs,
  SandboxExecResult,
  SandboxSession,
  SandboxSessionState,
} from '@openai/agents/sandbox'

import { openCells, unsupported } from './cells.js'
import type { CellOptions, Cells } from './cells.js'

export type { CellOptions }

/** Each session has a runtime of its own, which is closed with it. */
export const openaiSandbox = (options: CellOptions): SandboxClient => ({
  backendId: 'cordon',
  create: async (args?: SandboxClientCreateArgs | Manifest) => {
    const { manifest, snapshot } = normalizeSandboxClientCreateArgs(args)
    if (snapshot !== undefined) throw unsupported('snapshot', 'leave out "snapshot"')
    if (manifest.users.length + manifest.groups.length > 0) throw unsupported('user of its own')
    if (manifest.extraPathGrants.length > 0) throw unsupported('extra path grant', 'grant the path in the policy')
    const cells = await openCells(options)
    const { entries, environment } = manifest
    const session = sessionOf(cells, { manifest: new Manifest({ root: cells.workspace, entries, environment }) })
    try {
      await materialize(cells, '', { type: 'dir', children: entries })
      return session
    } catch (error) {
      await cells.close()
      throw error
    }
  },
})

const sessionOf = (cells: Cells, state: SandboxSessionState): SandboxSession => {
  const exec = async (args: ExecCommandArgs): Promise<SandboxExecResult> => {
    const { cmd: command, workdir: cwd, tty = false, runAs } = args
    if (tty) throw unsupported('terminal', 'run the command with tty: false')
    refuseUser(runAs)
    const started = Date.now()
    const { exitCode, stdout, stderr } = await cells.run({ command, cwd, env: state.environment })
    const wallTimeSeconds = (Date.now() - started) / 1000
    return { output: `${stdout}${stderr}`, stdout, stderr, wallTimeSeconds, exitCode }
  }
  const read = async (path: string, runAs?: string): Promise<Uint8Array> => {
    refuseUser(runAs)
    const bytes = await cells.readFile(path)
    if (bytes === undefined) throw new Error(`There is no file ${JSON.stringify(path)}.`)
    return bytes
  }
  return {
    state,
    exec,
    execCommand: async (args) => {
      const { exitCode, output } = await exec(args)
      return shortened(`Process exited with code ${String(exitCode)}\nOutput:\n${output}`, args.maxOutputTokens)
    },
    readFile: async ({ path, runAs, maxBytes }) => (await read(path, runAs)).subarray(0, maxBytes),
    viewImage: async ({ path, runAs }) => {
      const mediaType = IMAGES[/[^.]*$/.exec(path.toLowerCase())?.[0] ?? '']
      if (mediaType === undefined) throw unsupported('image of this type', 'use png, jpeg, gif or webp')
      return { type: 'image', image: { data: new Uint8Array(await read(path, runAs)), mediaType } }
    },
    listDir: async ({ path, runAs }) => {
      refuseUser(runAs)
      const found = await cells.list(path)
      if (found === undefined) throw new Error(`There is no folder ${JSON.stringify(path)}.`)
      return found.map(({ name, type }) => ({
        name,
        path: `${path}/${name}`,
        type: type === 'directory' ? 'dir' : type === 'file' ? 'file' : 'other',
      }))
    },
    pathExists: async (path) => (await cells.stat(path)) !== undefined,
    directoryExists: async (path) => (await cells.stat(path))?.type === 'directory',
    materializeEntry: ({ path, entry }) => materialize(cells, path, entry),
    applyManifest: ({ entries }) => materialize(cells, '', { type: 'dir', children: entries }),
    createEditor: (runAs) => {
      refuseUser(runAs)
      const write = (path: string, content: string) => cells.writeFile(path, Buffer.from(content))
      return {
        createFile: ({ path, diff }) => write(path, applyDiff('', diff, 'create')),
        updateFile: async ({ path, diff, moveTo }) => {
          await write(moveTo ?? path, applyDiff(Buffer.from(await read(path)).toString(), diff))
          if (moveTo !== undefined && moveTo !== path) await cells.remove(path)
        },
        deleteFile: async ({ path }) => {
          await cells.remove(path)
        },
      }
    },
    supportsPty: () => false,
    writeStdin: () => Promise.reject(unsupported('process that keeps running', 'write the input to a file')),
    resolveExposedPort: (port) => Promise.reject(unsupported(`published port ${String(port)}`)),
    persistWorkspace: () => Promise.reject(unsupported('snapshot', 'its files are those of the workspace: copy them')),
    hydrateWorkspace: () => Promise.reject(unsupported('snapshot', 'put the files into the workspace')),
    close: cells.close,
  }
}

const IMAGES: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
}

/** Writes entries of a manifest as far as the policy allows. */
const materialize = async (cells: Cells, path: string, entry: Entry): Promise<void> => {
  if (entry.type === 'file') return cells.writeFile(path, Buffer.from(entry.content as string))
  if (entry.type !== 'dir')
    throw unsupported(`entry of the type ${entry.type}`, 'use files and folders in the manifest')
  for (const [name, child] of Object.entries((entry as { children?: Record<string, Entry> }).children ?? {}))
    await materialize(cells, path === '' ? name : `${path}/${name}`, child)
}

const refuseUser = (runAs: string | undefined): void => {
  if (runAs !== undefined) throw unsupported('user of its own', 'leave out "runAs"')
}

const CHARACTERS_PER_TOKEN = 4

const shortened = (text: string, tokens: number | undefined): string => {
  const most = (tokens ?? Infinity) * CHARACTERS_PER_TOKEN
  return text.length <= most ? text : `${text.slice(0, most)}\n[cut: ${String(text.length - most)} characters]`
}
