// A server whose tool `read` has the annotations of its first argument, as JSON. It answers with the file.
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'

const annotations = JSON.parse(process.argv[2] ?? '{}')
const inputSchema = { type: 'object', properties: { path: { type: 'string' } } }
const write = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)

const contentOf = (path) => {
  try {
    return { content: [{ type: 'text', text: readFileSync(path, 'utf8') }] }
  } catch (error) {
    return { content: [{ type: 'text', text: error.code }], isError: true }
  }
}

const ANSWERS = {
  'initialize': () => ({
    protocolVersion: '2025-11-25',
    capabilities: { tools: {} },
    serverInfo: { name: 'proposing', version: '1' },
  }),
  'tools/list': () => ({ tools: [{ name: 'read', inputSchema, annotations }] }),
  'tools/call': ({ arguments: { path } }) => contentOf(path),
}

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line)
  if (id !== undefined) write({ id, result: ANSWERS[method]?.(params) ?? {} })
})
