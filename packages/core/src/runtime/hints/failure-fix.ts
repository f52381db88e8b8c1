// Advice for a tool that failed by itself: which grant it may have lacked, from its policy, command and input.
import { hostsNamedIn, isReadable } from '../../policy/index.js'
import type { AbsolutePath, Boundary } from '../../policy/index.js'

import {
  MOST_ARGUMENTS,
  hasGrantsIn,
  isClient,
  isScript,
  lookAt,
  namesOwn,
  namesPart,
  pathIn,
  startsClient,
} from './command-words.js'
import { isKernelView } from '../../sandbox/index.js'

import { describeOwnFile, ownFileAt } from '../own-files/index.js'
import { grantOfHosts, readLine } from './policy-lines.js'
import type { Advised } from './policy-lines.js'

export interface FailedTool extends Advised {
  readonly boundary: Boundary
  readonly cwd: AbsolutePath
  /** Empty for a function tool. */
  readonly command: readonly string[]
  /** The texts of its input. */
  readonly named: readonly string[]
}

/** Empty without advice. */
export const fixOfFailure = (tool: FailedTool): string => [...onFiles(tool), ...onNetwork(tool)].join('; ')

const onFiles = (tool: FailedTool): readonly string[] => {
  const { boundary, cwd, workspace, command, named } = tool
  const at = { argv: command, cwd }
  const isFunction = command.length === 0
  if (cwd !== '/' && !isReadable(boundary, cwd) && !hasGrantsIn(cwd, boundary)) {
    const isWanted = isFunction
      ? named.some((word) => namesPart(word, cwd))
      : namesOwn(at) || !(isScript(at) || isClient(at))
    const place = cwd === workspace ? 'the workspace' : `the working directory ${cwd}`
    return isWanted
      ? [`${place} is not granted to this tool, so it is empty: policy: { ${readLine(cwd, workspace)} }`]
      : []
  }
  return (isFunction ? named : command.slice(1))
    .slice(0, MOST_ARGUMENTS)
    .flatMap((word) => onWord(word, tool))
    .slice(0, 1)
}

const onWord = (word: string, { boundary, cwd, workspace, ownFiles }: FailedTool): readonly string[] => {
  const found = /[/.]/.test(word) || namesPart(word, cwd) ? lookAt(pathIn(word, cwd) ?? cwd) : undefined
  if (found === undefined || found.real === '/' || isKernelView(found.real) || isReadable(boundary, found.real))
    return []
  const own = ownFileAt(found.real, 'read', ownFiles)
  return [
    own === undefined
      ? `${found.real} is not granted to this tool: policy: { ${readLine(found.real, workspace)} }`
      : describeOwnFile(found.real, own, 'tool'),
  ]
}

/** The landlock form refuses datagrams, and so name look-ups, without a violation. */
const onNetwork = ({ boundary, command, cwd, words }: FailedTool): readonly string[] => {
  const hosts = hostsNamedIn(words)
  return boundary.network.kind === 'none' && (hosts.length > 0 || startsClient({ argv: command, cwd }))
    ? [`no host is granted to this tool, also not to look up its name; ${grantOfHosts(hosts)}`]
    : []
}
