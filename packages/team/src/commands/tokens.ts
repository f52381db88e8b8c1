// `cordon tokens`: creates, lists and revokes tokens for cordon serve.
import { writeFileSync } from 'node:fs'
import { oneLine, parseDays, STDERR, writeText } from 'cordon/commands'
import type { CommandLine } from 'cordon/commands'
import { messageOf } from 'cordon/errors'
import { withoutUndefined } from 'cordon/shapes'

import { fail } from '../errors/errors.js'
import { runStoreCommand } from '../options/store-command.js'
import type { CommandContext } from '../options/store-command.js'
import type { AnswerOf } from '../store/index.js'
import { TOKENS_HELP } from './help.js'

export const tokens = (line: CommandLine): Promise<number> =>
  runStoreCommand({ name: 'team tokens', help: TOKENS_HELP, actions: { list, create, revoke } }, line)

const day = (time: string | null): string => time?.slice(0, 10) ?? 'never'

const stateOf = ({ revokedAt, expiresAt }: AnswerOf<'listTokens'>[number]): string =>
  revokedAt !== null ? 'revoked' : Date.parse(expiresAt) <= Date.now() ? 'expired' : `until ${day(expiresAt)}`

const list = async ({ store, team, printList }: CommandContext): Promise<number> =>
  printList(
    await store.ask('listTokens', { team: await team() }),
    ['TOKEN', 'MEMBER', 'STATE', 'USED', 'BY', 'LABEL'],
    (token) => [token.id, token.actor, stateOf(token), day(token.lastUsedAt), token.createdBy, token.label],
    'there are no tokens',
  )

const create = async ({ store, team, oneWord, option, wrong, print }: CommandContext): Promise<number> => {
  const actor = oneWord('name one member')
  const [typed, file] = [option('days'), option('out')]
  const days = typed === undefined ? undefined : parseDays(typed)
  if (typed !== undefined && days === undefined) throw wrong(`--days needs a number of days, such as 90d: ${typed}`)
  const more = withoutUndefined({ label: option('label'), days })
  const made = await store.ask('createToken', { team: await team(), actor, ...more })
  if (file === undefined) {
    print(made, () => `${oneLine(made.token)}\n`)
    writeText(STDERR, `cordon: this is token ${made.id} of ${oneLine(actor)}; it is shown once\n`)
    return 0
  }
  try {
    writeFileSync(file, `${made.token}\n`, { mode: 0o600, flag: 'wx' })
  } catch (error) {
    // Nobody has the token.
    await store.ask('revokeToken', { id: made.id })
    throw fail(
      'token-unsafe',
      { problem: `it cannot be written: ${messageOf(error)}`, fix: 'name a new file in a folder of yours' },
      error,
    )
  }
  return print({ id: made.id, file }, () => `token ${made.id} of ${oneLine(actor)} is in ${oneLine(file)}\n`)
}

const revoke = async ({ store, team, oneId, print }: CommandContext): Promise<number> => {
  const id = await oneId('token', 'cordon team tokens list', async () =>
    (await store.ask('listTokens', { team: await team() })).map((each) => [each.id]),
  )
  await store.ask('revokeToken', { id })
  return print({ id, status: 'revoked' }, () => `revoked ${id}\n`)
}
