// Reads server-sent events of a Cordon server.
interface ServerEvent {
  readonly id: string
  readonly event: string
  readonly data: string
}

/** A Cordon server sends no longer event. */
const MOST_LETTERS = 1_048_576

/** Takes the text in pieces, and calls `heard` with each complete event. */
export const readEvents = (heard: (event: ServerEvent) => void): ((text: string) => void) => {
  /** Pieces of the incomplete event. They may be many and small, so they are joined only at its end. */
  let pieces: string[] = []
  let length = 0
  return (text) => {
    if (text === '') return
    pieces.push(text)
    length += text.length
    const isLast = pieces.length > 1 && pieces.at(-2)?.endsWith('\n') === true && text.startsWith('\n')
    const events = isLast || text.includes('\n\n') ? pieces.join('').split('\n\n') : []
    if (events.length > 0) {
      pieces = [events.pop() ?? '']
      length = pieces[0]?.length ?? 0
    }
    for (const whole of events) {
      const lines = whole.split('\n')
      const of = (field: string): string =>
        lines
          .filter((line) => line.startsWith(`${field}: `))
          .map((line) => line.slice(field.length + 2))
          .join('\n')
      const event = of('event')
      if (event !== '') heard({ id: of('id'), event, data: of('data') })
    }
    if (length > MOST_LETTERS) throw new Error('an event of the server has no end')
  }
}
