// The output of a call while it runs: appended by its runner, read and followed by others.
import type { Queryable } from '../engine.js'
import { isFinal } from '../registry/call-answers.js'
import type { Invocation, OutputPage } from '../registry/call-answers.js'
import { requireStatus, storableText } from '../registry/invocations.js'
import { callProcedure } from '../registry/statements.js'
import { markOf as notificationOf } from './changes.js'
import type { Changes } from './changes.js'

export type OutputChunk = Omit<OutputPage['chunks'][number], 'mark'>
export type OutputStream = OutputChunk['stream']

/** The database takes no longer one. */
export const LONGEST_CHUNK = 8_192

export const appendOutput = (
  session: Queryable,
  { id, fence }: Pick<Invocation, 'id' | 'fence'>,
  { stream, content, skipped }: OutputChunk,
): Promise<void> =>
  callProcedure(session, 'fn_append_output', { id, fence, stream, content: storableText(content), skipped })

/** The position of a reader. A call that starts again has a new fence. */
interface OutputPlace {
  readonly fence: string
  readonly sequence: number
}

type Row = OutputChunk & OutputPlace

const readRows = ({ query }: Queryable, id: string, { fence, sequence }: OutputPlace): Promise<readonly Row[]> =>
  query(
    'select stream, content, skipped::float8, fence::text, sequence from agents.invocation_output where ' +
      'invocation_id = $1 and (fence, sequence) > ($2::bigint, $3::int) order by fence, sequence',
    [id, fence, sequence],
  )

const BEGINNING: OutputPlace = { fence: '0', sequence: 0 }

export const readOutput = async ({ query }: Queryable, id: string, after = markOf(BEGINNING)): Promise<OutputPage> => {
  const [fence = '0', sequence = '0'] = after.split('.')
  // The status first: once a call has ended, all of its output is stored.
  const status = await requireStatus({ query }, id)
  const rows = await readRows({ query }, id, { fence, sequence: Number(sequence) })
  const chunks = rows.map(({ fence: of, sequence: at, ...chunk }) => ({
    ...chunk,
    mark: markOf({ fence: of, sequence: at }),
  }))
  return { chunks, after: chunks.at(-1)?.mark ?? after, status, isOver: isFinal(status) }
}

const markOf = ({ fence, sequence }: OutputPlace): string => `${fence}.${String(sequence)}`

export interface OutputWatch {
  /** Passes on the output, from the oldest stored chunk. The returned function passes on the rest, and ends it. */
  readonly follow: (session: Queryable, id: string, told: (chunk: OutputChunk) => void) => () => Promise<void>
}

export const watchOutput = (changes: Pick<Changes, 'listening' | 'next'>): OutputWatch => ({
  follow: (session, id, told) => {
    const over = new AbortController()
    let place = BEGINNING
    // Output that cannot be read now is read with the next.
    const read = async (): Promise<void> => {
      for (const { stream, content, skipped, fence, sequence } of await readRows(session, id, place).catch(() => [])) {
        place = { fence, sequence }
        told({ stream, content, skipped })
      }
    }
    const listen = async (): Promise<void> => {
      await changes.listening()
      while (!over.signal.aborted) {
        const { changed, stop } = changes.next(
          (notification, channel) => channel === 'tool_invocation_output' && notification === notificationOf(id),
          Number.POSITIVE_INFINITY,
          over.signal,
        )
        try {
          await read()
          await changed
        } finally {
          stop()
        }
      }
    }
    const listening = listen()
    return async () => {
      over.abort()
      await listening
      await read()
    }
  },
})
