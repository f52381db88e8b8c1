import { markOf as notificationOf } from './changes.js'
import type { Changes } from './changes.js'
import type { Session } from '../engine.js'
import { isFinal } from '../registry/invocation.js'
import type { Invocation, InvocationStatus } from '../registry/invocation.js'
import { shownText } from '../registry/invocations.js'
import { missing } from '../engine/ways-out.js'

export type OutputStream = 'stdout' | 'stderr' | 'progress'

/** Something that a tool said while it ran. */
export interface OutputChunk {
  readonly stream: OutputStream
  readonly content: string
  /** Characters before these that are not shown. */
  readonly skipped: number
}

/** What the database takes at once. */
export const LONGEST_CHUNK = 8_192

export const appendOutput = async (
  { query }: Pick<Session, 'query'>,
  { id, fence }: Pick<Invocation, 'id' | 'fence'>,
  { stream, content, skipped }: OutputChunk,
): Promise<void> => {
  await query('select agents.fn_append_output($1, $2, $3, $4, $5)', [id, fence, stream, shownText(content), skipped])
}

/** Where a reader is: a call that was begun again begins with a new fence. */
export interface OutputPlace {
  readonly fence: string
  readonly sequence: number
}

type Row = OutputChunk & OutputPlace

const readRows = (
  { query }: Pick<Session, 'query'>,
  id: string,
  { fence, sequence }: OutputPlace,
): Promise<readonly Row[]> =>
  query(
    'select stream, content, skipped::float8, fence::text, sequence from agents.invocation_output where ' +
      'invocation_id = $1 and (fence, sequence) > ($2::bigint, $3::int) order by fence, sequence',
    [id, fence, sequence],
  )

const BEGINNING: OutputPlace = { fence: '0', sequence: 0 }

/** What a call says, after a mark. */
export interface OutputPage {
  readonly chunks: readonly (OutputChunk & { readonly mark: string })[]
  /** To go on after these. The same as before where there is nothing new. */
  readonly after: string
  readonly status: InvocationStatus
  /** Nothing comes after these. */
  readonly isOver: boolean
}

export const readOutput = async (
  { query }: Pick<Session, 'query'>,
  id: string,
  after = markOf(BEGINNING),
): Promise<OutputPage> => {
  const [fence = '0', sequence = '0'] = after.split('.')
  // The state first: what is said before a call ends is there when it has ended.
  const [call] = await query<{ status: InvocationStatus }>(
    'select status from agents.tool_invocations where id = $1 and created_at = agents.fn_time_of($1)',
    [id],
  )
  if (call === undefined) throw missing(`there is no invocation ${id}, or it is not yours to see`)
  const rows = await readRows({ query }, id, { fence, sequence: Number(sequence) })
  const chunks = rows.map(({ stream, content, skipped, ...place }) => ({
    stream,
    content,
    skipped,
    mark: markOf(place),
  }))
  return { chunks, after: chunks.at(-1)?.mark ?? after, status: call.status, isOver: isFinal(call.status) }
}

const markOf = ({ fence, sequence }: OutputPlace): string => `${fence}.${String(sequence)}`

export interface OutputWatch {
  /**
   * Tells what a call says, from the oldest that is kept, until the returned function is called; that one tells the
   * rest first.
   */
  readonly follow: (
    session: Pick<Session, 'query'>,
    id: string,
    told: (chunk: OutputChunk) => void,
  ) => () => Promise<void>
}

export const watchOutput = (changes: Pick<Changes, 'listening' | 'next'>): OutputWatch => ({
  follow: (session, id, told) => {
    const over = new AbortController()
    let place = BEGINNING
    // What cannot be read now is read with the next.
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
