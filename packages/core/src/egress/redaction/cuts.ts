// Where an answer may be cut. A tool sees the cuts, and a server may repeat what the tool sent: a cut that depended on
// the secret would tell a tool, guess by guess, how the secret begins. So nothing here knows a secret.
import { fail } from '../../errors/index.js'

export interface Cuts {
  /** The end of the last part of `chunk` behind which no spelling of any secret goes on, or 0. */
  readonly lastIn: (chunk: Buffer) => number
  /** The same for what is held when the server pauses. */
  readonly afterPause: (held: Buffer) => number
  /** Answers are cut at multiples of this only, counted from their start. */
  readonly block: number
}

const LF = 0x0a
const CR = 0x0d

/** Hexadecimal and base64 may go on in the next line behind one of these. `;` ends an escaped character. */
const goesOn = new Uint8Array(256)
for (const character of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_=;')
  goesOn[character.charCodeAt(0)] = 1

/**
 * No secret contains a line end. Its encoded forms may, but not an empty line, and none behind a character that they do
 * not use. When the server pauses, the end of any line counts, also a CR alone (events may end so), but for a soft one
 * of quoted-printable (`=`).
 */
export const lineCuts = (block = 1): Cuts => {
  /** The last two bytes of earlier chunks. No byte is -1. */
  let [last, lastButOne] = [-1, -1]
  return {
    lastIn: (chunk) => {
      const byteAt = (at: number): number =>
        at >= 0 ? (chunk[at] as number) : at === -1 ? last : at === -2 ? lastButOne : -1
      let end = 0
      for (let at = chunk.lastIndexOf(LF); at !== -1; at = at === 0 ? -1 : chunk.lastIndexOf(LF, at - 1)) {
        const before = byteAt(at - 1) === CR ? byteAt(at - 2) : byteAt(at - 1)
        if (before !== -1 && goesOn[before] === 1) continue
        end = at + 1
        break
      }
      ;[last, lastButOne] = [byteAt(chunk.length - 1), byteAt(chunk.length - 2)]
      return end
    },
    afterPause: (held) => {
      for (let at = held.length - 1; at > 0; at--) {
        if (held[at] !== LF && held[at] !== CR) continue
        const before = held[at] === LF && held[at - 1] === CR ? held[at - 2] : held[at - 1]
        if (before !== 0x3d) return at + 1
      }
      return 0
    },
    block,
  }
}

/** The length of a frame's head and of its content, or undefined if more bytes are needed to know. */
type ReadHead = (head: Buffer) => { readonly head: number; readonly content: number } | undefined

const frameCuts = (readHead: ReadHead): Cuts => {
  let head: Buffer = Buffer.alloc(0)
  let left = 0
  return {
    lastIn: (chunk) => {
      let end = 0
      for (let at = 0; at < chunk.length;) {
        if (left === 0) {
          head = Buffer.concat([head, chunk.subarray(at, at + 1)])
          at += 1
          const frame = readHead(head)
          if (frame === undefined || head.length < frame.head) continue
          head = Buffer.alloc(0)
          left = frame.content
        }
        const taken = Math.min(left, chunk.length - at)
        at += taken
        left -= taken
        if (left === 0) end = at
      }
      return end
    },
    afterPause: () => 0,
    block: 1,
  }
}

/** RFC 6455. Extensions are not offered to the server, so every message can be searched as it is. */
export const webSocketCuts = (): Cuts =>
  frameCuts((head) => {
    if (head.length < 2) return undefined
    const [first, second] = [head[0] as number, head[1] as number]
    if ((first & 0x70) !== 0 || (second & 0x80) !== 0)
      throw fail('answer-malformed', { problem: 'a message of the WebSocket is masked, or in an unknown encoding' })
    if (second < 126) return { head: 2, content: second }
    if (second === 126) return head.length < 4 ? undefined : { head: 4, content: head.readUInt16BE(2) }
    return head.length < 10 ? undefined : { head: 10, content: Number(head.readBigUInt64BE(2)) }
  })

/** Messages of gRPC: whether it is compressed, its length, and the message. */
export const grpcCuts = (): Cuts =>
  frameCuts((head) => (head.length < 5 ? undefined : { head: 5, content: head.readUInt32BE(1) }))
