// Clients and servers of both eras, in every combination, through the gateway: on pipes and over HTTP.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type { ClientCapabilities, Transport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { describe, expect, onTestFinished, test } from 'vitest'

import { IN_MATRIX } from '../../../../test/turns.js'
import { GATEWAY_ENVIRONMENT, textOf } from './gateway.js'
import { listening, wordsFor, workspace } from './listening.js'

type Era = 'session' | 'stateless'
const ERAS: readonly Era[] = ['session', 'stateless']

const onPipes = (era: string): Transport =>
  new StdioClientTransport({
    command: process.execPath,
    args: [...wordsFor(era, [])],
    env: GATEWAY_ENVIRONMENT,
    cwd: workspace(),
    stderr: 'inherit',
  })

const connect = async (era: Era, transport: Transport, capabilities: ClientCapabilities = {}): Promise<Client> => {
  const mode = era === 'session' ? 'legacy' : ({ pin: '2026-07-28' } as const)
  const client = new Client({ name: 'test', version: '1' }, { capabilities, versionNegotiation: { mode } })
  onTestFinished(() => client.close())
  if (capabilities.elicitation !== undefined)
    client.setRequestHandler('elicitation/create', ({ params }) =>
      params.message.includes('Your name?')
        ? { action: 'accept', content: { name: `Ada (${params.message})` } }
        : { action: 'decline' },
    )
  await client.connect(transport)
  return client
}

const ASKED = 'Hello Ada (The MCP server "both-eras-server" asks: Your name?)'

const TRANSPORTS = {
  pipes: (server: string): Promise<Transport> => Promise.resolve(onPipes(server)),
  HTTP: async (server: string): Promise<Transport> =>
    new StreamableHTTPClientTransport(new URL(await listening(server))),
}

/** Half of the combinations, in which each pair of transport, client and server is tried. */
const inPairs = (transport: string, client: string, server: string): Partial<typeof IN_MATRIX> =>
  (transport === 'pipes') === (client !== server) ? {} : IN_MATRIX

for (const [name, open] of Object.entries(TRANSPORTS))
  for (const client of ERAS)
    for (const server of ERAS)
      describe(`a ${client} client, over ${name}, and a ${server} server`, inPairs(name, client, server), () => {
        test('lists and calls tools, reads prompts and resources', async () => {
          const connected = await connect(client, await open(server))
          const { tools } = await connected.listTools()
          expect(tools.map((tool) => tool.name)).toEqual(['echo', 'greet', 'count', 'finish', 'grow'])
          expect(textOf(await connected.callTool({ name: 'echo', arguments: { said: 'hi' } }))).toBe('hi')
          expect((await connected.getPrompt({ name: 'hello' })).messages).toHaveLength(1)
          const { contents } = await connected.readResource({ uri: 'test://one' })
          expect(contents).toMatchObject([{ text: 'one' }])
          expect((await connected.listResourceTemplates()).resourceTemplates).toHaveLength(1)
        })

        test('gets answers of the user, and they say which server asks', async () => {
          const connected = await connect(client, await open(server), { elicitation: {} })
          expect(textOf(await connected.callTool({ name: 'greet', arguments: {} }))).toBe(ASKED)
        })

        test('hears of progress', async () => {
          const connected = await connect(client, await open(server))
          const heard: number[] = []
          const onprogress = ({ progress }: { progress: number }) => {
            heard.push(progress)
            if (progress === 3) void connected.callTool({ name: 'finish', arguments: {} })
          }
          await connected.callTool({ name: 'count', arguments: {} }, { onprogress })
          expect(heard).toEqual([1, 2, 3])
        })
      })
