// A server that offers what the file offers.json in its folder says. It reads the file again for every request.
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'

const offers = () => JSON.parse(readFileSync('offers.json', 'utf8'))
const PAGE = 2
const pageOf = (entries, { cursor = '0' } = {}) => {
  const next = Number(cursor) + PAGE
  return {
    entries: entries.slice(Number(cursor), next),
    ...(next < entries.length ? { nextCursor: String(next) } : {}),
  }
}
const ANSWERS = {
  'initialize': ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {}, prompts: {} },
    serverInfo: { name: 'changing', version: '1' },
    instructions: offers().instructions,
  }),
  'tools/list': (params) => {
    const { entries, ...more } = pageOf(offers().tools, params)
    return { tools: entries, ...more }
  },
  'tools/call': ({ name }) => ({ content: [{ type: 'text', text: `called ${name}` }] }),
  'prompts/list': () => ({ prompts: offers().prompts ?? [] }),
  'prompts/get': ({ name }) => ({ messages: [{ role: 'user', content: { type: 'text', text: name } }] }),
}
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line)
  if (id === undefined) return
  const result = ANSWERS[method]?.(params)
  const answer = result === undefined ? { error: { code: -32601, message: 'unknown' } } : { result }
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...answer })}\n`)
})
