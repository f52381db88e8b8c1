import type { AbsolutePath } from '../policy/index.js'
import { isMapping } from '../shapes/index.js'

import type { CallPath } from './arguments/argument-gate.js'
import { isList } from './input/canonical-json.js'
import { programName, readArgv, readCommand } from './commands/command-line.js'
import type { CommandReading } from './commands/command-line.js'
import { foldedNames } from './arguments/folded-path.js'
import type { JsonValue } from './input/json-value.js'
import type { MarkTree } from './arguments/mark-tree.js'
import { normalisedPath, readPaths } from './arguments/path-spelling.js'
import type { CommandPart } from './commands/line-reader.js'
import type { GateTool } from './tool.js'
import { readUrl } from './arguments/url-spelling.js'
import type { UrlTarget } from './arguments/url-spelling.js'

/** The facts about a call that rules can test. */
export interface RuleFacts {
  readonly tool: string
  readonly input: JsonValue
  /** Named by arguments. An allow has to cover all of them. */
  readonly paths: readonly CallPath[]
  readonly urls: readonly UrlTarget[]
  readonly commands: readonly CommandReading[]
  /** Possible URLs in the words of a command. A denial counts them, an allow does not. */
  readonly suspectedUrls: readonly UrlTarget[]
  /** All paths, in every reading, and possible ones in the words of a command, as denials compare them. */
  readonly folded: readonly FoldedPath[]
}

interface FoldedPath {
  readonly names: readonly string[]
  readonly access: CallPath['access']
}

interface GatedCall {
  readonly tool: GateTool
  readonly input: JsonValue
  readonly paths: readonly CallPath[]
  readonly urls: readonly UrlTarget[]
  /** The command of the tool, as words. */
  readonly argv: readonly string[] | undefined
}

export const factsOf = ({ tool, input, paths, urls, argv }: GatedCall): RuleFacts => {
  const commands = commandsOf(tool, input, argv)
  const parts = commands.flatMap((command) => [...command.parts, { words: command.mentioned }])
  const suspectedPaths = parts.flatMap(({ words }) => words.flatMap(({ text }) => pathsInWord(text, tool)))
  return {
    tool: tool.name,
    input,
    paths,
    urls,
    commands,
    suspectedUrls: parts.flatMap(urlsInCommand),
    folded: foldAll(paths, suspectedPaths),
  }
}

const foldAll = (paths: readonly CallPath[], suspected: readonly AbsolutePath[]): readonly FoldedPath[] => {
  const folded: FoldedPath[] = []
  for (const { path, spelled, access } of paths) {
    folded.push({ names: foldedNames(path), access })
    if (spelled !== path) folded.push({ names: foldedNames(spelled), access })
  }
  for (const path of suspected) folded.push({ names: foldedNames(path), access: 'any' })
  return folded
}

const commandsOf = (
  tool: GateTool,
  input: JsonValue,
  argv: readonly string[] | undefined,
): readonly CommandReading[] => {
  const marked: CommandReading[] = []
  findCommands(input, tool.marks, marked)
  const ofTool = argv === undefined ? [] : [readArgv(argv)]
  return [...ofTool, ...marked, ...(marked.length > 0 ? [] : commandsByName(input))]
}

const findCommands = (value: JsonValue | undefined, tree: MarkTree | undefined, found: CommandReading[]): void => {
  if (value === undefined || tree === undefined) return
  const reading = tree.marks.has('command') ? readAny(value) : undefined
  if (reading !== undefined) found.push(reading)
  else if (isList(value)) for (const item of value) findCommands(item, tree.each, found)
  else if (isMapping(value))
    for (const [key, child] of Object.entries(value)) findCommands(child, tree.keys.get(key) ?? tree.each, found)
}

/** The usual names of a parameter for commands, so that a denial works without a mark. */
const COMMAND_KEYS = ['command', 'cmd', 'script', 'argv']

const commandsByName = (input: JsonValue): readonly CommandReading[] =>
  isMapping(input)
    ? COMMAND_KEYS.flatMap((key) => (Object.hasOwn(input, key) ? (readAny(input[key] ?? null) ?? []) : []))
    : []

const readAny = (value: JsonValue): CommandReading | undefined => {
  if (typeof value === 'string') return readCommand(value)
  return isList(value) && value.every((item) => typeof item === 'string') ? readArgv(value) : undefined
}

const MAX_WORD = 4096
/** With a slash, a tilde or a dot. A bare word is more often a subcommand than a file. */
const PATH_LIKE = /[/~.]/
// dd of=/x, curl -d @/x, docker -v /x:/y
const WORD_JOINTS = /[=@,:]/

const pathsInWord = (word: string, { places }: GateTool): readonly AbsolutePath[] => {
  if (!PATH_LIKE.test(word) || word.length > MAX_WORD) return []
  const pieces = WORD_JOINTS.test(word)
    ? [word, ...word.split(WORD_JOINTS).filter((piece) => PATH_LIKE.test(piece))]
    : [word]
  return pieces.flatMap((piece) => {
    const read = readPaths(piece, places, true)
    return read.kind === 'unreadable' ? [] : read.readings.flatMap(({ path }) => normalisedPath(path) ?? [])
  })
}

const NETWORK_PROGRAMS = new Set(
  'curl wget nc ncat netcat socat telnet ssh scp sftp rsync ftp git http https xh aria2c ping dig host nslookup'.split(
    ' ',
  ),
)
const BARE_HOST = /^(?:[^@/]*@)?(?<host>[a-z0-9_-]+(?:\.[a-z0-9_-]+)+)(?::(?<port>\d{1,5}))?(?:[:/?#]|$)/i

/** URLs among the words. For network programs, words that look like a host too. */
const urlsInCommand = ({ words }: Pick<CommandPart, 'words'>): readonly UrlTarget[] => {
  const dials = words.some(({ text }) => NETWORK_PROGRAMS.has(programName(text)))
  return words.flatMap(({ text }) => {
    if (text.length > MAX_WORD) return []
    const { host, port } = (dials ? BARE_HOST.exec(text)?.groups : undefined) ?? {}
    const read = readUrl(host === undefined ? text : `http://${host}${port === undefined ? '' : `:${port}`}`, false)
    return read.kind === 'url' ? [read.target] : []
  })
}
