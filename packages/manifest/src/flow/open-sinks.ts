// The ways by which data leaves without an approval: a tool that sends, or one that writes what such a tool reads.
import { handOverTo, parsePolicy } from 'cordon/policy'
import type { ToolPolicy } from 'cordon/policy'

import type { Part } from './part.js'
import { reasonOfFile } from './roles.js'
import type { Reason } from './roles.js'

export interface OpenSink {
  readonly part: Part
  /** The host that it reaches, or the file that the next part reads. */
  readonly because: Reason
  /** The parts that carry the data on. They may belong to other agents, which share the files. */
  readonly onward: readonly Part[]
}

/** By the number of parts that they need. */
export const openSinks = (parts: readonly Part[], sends: (part: Part) => Reason | undefined): readonly OpenSink[] => {
  const open = parts.filter(({ calls }) => calls === 'run')
  const found = new Map<Part, OpenSink>()
  for (const part of open) {
    const because = sends(part)
    if (because !== undefined) found.set(part, { part, because, onward: [] })
  }
  let latest: readonly OpenSink[] = [...found.values()]
  while (latest.length > 0) {
    const next = nextSink(latest)
    latest = open.flatMap((part) => (found.has(part) ? [] : (next(part) ?? [])))
    for (const sink of latest) found.set(sink.part, sink)
  }
  return [...found.values()]
}

type NextSink = (part: Part) => OpenSink | undefined

/** What a policy confines says more about a way than what reads everything. */
const nextSink = (readers: readonly OpenSink[]): NextSink => {
  const isConfined = (sink: OpenSink) => sink.part.kind !== 'in-process'
  const [confined, others] = [readers.filter(isConfined), readers.filter((sink) => !isConfined(sink))].map(writerFor)
  return (part) => confined?.(part) ?? others?.(part)
}

const writerFor = (readers: readonly OpenSink[]): NextSink => {
  const handOver = handOverTo(readers.map(readingOf))
  return (part) => {
    const handed = handOver(part.policy)
    const reader = handed === undefined ? undefined : readers[handed.reader]
    return handed === undefined || reader === undefined
      ? undefined
      : { part, because: reasonOfFile(handed.file), onward: [reader.part, ...reader.onward] }
  }
}

const EVERYTHING = parsePolicy({ filesystem: { read: ['/'] } }, 'everything')

const readingOf = ({ part: { kind, policy } }: OpenSink): ToolPolicy => (kind === 'in-process' ? EVERYTHING : policy)
