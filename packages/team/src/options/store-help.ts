// Help texts that all store commands share. They have their own file so that `cordon --help` does not load the store.
import { flag, value, visibleWord } from 'cordon/commands'
import type { Arguments, CommandHelp, Option } from 'cordon/commands'

export const STORE_OPTIONS: readonly Option[] = [
  value('store', 'DIR', 'an embedded store (default: $CORDON_STORE, ~/.local/state/cordon/store)', 'folder dir'),
  value('server', 'URL', 'a cordon serve: https://HOST:PORT or unix:PATH (default: $CORDON_SERVER)', 'url host'),
  value('token-file', 'FILE', 'a file with your token (default: $CORDON_TOKEN_FILE; the token itself: $CORDON_TOKEN)'),
  value(
    'database',
    'URL',
    'a PostgreSQL server (default: $CORDON_DATABASE, which keeps the password out of `ps`)',
    'db postgres',
  ),
  value('as', 'NAME', 'act as this member, local store only (default: $CORDON_ACTOR, your login)', 'actor user'),
  value('team', 'NAME', 'the team (default: $CORDON_TEAM, or your only team)'),
]

/** The options that name a store. Only one may be given. */
export const STORE_PLACES = ['store', 'server', 'database'] as const

/** Only typed options count: other commands use a local log unless a store is typed. */
export const namesStore = (values: Arguments['values']): boolean => STORE_OPTIONS.some(({ name }) => values.has(name))

/** The typed options, for a command that Cordon suggests, without the password of a URL. */
export const typedStore = (values: Arguments['values']): readonly string[] =>
  STORE_OPTIONS.flatMap(({ name }) =>
    (values.get(name) ?? []).map(
      (value) => `--${name} ${visibleWord(name === 'database' ? withoutPassword(value) : value)}`,
    ),
  )

const withoutPassword = (url: string): string => (/^[^:]*:\/\/[^@:]*:[^@]*@|[?&]\w*password=/i.test(url) ? 'URL' : url)

/** The help of a store command: its own options, --json and those of the store. */
export const storeHelp = ({
  options,
  notes = [],
  ...help
}: Pick<CommandHelp, 'usage' | 'summary' | 'description'> & {
  readonly options: readonly Option[]
  readonly notes?: readonly string[]
}): CommandHelp => ({
  ...help,
  groups: [
    { title: 'options', options: [...options, flag('json', 'print JSON')] },
    { title: 'store', options: STORE_OPTIONS },
  ],
  notes: [...notes, ...EXIT_STATUS_NOTES],
})

const EXIT_STATUS_NOTES: readonly string[] = [
  'Exit status: 0 success; 1 the store refused or cannot be reached; 2 wrong usage, or a file cannot be read.',
]
