// Texts for the model: what was refused and what to do instead, without facts about the host.
import { fail } from '../../errors/index.js'
import type { CordonError } from '../../errors/index.js'
import type { JsonValue } from '../../gate/index.js'
import { isLookup } from '../../sandbox/index.js'
import type { LimitKind, Violation } from '../../sandbox/index.js'

/** One sentence for each kind of violation, in order. */
export const adviceFor = (violations: readonly Violation[]): string =>
  [...new Set(violations.map(adviceOn))].slice(0, MOST_KINDS).join(' ')

const MOST_KINDS = 3

const OTHER_HOST = 'Use a host that the tool may reach, or ask the user to allow this one.'

const adviceOn = (violation: Violation): string => {
  if ('limit' in violation) return ON_LIMIT[violation.kind]
  switch (violation.kind) {
    case 'file':
      if (violation.reason.kind === 'protected') return PROTECTED
      return violation.access === 'read'
        ? 'File: it may not read a file that it tried to open. Name a file that the tool may read, or ask the ' +
            'user to allow this one.'
        : 'File: it may not create, change or remove a file that it tried to. Write where the tool may write, ' +
            'or ask the user to allow this place.'
    case 'protected':
      return violation.deed === 'set-aside' ? `${PROTECTED} ${SET_ASIDE}` : PROTECTED
    case 'unsealed':
      return 'File: somebody else changed a protected file while it ran, so it was ended. Try again.'
    case 'metadata':
      return 'File: it may not change the mode, owner or times of a file. Leave them as they are.'
    case 'exec':
      return (
        'Program: it may not start a program that it tried to start. Use another tool for that, or ask the ' +
        'user to allow the program.'
      )
    case 'connect':
      if (violation.family === 'unix' || violation.family === 'abstract')
        return 'Socket: it may not connect to a local service of this machine. Do without it.'
      if (isLookup(violation)) return `Host: it may not look up a host. ${OTHER_HOST}`
      return `Host: it may not connect to an address that it tried. ${OTHER_HOST}`
    case 'lookup':
      return `Host: it may not look up a host that it named. ${OTHER_HOST}`
    case 'egress':
      return `Host: a request that it made is not allowed. ${OTHER_HOST}`
    case 'listen':
      return 'Host: it may not accept connections from outside. Do without a server.'
  }
}

const ON_LIMIT: Readonly<Record<LimitKind, string>> = {
  memory: 'Memory: it needed more than its limit. Process less at once.',
  processes: 'Processes: it started more processes or threads than its limit. Do less in parallel.',
  cpu: 'Processor time: it computed longer than its limit. Ask for less in one call.',
  wall: 'Time: it took longer than its limit. Ask for less in one call.',
  output: 'Output: it wrote more than its limit. Ask for a part, or filter what it prints.',
  scratch: 'Temporary files: its private folder is full. Keep less in it.',
  fileSize: 'File size: a file that it wrote grew beyond its limit. Write less to one file.',
}

const PROTECTED =
  'Protected file: it may not change a file that other programs run or obey without being asked. Leave that ' +
  'file as it is, or ask the user to change it.'

/** The name itself could tell something about the host: the user may have made it. */
const SET_ASIDE =
  'It was renamed, in its folder, to a name that ends in .set-aside-by-cordon- and a number. If the user made it, tell ' +
  'the user to rename it back.'

const LONGEST_WORDS = 2_000

/** The folders of an absolute path, a file URL or a path that climbs (../../srv/x). */
const FOLDERS = /(?<![\w/.~-])(?:(?:file:\/\/)?\/|(?:\.\.\/){1,64})(?:[^\s'"`:;,()<>/]{1,255}\/)+/g

/** The tool failed by itself. The operator reads the whole problem, the model reads it without paths of the host. */
export const toolFailed = (
  tool: string,
  problem: string,
  input: JsonValue,
  { fix = '', cause }: { readonly fix?: string; readonly cause?: unknown } = {},
): CordonError => fail('tool-failed', { tool, problem, told: withoutHostPaths(problem, input), fix }, cause)

/** Cuts absolute paths to their last names, except folders that the model named itself. */
export const withoutHostPaths = (words: string, input: JsonValue): string => {
  const named = namedIn(input)
  return words
    .slice(0, LONGEST_WORDS)
    .replace(FOLDERS, (folders) => (named.includes(folders.slice(0, -1)) ? folders : ''))
}

const MOST_LOOKED_AT = 64 * 1024

/** The texts of an input, up to a limit. */
export const textsIn = (input: unknown): readonly string[] => {
  const texts: string[] = []
  let room = MOST_LOOKED_AT
  const visit = (value: unknown): void => {
    if (room <= 0) return
    room -= 1
    if (typeof value === 'string') {
      texts.push(value.slice(0, room))
      room -= value.length
    } else if (typeof value === 'object' && value !== null) {
      for (const each of Object.values(value)) visit(each)
    }
  }
  visit(input)
  return texts
}

export const namedIn = (input: unknown): string => textsIn(input).join('\0')
