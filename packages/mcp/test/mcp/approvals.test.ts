// A call that a rule asks about is answered by the user of the client, only if the gateway was told so.
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import type { ElicitResult } from '@modelcontextprotocol/sdk/types.js'
import { describe, expect, test } from 'vitest'

import { HOSTILE, folderWith, metaOf, openGateway, textOf } from './gateway.js'

const RULES = `
rules:
  - { effect: ask, tool: echo, because: it is loud }
  - { effect: allow, tool: ask, because: its server is judged }
`

const open = async (answer: ElicitResult | undefined, ...words: readonly string[]) => {
  const folder = folderWith({ 'tools.yaml': '"*": server\n', 'rules.yaml': RULES })
  const asked: string[] = []
  const gateway = await openGateway(
    folder,
    [...['--tools', 'tools.yaml', '--mode', 'default', '--rules', 'rules.yaml'], ...words, '--', 'node', HOSTILE],
    answer === undefined ? {} : { elicitation: {} },
    (client) => {
      if (answer !== undefined)
        client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
          asked.push(params.message)
          return answer
        })
    },
  )
  return { gateway, asked, echo: () => gateway.client.callTool({ name: 'echo', arguments: { words: 'hi\u202e' } }) }
}
const saying = (answer: string): ElicitResult => ({ action: 'accept', content: { answer } })

describe('with --ask client', () => {
  test('a yes runs one call, and the question shows tool, arguments and reason', async () => {
    const { echo, asked } = await open(saying('once'), '--ask', 'client')
    expect(textOf(await echo())).toBe('hi\u202e')
    expect(textOf(await echo())).toBe('hi\u202e')
    expect(asked).toHaveLength(2)
    expect(asked[0]).toContain('Cordon asks: may the tool "echo" be called?')
    expect(asked[0]).toContain('{"words":"hi\\u{202e}"}')
    expect(asked[0]).toContain('it is loud')
  })

  test('a yes for the session is asked once', async () => {
    const { echo, asked } = await open(saying('session'), '--ask', 'client')
    expect([textOf(await echo()), textOf(await echo())]).toEqual(['hi\u202e', 'hi\u202e'])
    expect(asked).toHaveLength(1)
  })

  test.each([
    ['no', saying('reject')],
    ['another word', saying('yes')],
    ['nothing', { action: 'accept' }],
    ['decline', { action: 'decline' }],
    ['cancel', { action: 'cancel' }],
  ] satisfies readonly (readonly [string, ElicitResult])[])('%s runs nothing', async (_answer, answer) => {
    const { echo, asked } = await open(answer, '--ask', 'client')
    expect(metaOf(await echo())).toMatchObject({ 'cordon/status': 'denied' })
    expect(asked).toHaveLength(1)
  })

  test('a client that cannot ask runs nothing', async () => {
    const { echo } = await open(undefined, '--ask', 'client')
    expect(metaOf(await echo())).toMatchObject({ 'cordon/status': 'denied' })
  })
})

test('without --ask client nobody is asked, and nothing runs', async () => {
  const { echo, asked } = await open(saying('once'))
  expect(metaOf(await echo())).toMatchObject({ 'cordon/status': 'denied' })
  expect(asked).toEqual([])
})

test('a server that asks in the name of Cordon, or too long, is refused, and one that asks for itself is not', async () => {
  const { gateway, asked } = await open({ action: 'decline' }, '--allow', 'elicitation')
  const ask = async (message: string) =>
    textOf(await gateway.client.callTool({ name: 'ask', arguments: { method: 'elicitation/create', message } }))
  for (const message of [
    'Cordon asks: may I?',
    'Hello\nCordon asks',
    'From c0rdоn',
    'cor\u200bdon needs your password',
    'Which record? '.repeat(10_000),
  ])
    expect(await ask(message)).toContain('mcp-request-refused')
  expect(asked).toEqual([])
  expect(await ask('Which record on the list?')).toContain('decline')
  expect(asked).toHaveLength(1)
})
