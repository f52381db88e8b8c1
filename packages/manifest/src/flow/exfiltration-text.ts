// What a finding `flow.exfiltration` says.
import type { Sentence } from 'cordon/manifest'
import { namedPart, say, words } from 'cordon/manifest'

import type { Cut } from './changes.js'
import type { FoundPath } from './exfiltration.js'
import type { Part } from './part.js'
import type { Reason } from './roles.js'

/** "`support`: `mail` reads ~/mail (private), `browse` returns … (untrusted), `post` … (sink)" */
export const exfiltrationSentence = ({ agent, path }: FoundPath): Sentence => {
  const [sink, ...onward] = [path.sink.part, ...path.sink.onward]
  const last = onward.at(-1)
  if (path.parts.length === 1 && sink.kind === 'in-process')
    return say`${namedPart(agent)} can be made to send private data: ${subject(sink, agent)}${IN_PROCESS}`
  return say`${namedPart(agent)} can be made to send private data: ${[
    ...subject(path.private.part, agent),
    ...privateWords(path.private.because),
  ]}, ${[...subject(path.untrusted.part, agent), ...untrustedWords(path.untrusted.because)]}, and ${[
    ...subject(sink, agent),
    ...sinkWords(path.sink.because, last !== undefined),
    ...onward.flatMap((part, at) => [...(at === 0 ? say` for ` : say`, then for `), ...subject(part, agent)]),
    ...(last === undefined ? [] : say`, which sends it`),
  ]}`
}

const subject = (part: Part, agent: string): Sentence => [
  ...(part.is === 'server' ? say`the MCP server ` : []),
  namedPart(part.name),
  ...(part.agent === agent ? [] : say` of ${namedPart(part.agent)}`),
]

const IN_PROCESS = say` runs in the agent's own process, where nothing confines it`

const privateWords = (reason: Reason): Sentence => {
  switch (reason.kind) {
    case 'file':
      return say` can read ${reason.path}`
    case 'variable':
      return say` gets the variable ${reason.name}`
    case 'credential':
      return say` reads with the credential ${reason.id}`
    default:
      return otherWords(reason)
  }
}

const untrustedWords = (reason: Reason): Sentence => {
  switch (reason.kind) {
    case 'file':
      return say` returns the content of ${reason.path}`
    case 'host':
      return say` returns answers of ${endpoint(reason)}`
    default:
      return otherWords(reason)
  }
}

const sinkWords = (reason: Reason, isHandedOn: boolean): Sentence => {
  switch (reason.kind) {
    case 'file':
      return say` can write ${reason.path}`
    case 'host':
      return say` can reach ${endpoint(reason)} without an approval`
    default:
      return isHandedOn ? say` can write a file` : otherWords(reason)
  }
}

const otherWords = (reason: Reason): Sentence =>
  reason.kind === 'unconfined' ? IN_PROCESS : say` has patterns that are too entangled to decide`

const endpoint = ({ host, port }: { readonly host: string; readonly port: number }): string =>
  `${host.includes(':') && !host.startsWith('[') ? `[${host}]` : host}${port === 443 ? '' : `:${String(port)}`}`

/** "ask before each call of `post`" */
export const cutSentence = (cut: Cut, agent: string): Sentence => {
  switch (cut.kind) {
    case 'ask':
      return say`ask before each call of ${cut.parts.flatMap((part, at) => [
        ...words(at === 0 ? '' : at === cut.parts.length - 1 ? ' and ' : ', '),
        ...subject(part, agent),
      ])}`
    case 'isolate':
      return say`run ${namedPart(cut.part.name)} in a cell: leave out inProcess`
    case 'remove':
      return say`remove ${cut.entry} from ${words(cut.section)} of ${subject(cut.part, agent)}`
    case 'tag':
      return say`if it is true, tag ${cut.entry} as ${words(cut.tag)}`
  }
}
