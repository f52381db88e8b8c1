import { splitLine } from './shell-line.js'
import type { CommandPart } from './shell-line.js'
import type { Word } from './shell-words.js'

/** The commands that a call would execute. */
export interface CommandReading {
  /** One command of plain words: only such a reading can be matched by an allow. */
  readonly isPlain: boolean
  /** Every command that was found, also inside of substitutions and of `sh -c '…'`. */
  readonly parts: readonly CommandPart[]
  /** Words that are of no command: targets of redirections, lists of loops and the like. */
  readonly mentioned: readonly Word[]
}

const MAX_NESTING = 6
const MAX_PARTS = 256
const MAX_LENGTH = 256 * 1024

/** Stands for commands that nobody looked at: there may be anything, so every denial fits. */
const UNSEEN: CommandPart = { words: [{ text: '', isKnown: false }], startsAnywhere: true }

/** Reads a command line as a shell would. */
export const readCommand = (line: string): CommandReading => {
  const found: Found = { parts: [], mentioned: [] }
  const isPlain = readInto(line, found, 0)
  return { isPlain, ...found }
}

/** Reads words that are executed as they are, without a shell. */
export const readArgv = (argv: readonly string[]): CommandReading => {
  const words = argv.map((text): Word => ({ text, isKnown: true }))
  const parts: CommandPart[] = words.length === 0 ? [] : [{ words, startsAnywhere: startsLater(words) }]
  const { lines } = linesWithin({ words })
  const found: Found = { parts, mentioned: [] }
  for (const line of lines) readInto(line, found, 1)
  return { isPlain: words.length > 0 && lines.length === 0, ...found }
}

interface Found {
  readonly parts: CommandPart[]
  readonly mentioned: Word[]
}

const readInto = (line: string, found: Found, depth: number): boolean => {
  const { parts, mentioned } = found
  if (depth > MAX_NESTING || parts.length >= MAX_PARTS || line.length > MAX_LENGTH) {
    addUnseen(parts)
    return false
  }
  const split = splitLine(line)
  let isPlain = split.isPlain
  if (split.isUnreadable) addUnseen(parts)
  mentioned.push(...split.mentioned)
  for (const part of split.parts) {
    if (parts.length >= MAX_PARTS) {
      addUnseen(parts)
      return false
    }
    parts.push({ words: part.words, startsAnywhere: part.startsAnywhere || startsLater(part.words) })
    const { lines, isUnseen } = linesWithin(part)
    if (isUnseen) addUnseen(parts)
    if (lines.length > 0 || isUnseen) isPlain = false
    for (const inner of lines) readInto(inner, found, depth + 1)
  }
  for (const inner of split.inner) readInto(inner, found, depth + 1)
  return isPlain
}

const addUnseen = (parts: CommandPart[]): void => {
  if (!parts.includes(UNSEEN)) parts.push(UNSEEN)
}

/** Programs and words whose arguments contain another command. */
const WRAPPERS = new Set([
  ...['sudo', 'doas', 'su', 'env', 'nice', 'ionice', 'nohup', 'setsid', 'timeout', 'time', 'stdbuf', 'chroot', 'unshare', 'nsenter', 'setpriv', 'runuser', 'chrt', 'taskset'],
  ...['xargs', 'parallel', 'find', 'fd', 'watch', 'strace', 'ltrace', 'gdb', 'script', 'flock', 'busybox', 'toybox', 'ssh', 'docker', 'podman', 'kubectl', 'npx', 'bunx'],
  ...['exec', 'command', 'builtin', 'eval', 'trap', 'bwrap', 'firejail', 'cordon'],
])
const SHELLS = new Set(['sh', 'bash', 'zsh', 'dash', 'ksh', 'mksh', 'ash', 'fish', 'busybox', 'su', 'script', 'flock', 'env', 'nu', 'pwsh'])
/** These take a command as ordinary text, wherever it stands. */
const TEXT_RUNNERS = new Set(['eval', 'ssh', 'watch', 'trap', 'parallel', 'xargs', 'sudo', 'doas', 'entr', 'tmux', 'screen', 'nsenter', 'chroot', 'timeout', 'find'])
const COMMAND_OPTION = /^(-[abd-zA-RT-Z]*[cS][a-zA-Z]*|--command|--split-string)$/

export const programName = (word: string): string => word.slice(word.lastIndexOf('/') + 1)

const startsLater = (words: readonly Word[]): boolean => {
  const first = words[0]?.text ?? ''
  return WRAPPERS.has(programName(first))
}

/** Command lines that stand as one word among the words of another (`sh -c '…'`, `ssh host '…'`), or that a shell gets as input. */
const linesWithin = ({ words, input = [] }: Pick<CommandPart, 'words' | 'input'>): { readonly lines: readonly string[]; readonly isUnseen: boolean } => {
  const names = words.map(({ text }) => programName(text))
  const hasShell = names.some((name) => SHELLS.has(name))
  const afterOption = words.flatMap(({ text }, at) => {
    const next = words[at + 1]
    return hasShell && COMMAND_OPTION.test(text) && next !== undefined ? [next] : []
  })
  const given = [...afterOption, ...(hasShell ? input : [])]
  const texts = names.some((name) => TEXT_RUNNERS.has(name)) ? words.slice(1).flatMap(({ text }) => (/\s/.test(text) ? [text] : [])) : []
  const evaluated = names[0] === 'eval' ? [words.slice(1).map(({ text }) => text).join(' ')] : []
  // What the shell puts into a line of commands may be commands.
  return { lines: [...new Set([...given.map(({ text }) => text), ...texts, ...evaluated])], isUnseen: given.some(({ isKnown }) => !isKnown) }
}
