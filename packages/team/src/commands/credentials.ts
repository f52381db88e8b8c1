// `cordon credentials`: seals, stores, lists and removes credentials of a team.
import { readFileSync, writeFileSync } from 'node:fs'
import { oneLine } from 'cordon/commands'
import type { CommandLine } from 'cordon/commands'
import { messageOf } from 'cordon/errors'

import { fail } from '../errors/errors.js'
import { runStoreCommand } from '../options/store-command.js'
import type { CommandContext } from '../options/store-command.js'
import { sealingKeyOf } from '../options/store-options.js'
import { newSealingKey, sealCredential } from '../store/index.js'
import { CREDENTIALS_HELP } from './help.js'

export const credentials = (line: CommandLine): Promise<number> =>
  runStoreCommand(
    { name: 'team credentials', help: CREDENTIALS_HELP, actions: { list, put, remove }, apart: { key } },
    line,
  )

const STDIN = 0

const key = ({ oneWord, print }: Pick<CommandContext, 'oneWord' | 'print'>): Promise<number> => {
  const file = oneWord('name one new file')
  try {
    writeFileSync(file, `${newSealingKey()}\n`, { mode: 0o600, flag: 'wx' })
  } catch (error) {
    throw fail('sealing-key-invalid', { problem: `it cannot be written: ${messageOf(error)}` }, error)
  }
  const text =
    `a new key is in ${oneLine(file)}; copy it to hosts that run tools, and keep a copy: without it ` +
    `its credentials cannot be opened\n`
  return Promise.resolve(print({ file }, () => text))
}

const list = async ({ store, team, printList }: CommandContext): Promise<number> =>
  printList(
    await store.ask('listCredentials', { team: await team() }),
    ['NAME', 'KEY', 'BY', 'SINCE'],
    ({ ref, keyId, storedBy, storedAt }) => [ref, keyId, storedBy, storedAt.slice(0, 10)],
    'there are no credentials',
  )

const put = async (context: CommandContext): Promise<number> => {
  const { store, team, option, environment, wrong, print } = context
  const ref = oneName(context)
  const sealingKey = sealingKeyOf(option('key'), environment)
  if (sealingKey === undefined)
    throw wrong(
      'no key is named',
      'name the key: --key FILE, or CORDON_KEY_FILE; cordon team credentials key FILE creates one',
    )
  const typed = readFileSync(STDIN)
  const value = typed.subarray(0, typed.at(-1) === 0x0a ? -1 : undefined)
  if (value.length === 0)
    throw wrong(
      'the value comes from stdin, which is empty',
      'write it there: printf %s "$VALUE" | cordon team credentials put NAME',
    )
  const owner = await team()
  await store.ask('storeCredential', { team: owner, ref, ...sealCredential(sealingKey, owner, ref, value) })
  return print(
    { team: owner, ref },
    () => `stored ${ref} of ${oneLine(owner)}; runners have it as --secret ID=store:${oneLine(owner)}/${ref}\n`,
  )
}

const remove = async (context: CommandContext): Promise<number> => {
  const { store, team, print } = context
  const ref = oneName(context)
  await store.ask('removeCredential', { team: await team(), ref })
  return print({ ref, status: 'removed' }, () => `removed ${ref}\n`)
}

const oneName = ({ oneWord, wrong }: CommandContext): string => {
  const ref = oneWord('name one credential')
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/.test(ref))
    throw wrong(`"${ref}" is not a valid name: use letters and digits, and . _ - after the first`)
  return ref
}
