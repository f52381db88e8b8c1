// Server-sent events, as a server of Cordon writes them.
export interface ServerEvent {
  readonly id: string
  readonly event: string
  readonly data: string
}

/** An event that is longer than this is none of a server of Cordon. */
const MOST_LETTERS = 1_048_576

/** Given the text in pieces as they come, it calls `heard` with each event that is whole. */
export const readEvents = (heard: (event: ServerEvent) => void): ((text: string) => void) => {
  /** Of the event that has no end yet. Joined only when one comes: the pieces may be many and small. */
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
