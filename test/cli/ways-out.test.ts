// Every refusal comes with a matching fix, at the command line and through the server.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { typedStore } from '../../packages/team/src/options/store-help.js'
import { CordonError } from '../../packages/core/src/errors/index.js'

import { openServedTeam } from '../../packages/team/test/cli/served-team.js'
import type { ServedTeam } from '../../packages/team/test/cli/served-team.js'

let team: ServedTeam
beforeAll(async () => {
  team = await openServedTeam()
  await team.register('look', {
    egressClass: 'none',
    requiresApproval: false,
    inputSchema: { type: 'object', properties: { place: { type: 'string' } }, additionalProperties: false },
  })
  await team.register('send', { egressClass: 'write' })
})
afterAll(() => team.close())

const wayOut = async (asked: Promise<unknown>): Promise<string> => {
  const error = await asked.then(
    () => expect.fail('it was not refused'),
    (raised: unknown) => raised,
  )
  return error instanceof CordonError ? `${error.message} | ${error.fix ?? ''}` : expect.fail(String(error))
}
test('a suggested command repeats what was typed, but no password', () => {
  const typed = (url: string) =>
    typedStore(
      new Map([
        ['database', [url]],
        ['as', ['anna o']],
      ]),
    ).join(' ')
  expect(typed('postgres://anna@db:5432/cordon')).toBe("--database postgres://anna@db:5432/cordon --as 'anna o'")
  expect(typed('postgres://anna@/cordon?host=%2Frun')).toContain('host=%2Frun')
  for (const url of [
    'postgres://anna:secret@db/cordon',
    'postgres://anna:se/cret@/cordon?host=%2Frun',
    'postgres://db/cordon?user=anna&password=secret',
  ])
    expect(typed(url)).toBe("--database URL --as 'anna o'")
})

const HASH = `sha256:${'0'.repeat(64)}`

describe('a refused call says what would allow it', () => {
  const refused = (tool = 'look', input: unknown = {}) => wayOut(team.invoke(tool, input))

  test('for a budget: when it resets, and the command that changes it', async () => {
    const budget = { team: 'acme', scope: 'agent', subject: 'bot', seconds: 3600 } as const
    await team.by('ada').ask('setBudget', { ...budget, maxCalls: 0 })
    expect(await refused()).toMatch(
      /has used its 0 calls.* \| it counts anew from \d{4}-\S+Z on; .*cordon team budget --agent bot --per 3600s --calls N.*--off/,
    )
    await team.by('ada').ask('setBudget', { ...budget, maxCost: 0 })
    expect(await refused()).toMatch(/has used its budget of 0.* \| it counts anew/)
    await team.by('ada').ask('removeBudget', budget)
  })

  test('for a stop, a profile, an assignment, the state of the tool, its schema', async () => {
    await team.by('anna').ask('stop', { team: 'acme', scope: 'all', subject: '', state: 'kill', reason: 'fire' })
    expect(await refused()).toMatch(
      /stopped: all: fire .* \| cordon team show says what is stopped; .*cordon team resume/,
    )
    await team.by('anna').ask('resume', { team: 'acme', scope: 'all', subject: '' })
    await team.by('ada').ask('setProfile', { team: 'acme', name: 'readers', denyTools: ['look'] })
    await team.by('ada').ask('assignTool', { team: 'acme', tool: 'look', agent: 'bot', profile: 'readers' })
    expect(await refused()).toMatch(
      /the profile readers does not allow the tool look \| .*cordon team profile readers .*cordon team tools assign look bot --profile NAME/,
    )
    await team.by('ada').ask('assignTool', { team: 'acme', tool: 'look', agent: 'bot' })
    expect(await refused('look', { plac: 'x' })).toMatch(/ \| cordon team tools show look prints what it takes$/)
    await team.by('ada').ask('revokeTool', { team: 'acme', tool: 'send', agent: 'bot' })
    expect(await refused('send')).toMatch(
      /not assigned to bot \| an admin assigns it: cordon team tools assign send bot$/,
    )
    await team.by('ada').ask('assignTool', { team: 'acme', tool: 'send', agent: 'bot' })
    await team.by('ada').ask('setToolStatus', { team: 'acme', tool: 'send', status: 'disabled' })
    expect(await refused('send')).toMatch(/is disabled \| an admin enables it: cordon team tools enable send$/)
    await team.by('ada').ask('setToolStatus', { team: 'acme', tool: 'send', status: 'active' })
  })
})

test('an invalid answer says why, and what to do instead', async () => {
  const id = await team.invoke('send')
  const { inputHash } = await team.by('anna').ask('findInvocation', { id })
  expect(await wayOut(team.by('anna').ask('approve', { id, shownHash: HASH }))).toContain(
    `| look at it, and name the hash that is printed there: cordon approvals show ${id}`,
  )
  expect(await wayOut(team.by('ada').ask('approve', { id, shownHash: inputHash }))).toMatch(
    /ada is no operator of acme \| .*cordon team add ada operator$/,
  )
  await team.by('anna').ask('reject', { id, reason: 'no' })
  expect(await wayOut(team.by('otto').ask('approve', { id, shownHash: inputHash }))).toContain(
    `is rejected | what became of it: cordon why ${id}`,
  )
})

test('a missing object comes with the command that lists them', async () => {
  const id = '01a1dfec-9932-7ea1-ade2-a0f44a4eb55f'
  expect(await wayOut(team.by('anna').ask('findInvocation', { id }))).toContain('| see: cordon team calls list')
  expect(await wayOut(team.by('anna').ask('showRun', { id }))).toContain('| see: cordon team runs list')
  expect(await wayOut(team.by('anna').ask('showTool', { team: 'acme', tool: 'nope' }))).toContain(
    '| see: cordon team tools list',
  )
})

describe('names are checked before a stop or a limit', () => {
  test.each([
    [['stop', '--tool', 'loook', '--reason', 'x'], /acme has no tool loook\nfix: did you mean look\?/],
    [['pause', '--agent', 'nobody', '--reason', 'x'], /acme has no agent nobody\nfix: .*cordon team add/],
    [['budget', '--profile', 'writers', '--calls', '1', '--per', '1h'], /acme has no profile writers\nfix: /],
    [['budget', '--agent', 'bot', '--calls', 'many', '--per', '1h'], /--calls needs a number/],
  ])('%j', (words, said) => {
    const { status, stderr } = team.as('ada', 'team', ...words)
    expect({ status: status === 0, said: said.test(stderr) }).toEqual({ status: false, said: true })
  })

  test('resume names what is stopped', async () => {
    await team.by('anna').ask('stop', { team: 'acme', scope: 'agent', subject: 'bot', state: 'pause', reason: 'x' })
    expect(team.as('anna', 'team', 'resume').stderr).toMatch(
      /not everything is stopped in acme\nfix: these are stopped: agent bot \(cordon team resume --agent bot\)/,
    )
    expect(team.as('anna', 'team', 'resume', '--agent', 'bot').status).toBe(0)
  })
})

test('a budget is shown with its limit, span and use', async () => {
  expect(
    team.as('ada', 'team', 'budget', '--agent', 'bot', '--calls', '10', '--cost', '2.5', '--per', '1d').stdout,
  ).toBe('set the budget of agent bot: 10 calls and a cost of 2.5 per 1d\n')
  await team.invoke('look')
  expect(team.as('ada', 'team', 'show').stdout).toMatch(
    /BUDGET +PER +CALLS +COST +ANEW IN\nagent bot +1d +1 of 10 +0 of 2.5 +\d+[hms]\n/,
  )
  expect(team.as('ada', 'team', 'budget', '--agent', 'bot', '--off', '--per', '24h').stdout).toBe(
    'removed the budget of agent bot per 1d\n',
  )
})
