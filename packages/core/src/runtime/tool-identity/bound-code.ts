// The code that one call would run, as a hash. A ticket is bound to it: an approval is for this code only.
import { createHash } from 'node:crypto'
import { createReadStream, readdirSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'

import { CordonError, codeOf } from '../../errors/index.js'
import { hashOf, readArgv, stringsOf } from '../../gate/index.js'
import type { CallInputs, CommandReading, JsonValue } from '../../gate/index.js'
import { jsonOfFile, realPathOf } from '../../platform/index.js'
import { lookUp, SYSTEM_PATH } from '../../sandbox/index.js'
import { isMapping } from '../../shapes/index.js'

import type { BoundTool } from '../tools/bound-tool.js'
import { pathOf, sourceOnHost } from '../tools/function-source.js'
import { moduleFiles, packageNamed } from '../tools/module-files.js'
import type { FunctionSource, ToolOfKind } from '../tools/tools.js'

export interface BoundCode {
  readonly hash: string
  /** What the hash does not cover. */
  readonly unbound: readonly string[]
}

export const boundCode = async (tool: BoundTool, inputs: CallInputs): Promise<BoundCode> => {
  const { definition, workspace, cwd } = tool
  const { code, unbound } = await codeOfCall(tool, inputs)
  return { hash: hashOf([definition.kind, workspace, cwd, code]), unbound }
}

interface Code {
  readonly code: JsonValue
  readonly unbound: readonly string[]
}

const codeOfCall = async (tool: BoundTool, { call, command = [] }: CallInputs): Promise<Code> => {
  const { definition } = tool
  switch (definition.kind) {
    case 'process': {
      const { stdin, container } = definition
      const reading = readArgv(command)
      const files = filesNamed(tool, reading, call)
      const code = {
        words: command,
        stdin: stdin === undefined ? null : digestOf(stdin(call)),
        container: container === undefined ? null : [container.image, container.runtime ?? null],
        files: await contentsOf(files),
      }
      return {
        code,
        unbound: [
          ...(isKnown(reading) ? [] : ['files that only the shell of its command finds']),
          ...(searchPathOf(tool) === undefined ? ['programs in the folders of the PATH that it is passed'] : []),
          ...(container === undefined || container.image.includes('@') ? [] : ['the image that its tag means']),
        ],
      }
    }
    case 'in-process':
      return { code: String(definition.run), unbound: gapOfFunction(definition) }
    case 'mcp':
      return { code: [definition.server.name, definition.name], unbound: ['the code of its server'] }
    case 'function':
      return codeOfFunction(definition.name, definition.from, call)
  }
}

const codeOfFunction = async (tool: string, from: FunctionSource, input: JsonValue): Promise<Code> => {
  switch (from.kind) {
    case 'function':
      return { code: String(from.run), unbound: [] }
    case 'module': {
      const { path, code, packages, gaps } = moduleFiles(tool, pathOf(from.path))
      const { files, isCut } = packageFiles(packages)
      return {
        code: [path, from.name, await contentsOf([...code, ...files])],
        unbound: [...gaps, ...(isCut ? ['some files of its packages, which have too many'] : [])],
      }
    }
    case 'wasm': {
      const { args, stdin } = from.words(input)
      return { code: [from.hash, args, digestOf(stdin), from.successes], unbound: [] }
    }
  }
}

/** A function in this process may use any variable of its file. */
const gapOfFunction = ({ name, run }: ToolOfKind<'in-process'>): readonly string[] => {
  try {
    sourceOnHost(name, run)
    return []
  } catch (error) {
    if (!(error instanceof CordonError)) throw error
    return ['variables that its function uses from outside of itself']
  }
}

const WORD_JOINTS = /[=@,:]/

/**
 * Every file that a word of the command could name, also of a shell line: the script is one of them. A path that the
 * call is declared to change (`pathWrite`) is not code. Most paths do not exist, and must not appear either.
 */
const filesNamed = (tool: BoundTool, { parts, mentioned }: CommandReading, input: JsonValue): readonly string[] => {
  const { cwd, gate } = tool
  const searchPath = searchPathOf(tool) ?? SYSTEM_PATH
  const changed = new Set(
    stringsOf(input, gate.marks).flatMap(({ text, marks }) => (marks.has('path-write') ? [text] : [])),
  )
  return [...parts.map(({ words }) => words), mentioned].flatMap((words) =>
    words.flatMap(({ text }, at) => {
      const program = at === 0 && !text.includes('/') ? lookUp(text, searchPath) : undefined
      const pieces = [text, ...(WORD_JOINTS.test(text) ? text.split(WORD_JOINTS) : [])]
      const named = pieces.filter((piece) => piece !== '' && piece.length < LONGEST_PATH && !changed.has(piece))
      return [...(program === undefined ? [] : [program]), ...named.map((piece) => resolve(cwd, piece))]
    }),
  )
}

const LONGEST_PATH = 4096

/** Where its programs are found. Undefined: it is known only when the tool runs. */
const searchPathOf = ({ gate: { boundary } }: BoundTool): string | undefined => {
  const path = boundary.environment.find(({ name }) => name === 'PATH')
  if (path === undefined) return SYSTEM_PATH
  return path.value.kind === 'set' ? path.value.text : undefined
}

const MOVES: readonly (string | undefined)[] = ['cd', 'pushd', 'popd', 'source', '.', 'eval']

/** Whether the words say all: no variable or glob among them, and no change of the folder. */
const isKnown = ({ parts, mentioned }: CommandReading): boolean =>
  [...parts.flatMap(({ words }) => words), ...mentioned].every((word) => word.isKnown) &&
  !parts.some(({ words }) => MOVES.includes(words[0]?.text))

/** Programs of the system belong to its administrator. They differ between hosts that resume each other's calls. */
const IS_SYSTEM = /^\/(?:usr\/(?!local\/)|bin\/|sbin\/|lib|nix\/store\/)/

const contentsOf = async (paths: readonly string[]): Promise<JsonValue> => {
  const found: JsonValue[] = []
  for (const path of [...new Set(paths)].sort()) found.push([path, IS_SYSTEM.test(path) ? null : await fileAt(path)])
  return found
}

/** A larger file is bound by its identity, which is another one on every host. */
const MOST_BYTES = 256 << 20

/** Null if there is no such file. */
const fileAt = async (path: string): Promise<JsonValue> => {
  try {
    const found = await stat(path)
    if (!found.isFile()) return null
    if (found.size > MOST_BYTES) return [found.ino, found.size, found.ctimeMs]
    const hash = createHash('sha256')
    for await (const bytes of createReadStream(path)) hash.update(bytes as Buffer)
    return hash.digest('hex')
  } catch (error) {
    return codeOf(error) ?? 'unreadable'
  }
}

const digestOf = (content: string | Uint8Array): string => createHash('sha256').update(content).digest('hex')

const MOST_FILES = 20_000

/** The files of packages, with those of the packages that they depend on. `isCut`: there are more. */
const packageFiles = (folders: readonly string[]): { readonly files: readonly string[]; readonly isCut: boolean } => {
  const files: string[] = []
  const seen = new Set<string>()
  const queue = folders.map(realOrGiven)
  for (let folder = queue.pop(); folder !== undefined; folder = queue.pop()) {
    if (seen.has(folder)) continue
    seen.add(folder)
    for (const { parentPath, name } of filesIn(folder)) {
      if (files.length >= MOST_FILES) return { files, isCut: true }
      files.push(join(parentPath, name))
    }
    const settings = join(folder, 'package.json')
    queue.push(
      ...dependenciesOf(settings)
        .flatMap((name) => packageNamed(name, settings) ?? [])
        .map(realOrGiven),
    )
  }
  return { files, isCut: false }
}

const realOrGiven = (folder: string): string => realPathOf(folder) ?? folder

/** Also links: what they lead to is part of the code. */
const filesIn = (folder: string) => {
  try {
    return readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => !entry.isDirectory())
  } catch {
    return []
  }
}

const dependenciesOf = (settings: string): readonly string[] => {
  const read = jsonOfFile(settings)
  return ['dependencies', 'optionalDependencies', 'peerDependencies'].flatMap((key) =>
    isMapping(read) && isMapping(read[key]) ? Object.keys(read[key]) : [],
  )
}
