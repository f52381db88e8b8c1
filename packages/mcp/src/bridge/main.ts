// The bridge: a program inside the cell of a server that speaks HTTP. On stdin and stdout it speaks to the gateway as a
// server of the ordinary kind. Words: URL, or URL and the command of the server in the same cell.
import { createLineReader } from '../wire/lines.js'
import { createHttpServer } from './http-exchange.js'
import { startPublishedServer } from './published-server.js'
import type { Ending, PublishedServer } from './published-server.js'
import { createRelay } from './relay.js'
import type { Relay } from './relay.js'

const [, , address = '', ...command] = process.argv
const url = new URL(address)

const complain = (problem: string): void => {
  process.stderr.write(`cordon-bridge: ${problem}\n`)
}
const exitAs = (ending: Ending): void => {
  if (ending.kind === 'not-started') complain(`the server did not start: ${ending.problem}`)
  else complain(`the server has ended: ${ending.kind === 'exited' ? `exit ${ending.status}` : ending.signal}`)
  process.exit(ending.kind === 'exited' ? ending.status : 1)
}

const published: PublishedServer | undefined = command.length === 0 ? undefined : startPublishedServer(command, url)
void published?.ended.then(exitAs)

const open = (at: URL): Relay =>
  createRelay({
    server: createHttpServer(at),
    toGateway: (line) =>
      process.stdout.write(`${line}\n`) ? undefined : new Promise((resolve) => process.stdout.once('drain', resolve)),
    complain,
    giveUp: () => {
      // After the answers that were written.
      setImmediate(() => process.exit(1))
    },
  })

let relay = published === undefined ? open(url) : undefined
/** Lines that came before the server listened. */
const early: string[] = []
void published?.address.then((address) => {
  if (address === undefined) {
    complain(`the server does not listen at ${url.host}`)
    process.exit(1)
  }
  relay = open(address)
  for (const line of early.splice(0)) relay.take(line)
})

const read = createLineReader(
  (line) => {
    if (relay === undefined) early.push(line)
    else relay.take(line)
  },
  () => {
    complain('the gateway sent a message that is too long')
    process.exit(1)
  },
)
process.stdin.on('data', read).on('end', () => {
  void Promise.resolve(relay?.close()).then(() => {
    published?.end()
    process.exit(0)
  })
})
