import { writeFileSync } from 'node:fs'

import { fail } from '../../errors/index.js'

import type { CommandLine } from '../command-line.js'
import { STDERR, oneLine, writeText } from '../text/console-text.js'
import { idAmong, isFullId } from '../text/named-id.js'
import type { CommandContext } from '../store/store-command.js'
import { runStoreCommand } from '../store/store-command.js'
import { renderTable } from '../text/table-text.js'
import { parseDays } from '../text/time-words.js'
import { TOKENS_HELP } from './tokens-help.js'

export const tokens = (line: CommandLine): Promise<number> =>
  runStoreCommand({ name: 'tokens', help: TOKENS_HELP, actions: { list, create, revoke } }, line)

const list = async ({ store, team, print }: CommandContext): Promise<number> => {
  const all = await store.ask('listTokens', { team: await team() })
  const day = (time: string | null): string => time?.slice(0, 10) ?? 'never'
  const stateOf = ({
    revokedAt,
    expiresAt,
  }: {
    readonly revokedAt: string | null
    readonly expiresAt: string
  }): string =>
    revokedAt !== null ? 'revoked' : Date.parse(expiresAt) <= Date.now() ? 'expired' : `until ${day(expiresAt)}`
  print(all, (paint) =>
    renderTable(
      ['TOKEN', 'MEMBER', 'STATE', 'USED', 'BY', 'LABEL'],
      all.map((token) => [token.id, token.actor, stateOf(token), day(token.lastUsedAt), token.createdBy, token.label]),
      paint,
      'there are no tokens',
    ),
  )
  return 0
}

const create = async ({ store, team, words, option, wrong, print }: CommandContext): Promise<number> => {
  const [actor, ...rest] = words
  if (actor === undefined || rest.length > 0) throw wrong('name one member')
  const [label, days, file] = [option('label'), option('days'), option('out')]
  const made = await store.ask('createToken', {
    team: await team(),
    actor,
    ...(label === undefined ? {} : { label }),
    ...(days === undefined ? {} : { days: daysOf(days, wrong) }),
  })
  if (file === undefined) {
    print(made, () => `${oneLine(made.token)}\n`)
    writeText(STDERR, `cordon: this is token ${made.id} of ${oneLine(actor)}; it is shown once\n`)
    return 0
  }
  try {
    writeFileSync(file, `${made.token}\n`, { mode: 0o600, flag: 'wx' })
  } catch (error) {
    // A token that nobody has is one that nobody misses.
    await store.ask('revokeToken', { id: made.id })
    throw fail(
      'token-unsafe',
      {
        problem: `it cannot be written: ${error instanceof Error ? error.message : String(error)}`,
        fix: 'name a new file in a folder of yours',
      },
      error,
    )
  }
  print({ id: made.id, file }, () => `token ${made.id} of ${oneLine(actor)} is in ${oneLine(file)}\n`)
  return 0
}

const daysOf = (text: string, wrong: CommandContext['wrong']): number => {
  const days = parseDays(text)
  if (days === undefined) throw wrong(`--days needs a number of days, such as 90d: ${text}`)
  return days
}

const revoke = async ({ store, words, team, wrong, print }: CommandContext): Promise<number> => {
  const [word, ...rest] = words
  if (word === undefined || rest.length > 0)
    throw wrong('no token is named, or more than one', 'name one by its id: cordon tokens list has them')
  const id = isFullId(word)
    ? word
    : idAmong(
        word,
        (await store.ask('listTokens', { team: await team() })).map((each) => [each.id]),
        { what: 'token', listedBy: 'cordon tokens list', wrong },
      )
  await store.ask('revokeToken', { id })
  print({ id, status: 'revoked' }, () => `revoked ${id}\n`)
  return 0
}
