// Findings about what a tool runs: the image and the runtime of its container, and its command line.
import type { ManifestTool } from '../manifest.js'
import { say, words } from './sentence.js'
import type { Sentence } from './sentence.js'
import type { Finding, Owner } from './finding.js'
import { makeFinding } from './make-finding.js'
import type { Change } from './policy-findings.js'

type Program = Pick<ManifestTool, 'kind' | 'container' | 'command'>

export const programFindings = (
  { before, after }: Change<Program>,
  owner: Owner,
  subject: Sentence,
): readonly Finding[] => {
  const changed = (sentence: Sentence, change: readonly unknown[]) =>
    makeFinding('tool.program.changed', owner, { sentence, change })
  const [past, present] = [before.container, after.container]
  const [imageBefore, imageNow] = [imageText(past), imageText(present)]
  const [runtimeBefore, runtimeNow] = [past?.runtime ?? DEFAULT_RUNTIME, present?.runtime ?? DEFAULT_RUNTIME]
  return [
    ...(isSameImage(past, present)
      ? []
      : [changed(say`${subject} now runs in ${imageNow}, was ${imageBefore}`, ['image', imageBefore, imageNow])]),
    ...(past === undefined || present === undefined || runtimeBefore === runtimeNow
      ? []
      : [
          changed(say`The OCI runtime of ${subject} is now ${runtimeNow}, was ${runtimeBefore}`, [
            ...['runtime', runtimeBefore, runtimeNow],
          ]),
        ]),
    // A command line that was not known before may have been this one.
    ...(before.command === undefined || JSON.stringify(before.command) === JSON.stringify(after.command)
      ? []
      : [
          changed(
            say`The command line of ${subject} is now ${commandText(after.command)}, was ${commandText(before.command)}`,
            ['command', before.command, after.command ?? null],
          ),
        ]),
  ]
}

type Container = ManifestTool['container']

const DEFAULT_RUNTIME = 'that of the engine'

/** A digest that is new only says more exactly which image it is. */
const isSameImage = (past: Container, present: Container): boolean =>
  past?.image === present?.image && (past?.digest ?? present?.digest) === present?.digest

const imageText = (container: Container): string => {
  if (container === undefined) return 'no container'
  return `the container image ${container.image}${container.digest === null ? '' : `@${container.digest}`}`
}

const commandText = (command: Program['command']): Sentence =>
  command === undefined
    ? words('computed by its code')
    : say`${command.map((word) => (word === null ? '…' : wordText(word))).join(' ')}`

/** A word as a person reads it in a line. */
export const wordText = (word: string): string => (/^[^\s"]+$/.test(word) ? word : JSON.stringify(word))
