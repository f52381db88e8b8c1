// A server over HTTP that misbehaves as its tools are told to. Words: the port, and the address.
import { createServer } from 'node:http'

const NAMES = [
  ...['echo', 'events', 'twice', 'redirect', 'page', 'garbage', 'broken-event', 'large', 'endless', 'hang', 'cut'],
  ...[
    'resume',
    'flood',
    'nobody',
    'cookies',
    'login',
    'rights',
    'gone',
    'accepted',
    'fault',
    'die',
    'cancelled',
    'late',
  ],
]
const JSON_TYPE = { 'content-type': 'application/json' }
const EVENTS = { 'content-type': 'text/event-stream' }
const cancelled = []
let resumed

const textFor = (id, text) => JSON.stringify({ jsonrpc: '2.0', id, result: { content: [{ type: 'text', text }] } })
const say = (response, id, text) => response.writeHead(200, JSON_TYPE).end(textFor(id, text))
const eventOf = (text) => `event: message\ndata: ${text}\n\n`

const DEEDS = {
  'echo': (response, id, { words = '' }) => say(response, id, words),
  'events': (response, id) => {
    const lines = JSON.stringify(JSON.parse(textFor(id, 'in lines')), undefined, 2).split('\n')
    response.writeHead(200, EVENTS).write(': a comment\r\n\r\n')
    for (const line of lines) response.write(`data:${line}\r\n`)
    response.end('\r\n')
  },
  'twice': (response, id) => {
    response.writeHead(200, EVENTS).write(eventOf(textFor(id, 'first')))
    response.end(eventOf(textFor(id, 'second')))
  },
  'redirect': (response) => response.writeHead(307, { location: 'http://127.0.0.1:1/' }).end(),
  'page': (response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>hello</h1>'),
  'garbage': (response) => response.writeHead(200, JSON_TYPE).end('hello'),
  'broken-event': (response) => response.writeHead(200, EVENTS).end('data: {"jsonrpc":\n\n'),
  'large': (response, id, { bytes, as }) => {
    const text = textFor(id, 'x'.repeat(bytes))
    if (as === 'event') response.writeHead(200, EVENTS).end(eventOf(text))
    else response.writeHead(200, JSON_TYPE).end(text)
  },
  'endless': (response) => {
    response.writeHead(200, EVENTS)
    const chunk = `data: ${'x'.repeat(1_000_000)}\n`
    const write = () => {
      while (!response.destroyed && response.write(chunk));
    }
    response.on('drain', write)
    write()
  },
  'hang': () => undefined,
  'cut': (response) => response.writeHead(200, EVENTS).end(': nothing\n\n'),
  'resume': (response, id) => {
    resumed = { id: 'event-1', text: textFor(id, 'resumed') }
    response.writeHead(200, EVENTS).write('id: event-1\nretry: 100\ndata:\n\n')
    setTimeout(() => response.destroy(), 50)
  },
  'flood': (response, id) => {
    response.writeHead(200, EVENTS)
    const params = { level: 'info', data: 'x'.repeat(1_000) }
    const note = eventOf(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/message', params }))
    for (let at = 0; at < 20_000; at += 1) response.write(note)
    response.end(eventOf(textFor(id, 'flooded')))
  },
  'nobody': (response) => response.writeHead(200, JSON_TYPE).end(textFor('somebody-else', 'for nobody')),
  'cookies': (response, id, _, { headers }) => say(response, id, String(headers.cookie)),
  'login': (response) => response.writeHead(401, { 'www-authenticate': 'Bearer resource_metadata="x"' }).end(),
  'rights': (response) => response.writeHead(403, { 'www-authenticate': 'Bearer error="insufficient_scope"' }).end(),
  'gone': (response) => response.writeHead(404).end(),
  'accepted': (response) => response.writeHead(202).end(),
  'fault': (response) => response.writeHead(500, JSON_TYPE).end('{"error":"internal"}'),
  'die': () => process.exit(3),
  'cancelled': (response, id) => say(response, id, JSON.stringify(cancelled)),
  'late': (response, id) => setTimeout(() => say(response, id, 'late'), 200),
}

const answer = (request, response, { id, method, params = {} }) => {
  const cookie = { 'set-cookie': 'tracked=1; Path=/' }
  const result = (fields, headers = {}) =>
    response
      .writeHead(200, { ...JSON_TYPE, ...cookie, ...headers })
      .end(JSON.stringify({ jsonrpc: '2.0', id, result: fields }))
  if (method === 'initialize')
    result(
      {
        protocolVersion: '2025-11-25',
        capabilities: { tools: {}, logging: {} },
        serverInfo: { name: 'h', version: '1' },
      },
      { 'mcp-session-id': 'the-session' },
    )
  else if (method === 'tools/list') result({ tools: NAMES.map((name) => ({ name, inputSchema: { type: 'object' } })) })
  else if (method === 'tools/call') DEEDS[params.name](response, id, params.arguments ?? {}, request)
  else {
    if (method === 'notifications/cancelled') cancelled.push(params.reason)
    response.writeHead(202).end()
  }
}

createServer((request, response) => {
  if (request.method === 'GET') {
    const isKnown = resumed !== undefined && request.headers['last-event-id'] === resumed.id
    if (isKnown) response.writeHead(200, EVENTS).end(eventOf(resumed.text))
    else response.writeHead(405).end()
    return
  }
  const chunks = []
  request.on('data', (chunk) => chunks.push(chunk))
  request.on('end', () => {
    const text = Buffer.concat(chunks).toString()
    if (text === '') response.writeHead(204).end()
    else answer(request, response, JSON.parse(text))
  })
}).listen(Number(process.argv[2]), process.argv[3] ?? '127.0.0.1')
