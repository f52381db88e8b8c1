// Reads a stream of server-sent events. Each character is looked at once, however long an event is.
import { HttpFailure } from './http-failure.js'

export interface ServerEvent {
  readonly data: string
  /** From where the stream can go on. Undefined if the event does not say. */
  readonly id: string | undefined
}

export interface EventReader {
  /** Gives the events that are complete. Throws if one is too long. */
  readonly take: (bytes: Uint8Array) => readonly ServerEvent[]
  /** The pause before the stream is opened again, in milliseconds, if the server asked for one. */
  readonly retry: () => number | undefined
}

export const createEventReader = (longest: number): EventReader => {
  const decoder = new TextDecoder()
  let line = ''
  let data: string[] = []
  let length = 0
  let id: string | undefined
  let retry: number | undefined
  /** A line feed that may follow belongs to the line end before it. */
  let endedWithReturn = false

  const addLine = (): void => {
    const colon = line.indexOf(':')
    const field = colon === -1 ? line : line.slice(0, colon)
    const value = colon === -1 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1)
    if (field === 'data') data.push(value)
    else if (field === 'id' && !value.includes('\0')) id = value
    else if (field === 'retry' && /^\d{1,9}$/.test(value)) retry = Number(value)
    length += line.length
  }
  const takeEvent = (): readonly ServerEvent[] => {
    const event = { data: data.join('\n'), id }
    const isThere = data.length > 0 || id !== undefined
    data = []
    id = undefined
    length = 0
    return isThere ? [event] : []
  }
  return {
    retry: () => retry,
    take: (bytes) => {
      const text = decoder.decode(bytes, { stream: true })
      const events: ServerEvent[] = []
      let at = endedWithReturn && text.startsWith('\n') ? 1 : 0
      if (text !== '') endedWithReturn = text.endsWith('\r')
      for (const end of text.slice(at).matchAll(/\r\n?|\n/g)) {
        const start = at
        at = text.length - end.input.length + end.index + end[0].length
        line += text.slice(start, at - end[0].length)
        if (line === '') events.push(...takeEvent())
        else addLine()
        line = ''
      }
      line += text.slice(at)
      if (length + line.length > longest)
        throw new HttpFailure(`the server sent an event of more than ${longest} characters`)
      return events
    },
  }
}
