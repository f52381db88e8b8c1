import { readFileSync, writeFileSync } from 'node:fs'

import { fail } from '../../errors/index.js'
import { newSealingKey, sealCredential } from '../../store/index.js'

import type { CommandLine } from '../command-line.js'
import { oneLine } from '../text/console-text.js'
import { CREDENTIALS_HELP } from './credentials-help.js'
import { sealingKeyOf } from '../store/sealing-key.js'
import type { CommandContext } from '../store/store-command.js'
import { runStoreCommand } from '../store/store-command.js'
import { renderTable } from '../text/table-text.js'

export const credentials = (line: CommandLine): Promise<number> =>
  runStoreCommand({ name: 'credentials', help: CREDENTIALS_HELP, actions: { list, put, remove }, apart: { key } }, line)

const STDIN = 0

const key = ({ words, wrong, print }: Pick<CommandContext, 'words' | 'wrong' | 'print'>): Promise<number> => {
  const [file, ...rest] = words
  if (file === undefined || rest.length > 0) throw wrong('name one new file')
  try {
    writeFileSync(file, `${newSealingKey()}\n`, { mode: 0o600, flag: 'wx' })
  } catch (error) {
    throw fail(
      'sealing-key-invalid',
      { problem: `it cannot be written: ${error instanceof Error ? error.message : String(error)}` },
      error,
    )
  }
  print(
    { file },
    () =>
      `a new key is in ${oneLine(file)}; give it to hosts that run tools, and keep a copy: without it ` +
      `nothing that it sealed can be opened\n`,
  )
  return Promise.resolve(0)
}

const list = async ({ store, team, print }: CommandContext): Promise<number> => {
  const all = await store.ask('listCredentials', { team: await team() })
  print(all, (paint) =>
    renderTable(
      ['NAME', 'KEY', 'BY', 'SINCE'],
      all.map(({ ref, keyId, storedBy, storedAt }) => [ref, keyId, storedBy, storedAt.slice(0, 10)]),
      paint,
      'there are no credentials',
    ),
  )
  return 0
}

const put = async ({ store, team, words, option, environment, wrong, print }: CommandContext): Promise<number> => {
  const ref = oneName(words, wrong)
  const sealingKey = sealingKeyOf(option('key'), environment)
  if (sealingKey === undefined)
    throw wrong(
      'no key is named',
      'name the key: --key FILE, or CORDON_KEY_FILE; cordon credentials key FILE makes one',
    )
  const value = readFileSync(STDIN)
  const end = value.at(-1) === 0x0a ? -1 : undefined
  if (value.subarray(0, end).length === 0)
    throw wrong(
      'the value comes from stdin, which is empty',
      'write it there: printf %s "$VALUE" | cordon credentials put NAME',
    )
  const owner = await team()
  await store.ask('storeCredential', {
    team: owner,
    ref,
    ...sealCredential(sealingKey, owner, ref, value.subarray(0, end)),
  })
  print(
    { team: owner, ref },
    () => `stored ${ref} of ${oneLine(owner)}; runners have it as --secret ID=store:${oneLine(owner)}/${ref}\n`,
  )
  return 0
}

const remove = async ({ store, team, words, wrong, print }: CommandContext): Promise<number> => {
  const ref = oneName(words, wrong)
  await store.ask('removeCredential', { team: await team(), ref })
  print({ ref, status: 'removed' }, () => `removed ${ref}\n`)
  return 0
}

const oneName = ([ref, ...rest]: readonly string[], wrong: CommandContext['wrong']): string => {
  if (ref === undefined || rest.length > 0) throw wrong('name one credential')
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/.test(ref))
    throw wrong(`"${ref}" is no name of a credential: letters, digits, and . _ - after the first`)
  return ref
}
