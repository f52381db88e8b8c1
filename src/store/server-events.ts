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
  let rest = ''
  return (text) => {
    rest += text
    for (let end = rest.indexOf('\n\n'); end >= 0; end = rest.indexOf('\n\n')) {
      const lines = rest.slice(0, end).split('\n')
      rest = rest.slice(end + 2)
      const of = (field: string): string => lines.filter((line) => line.startsWith(`${field}: `)).map((line) => line.slice(field.length + 2)).join('\n')
      const event = of('event')
      if (event !== '') heard({ id: of('id'), event, data: of('data') })
    }
    if (rest.length > MOST_LETTERS) throw new Error('an event of the server has no end')
  }
}
