// What servers write to stderr: each line with the name of its server, and without characters that hide or move text.
// No line can pass for one of Cordon.
import { openOutput, STDERR, visible } from 'cordon/commands'

/** A longer line is cut into several. */
const LONGEST = 8_192
const NEWLINE = 0x0a

/** Lines are dropped while nobody reads them, so that no server waits for that. */
export const passStderr = (): ((server: string, bytes: Uint8Array) => void) => {
  const output = openOutput(STDERR, () => undefined)
  const begun = new Map<string, Buffer>()
  let isFull = false
  const write = (server: string, line: Uint8Array): void => {
    const text = Buffer.from(line).toString('utf8').replace(/\r$/, '').replaceAll('\t', '  ')
    if (isFull || text === '') return
    const slow = output.write(Buffer.from(`[${server}] ${visible(text)}\n`))
    isFull = slow !== undefined
    void slow?.then(() => {
      isFull = false
    })
  }
  return (server, bytes) => {
    let rest = Buffer.concat([begun.get(server) ?? Buffer.alloc(0), bytes])
    for (;;) {
      const end = rest.subarray(0, LONGEST + 1).indexOf(NEWLINE)
      if (end === -1 && rest.length <= LONGEST) break
      write(server, rest.subarray(0, end === -1 ? LONGEST : end))
      rest = rest.subarray(end === -1 ? LONGEST : end + 1)
    }
    begun.set(server, rest)
  }
}
