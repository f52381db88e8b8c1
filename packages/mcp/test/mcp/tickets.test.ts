// A call of a client without a session that waits for an approval: its ticket is the state of the result that asks.
import { describe, expect, test } from 'vitest'

import { META, ask, errorOf, resultOf, saidIn } from './http-client.js'
import type { Answered, Fields } from './http-client.js'
import { listening, workspace } from './listening.js'

const RULES = ['echo', 'grow'].map((tool) => `- { effect: ask, tool: ${tool}, because: it is loud }\n`)
const ECHO = { name: 'echo', arguments: { said: 'hi' } }

const open = (folder: string): Promise<string> =>
  listening('session', ['--token', 'none', '--mode', 'default', '--rules', 'rules.yaml', '--ask', 'client'], folder)

const asked = async (url: string): Promise<{ readonly ticket: string; readonly message: string }> => {
  const result = resultOf(await ask(url, 'tools/call', ECHO))
  expect(result).toMatchObject({ resultType: 'input_required', inputRequests: { approval: {} } })
  return { ticket: String(result['requestState']), message: JSON.stringify(result['inputRequests']) }
}

const answer = (url: string, requestState: string, word: string, call: Fields = ECHO): Promise<Answered> =>
  ask(url, 'tools/call', {
    ...call,
    requestState,
    inputResponses: { approval: { action: 'accept', content: { answer: word } } },
  })

const ranNothing = (answered: Answered): void => {
  expect(saidIn(answered)).not.toContain('"hi"')
  expect(JSON.stringify(errorOf(answered))).toContain('ticket-refused')
}

describe('a ticket of the gateway', () => {
  test('runs the call after a yes, once', async () => {
    const url = await open(workspace(`rules:\n${RULES.join('')}`))
    const { ticket, message } = await asked(url)
    expect(message).toContain('Cordon asks: may the tool')
    expect(saidIn(await answer(url, ticket, 'once'))).toContain('hi')
    ranNothing(await answer(url, ticket, 'once'))
  })

  test('is not given for a call of a client that cannot be asked, and nobody else is asked', async () => {
    const url = await open(workspace(`rules:\n${RULES.join('')}`))
    const { ticket } = await asked(url)
    const meta = { ...META, 'io.modelcontextprotocol/clientCapabilities': {} }
    const refused = resultOf(await ask(url, 'tools/call', ECHO, { meta }))
    expect(refused).toMatchObject({ isError: true, _meta: { 'cordon/status': 'denied' } })
    expect(saidIn(await answer(url, ticket, 'once'))).toContain('hi')
  })

  test('runs nothing after a no', async () => {
    const url = await open(workspace(`rules:\n${RULES.join('')}`))
    const { ticket } = await asked(url)
    const refused = resultOf(await answer(url, ticket, 'reject'))
    expect(refused).toMatchObject({ isError: true, _meta: { 'cordon/status': 'denied' } })
    ranNothing(await answer(url, ticket, 'once'))
  })

  test('that was altered or invented runs nothing', async () => {
    const url = await open(workspace(`rules:\n${RULES.join('')}`))
    const { ticket } = await asked(url)
    const middle = Math.floor(ticket.length / 2)
    const other = ticket[middle] === 'A' ? 'B' : 'A'
    ranNothing(await answer(url, `${ticket.slice(0, middle)}${other}${ticket.slice(middle + 1)}`, 'once'))
    ranNothing(await answer(url, 'invented', 'once'))
    expect(saidIn(await answer(url, ticket, 'once'))).toContain('hi')
  })

  test('is for its own tool and its own arguments', async () => {
    const url = await open(workspace(`rules:\n${RULES.join('')}`))
    const { ticket } = await asked(url)
    ranNothing(await answer(url, ticket, 'once', { name: 'grow', arguments: {} }))
    ranNothing(await answer(url, ticket, 'once', { name: 'echo', arguments: { said: 'something else' } }))
    ranNothing(await answer(url, ticket, 'once', { name: 'echo' }))
    expect(saidIn(await answer(url, ticket, 'once'))).toContain('hi')
  })

  test('counts in another gateway of the same user, once among both', async () => {
    const folder = workspace(`rules:\n${RULES.join('')}`)
    const [one, two] = [await open(folder), await open(folder)]
    const { ticket } = await asked(one)
    expect(saidIn(await answer(two, ticket, 'once'))).toContain('hi')
    ranNothing(await answer(one, ticket, 'once'))
  })
})
