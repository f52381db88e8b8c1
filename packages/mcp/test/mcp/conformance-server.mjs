// What the server scenarios of the official conformance suite ask for: tools, prompts and resources with given names.
// It serves stdio, and with the word `http` clients of both eras over streamable HTTP, on a free port or the given one.
import { randomBytes, randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

import {
  CLIENT_CAPABILITIES_META_KEY,
  McpServer,
  ResourceTemplate,
  WebStandardStreamableHTTPServerTransport,
  acceptedContent,
  createMcpHandler,
  createRequestStateCodec,
  fromJsonSchema,
  hostHeaderValidationResponse,
  inputRequired,
  isLegacyRequest,
  localhostAllowedHostnames,
} from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import * as z from 'zod'

const PICTURE = {
  type: 'image',
  mimeType: 'image/png',
  data: 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==',
}
const SOUND = {
  type: 'audio',
  mimeType: 'audio/wav',
  data: 'UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=',
}
const textOf = (text) => ({ type: 'text', text })
const embedded = (uri) => ({ type: 'resource', resource: { uri, mimeType: 'text/plain', text: 'A resource.' } })

const state = createRequestStateCodec({ key: randomBytes(32) })

const form = (message, properties, required = Object.keys(properties)) =>
  inputRequired.elicit({ message, requestedSchema: { type: 'object', properties, required } })
const sample = (text) =>
  inputRequired.createMessage({ messages: [{ role: 'user', content: textOf(text) }], maxTokens: 99 })
const STRING = { type: 'string' }
const NAME = form('Your name?', { name: STRING })

/** Asks until each question has an answer. Only input of the user can be refused. */
const asking =
  (questions, { keepsState = false, done = (text) => ({ content: [textOf(text)] }) } = {}) =>
  async (...given) => {
    const { mcpReq } = given.at(-1)
    const inputRequests = questions(given[0], mcpReq)
    const answers = mcpReq.inputResponses
    const isAnswered = (key) =>
      inputRequests[key].method === 'elicitation/create'
        ? acceptedContent(answers, key) !== undefined
        : answers?.[key] !== undefined
    if (Object.keys(inputRequests).every(isAnswered)) return done(JSON.stringify(answers ?? {}))
    return inputRequired({ inputRequests, ...(keepsState ? { requestState: await state.mint(randomUUID()) } : {}) })
  }

const CHOICES = ['one', 'two', 'three']
const titled = CHOICES.map((value) => ({ const: value, title: `Choice ${value}` }))
const ENUMS = {
  untitledSingle: { type: 'string', enum: CHOICES },
  titledSingle: { type: 'string', oneOf: titled },
  legacyEnum: { type: 'string', enum: CHOICES, enumNames: ['One', 'Two', 'Three'] },
  untitledMulti: { type: 'array', items: { type: 'string', enum: CHOICES } },
  titledMulti: { type: 'array', items: { anyOf: titled } },
}
const DEFAULTS = {
  name: { type: 'string', default: 'John Doe' },
  age: { type: 'integer', default: 30 },
  score: { type: 'number', default: 95.5 },
  status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
  verified: { type: 'boolean', default: true },
}
const SCHEMA_2020_12 = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  $defs: { address: { $anchor: 'addressDef', type: 'object', properties: { street: STRING, city: STRING } } },
  properties: {
    name: STRING,
    address: { $ref: '#/$defs/address' },
    contactMethod: { type: 'string', enum: ['phone', 'email'] },
    phone: STRING,
    email: STRING,
  },
  allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
  if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
  then: { required: ['phone'] },
  else: { required: ['email'] },
  additionalProperties: false,
}

const askOnlyForDeclared = (_, { envelope }) => {
  const declared = envelope?.[CLIENT_CAPABILITIES_META_KEY] ?? {}
  return {
    ...('elicitation' in declared ? { user_name: NAME } : {}),
    ...('sampling' in declared ? { greeting: sample('Greet.') } : {}),
    ...('roots' in declared ? { client_roots: inputRequired.listRoots() } : {}),
  }
}

/** The round is kept in the state that the client sends back. */
const twoRounds = async (_, { mcpReq }) => {
  const round = mcpReq.requestState()
  if (round === 'two') return { content: [textOf('both rounds')] }
  const [key, next] = round === 'one' ? ['step2', 'two'] : ['step1', 'one']
  return inputRequired({ inputRequests: { [key]: form(key, { said: STRING }) }, requestState: await state.mint(next) })
}

const addTools = (server, changes) => {
  const add = (name, run, inputSchema = z.object({})) =>
    server.registerTool(name, { description: `For the scenario of ${name}`, inputSchema }, run)
  const answering =
    (...content) =>
    () => ({ content })
  add('test_simple_text', answering(textOf('This is a simple text response for testing.')))
  add('test_image_content', answering(PICTURE))
  add('test_audio_content', answering(SOUND))
  add('test_embedded_resource', answering(embedded('test://embedded-resource')))
  add('test_multiple_content_types', answering(textOf('mixed'), PICTURE, embedded('test://mixed-content-resource')))
  add('test_reconnection', answering(textOf('done')))
  add('test_streaming_elicitation', answering(textOf('no question')))
  add('json_schema_2020_12_tool', answering(textOf('done')), fromJsonSchema(SCHEMA_2020_12))
  const inHeader = { type: 'object', properties: { region: { 'type': 'string', 'x-mcp-header': 'Region' } } }
  add('test_x_mcp_header', answering(textOf('done')), fromJsonSchema(inHeader))
  add('test_error_handling', () => {
    throw new Error('This tool intentionally returns an error for testing')
  })
  for (const name of ['test_tool_with_logging', 'test_logging_tool'])
    add(name, async (_, { mcpReq }) => {
      for (const step of ['started', 'half', 'ended']) await mcpReq.log('info', step)
      return { content: [textOf('logged')] }
    })
  add('test_tool_with_progress', async (_, { mcpReq }) => {
    const progressToken = mcpReq._meta?.progressToken
    for (const progress of progressToken === undefined ? [] : [0, 50, 100])
      await mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress, total: 100 } })
    return { content: [textOf(String(progressToken))] }
  })
  add('test_trigger_tool_change', () => {
    changes.tools(server)
    return { content: [textOf('told')] }
  })
  add('test_trigger_prompt_change', () => {
    changes.prompts(server)
    return { content: [textOf('told')] }
  })

  const withText = (key) => z.object({ [key]: z.string() })
  add(
    'test_sampling',
    asking(({ prompt }) => ({ said: sample(prompt) })),
    withText('prompt'),
  )
  add(
    'test_elicitation',
    asking(({ message }) => ({ said: form(message, { response: STRING }) })),
    withText('message'),
  )
  add(
    'test_elicitation_sep1034_defaults',
    asking(() => ({ said: form('Defaults', DEFAULTS, []) })),
  )
  add(
    'test_elicitation_sep1330_enums',
    asking(() => ({ said: form('Choices', ENUMS, []) })),
  )
  add(
    'test_missing_capability',
    asking(() => ({ said: sample('Say pong.') })),
  )
  const addAsking = (name, questions, options) => add(`test_input_required_result_${name}`, asking(questions, options))
  const all = { user_name: NAME, greeting: sample('Greet.'), client_roots: inputRequired.listRoots() }
  const confirm = { confirm: form('Please confirm', { ok: { type: 'boolean' } }) }
  addAsking('elicitation', () => ({ user_name: NAME }))
  addAsking('sampling', () => ({ capital_question: sample('What is the capital of France?') }))
  addAsking('list_roots', () => ({ client_roots: inputRequired.listRoots() }))
  addAsking('multiple_inputs', () => all, { keepsState: true })
  const isKept = { keepsState: true, done: () => ({ content: [textOf('state-ok')] }) }
  addAsking('request_state', () => confirm, isKept)
  addAsking('tampered_state', () => confirm, isKept)
  addAsking('capabilities', askOnlyForDeclared)
  add('test_input_required_result_multi_round', twoRounds)
}

const addPrompts = (server) => {
  const saying = (...content) => ({ messages: content.map((each) => ({ role: 'user', content: each })) })
  const add = (name, run, argsSchema) =>
    server.registerPrompt(name, { description: name, ...(argsSchema === undefined ? {} : { argsSchema }) }, run)
  add('test_simple_prompt', () => saying(textOf('This is a simple prompt for testing.')))
  const two = z.object({ arg1: z.string().describe('first'), arg2: z.string().describe('second') })
  add('test_prompt_with_arguments', ({ arg1, arg2 }) => saying(textOf(`arg1='${arg1}', arg2='${arg2}'`)), two)
  const one = z.object({ resourceUri: z.string() })
  add('test_prompt_with_embedded_resource', ({ resourceUri }) => saying(embedded(resourceUri), textOf('Read.')), one)
  add('test_prompt_with_image', () => saying(PICTURE, textOf('Look.')))
  const context = () => ({ user_context: form('Context?', { context: STRING }) })
  add('test_input_required_result_prompt', asking(context, { done: (text) => saying(textOf(text)) }))
}

const addResources = (server) => {
  const add = (name, mimeType, content) =>
    server.registerResource(name, `test://${name}`, { mimeType }, ({ href }) => ({
      contents: [{ uri: href, mimeType, ...content }],
    }))
  add('static-text', 'text/plain', { text: 'The text of the resource.' })
  add('static-binary', 'image/png', { blob: PICTURE.data })
  add('watched-resource', 'text/plain', { text: 'The watched text.' })
  const template = new ResourceTemplate('test://template/{id}/data', { list: undefined })
  server.registerResource('template', template, { mimeType: 'application/json' }, ({ href }, { id }) => ({
    contents: [{ uri: href, mimeType: 'application/json', text: JSON.stringify({ id, templateTest: true }) }],
  }))
}

const make = (changes) => {
  const listChanged = true
  const server = new McpServer(
    { name: 'conformance', version: '1' },
    {
      capabilities: {
        tools: { listChanged },
        prompts: { listChanged },
        resources: { listChanged, subscribe: true },
        logging: {},
        completions: {},
      },
      requestState: { verify: state.verify },
    },
  )
  addTools(server, changes)
  addPrompts(server)
  addResources(server)
  for (const method of ['resources/subscribe', 'resources/unsubscribe', 'logging/setLevel'])
    server.server.setRequestHandler(method, () => ({}))
  server.server.setRequestHandler('completion/complete', () => ({ completion: { values: [], hasMore: false } }))
  return server
}

const OF_SESSION = {
  tools: (server) => server.sendToolListChanged(),
  prompts: (server) => server.sendPromptListChanged(),
}

const serveHttp = () => {
  // Servers of this era live for one request, so the handler tells of changes.
  const stateless = createMcpHandler(
    () => make({ tools: () => stateless.notify.toolsChanged(), prompts: () => stateless.notify.promptsChanged() }),
    { legacy: 'reject' },
  )
  const sessions = new Map()
  const newSession = async () => {
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => sessions.set(id, transport),
      onsessionclosed: (id) => sessions.delete(id),
    })
    await make(OF_SESSION).connect(transport)
    return transport
  }
  const answerTo = async (request) => {
    const refused = hostHeaderValidationResponse(request, localhostAllowedHostnames())
    if (refused !== undefined) return refused
    if (!(await isLegacyRequest(request))) return stateless.fetch(request)
    const id = request.headers.get('mcp-session-id')
    if (id !== null && !sessions.has(id)) return new Response(undefined, { status: 404 })
    return (sessions.get(id) ?? (await newSession())).handleRequest(request)
  }
  const http = createServer(async (request, response) => {
    const { method, headers } = request
    const body = method === 'POST' ? { body: Readable.toWeb(request), duplex: 'half' } : {}
    const {
      status,
      headers: said,
      body: stream,
    } = await answerTo(new Request(`http://${headers.host}${request.url}`, { method, headers, ...body }))
    response.writeHead(status, Object.fromEntries(said)).flushHeaders()
    if (stream === null) response.end()
    // A client may leave before the end.
    else await pipeline(Readable.fromWeb(stream), response).catch(() => undefined)
  })
  http.listen(Number(process.argv[3] ?? 0), '127.0.0.1', () =>
    process.stderr.write(`http://127.0.0.1:${http.address().port}/mcp\n`),
  )
}

if (process.argv[2] === 'http') serveHttp()
else serveStdio(() => make(OF_SESSION))
