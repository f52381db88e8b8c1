// Help texts that all store commands share. They have their own file so that `cordon --help` does not load the store.
import type { Arguments, Option } from '../arguments.js'
import { visibleWord } from '../text/visible-text.js'

export const STORE_OPTIONS: readonly Option[] = [
  {
    name: 'store',
    value: 'DIR',
    meantBy: ['folder', 'dir'],
    help: 'an embedded store (default: $CORDON_STORE, ~/.local/state/cordon/store)',
  },
  {
    name: 'server',
    value: 'URL',
    meantBy: ['url', 'host'],
    help: 'a cordon serve: https://HOST:PORT or unix:PATH (default: $CORDON_SERVER)',
  },
  {
    name: 'token-file',
    value: 'FILE',
    help: 'a file with your token (default: $CORDON_TOKEN_FILE; the token itself: $CORDON_TOKEN)',
  },
  {
    name: 'database',
    value: 'URL',
    meantBy: ['db', 'postgres'],
    help: 'a PostgreSQL server (default: $CORDON_DATABASE, which keeps the password out of `ps`)',
  },
  {
    name: 'as',
    value: 'NAME',
    meantBy: ['actor', 'user'],
    help: 'act as this member, local store only (default: $CORDON_ACTOR, your login)',
  },
  { name: 'team', value: 'NAME', help: 'the team (default: $CORDON_TEAM, or your only team)' },
]

/** Those that say where it is; one of them at a time. */
export const STORE_PLACES = ['store', 'server', 'database'] as const

/** Without the environment: commands that are about a log too are about a store where that is typed. */
export const namesStore = (values: Arguments['values']): boolean => STORE_OPTIONS.some(({ name }) => values.has(name))

/** The same options as typed, for a command that Cordon suggests. The password of a URL is not shown. */
export const typedStore = (values: Arguments['values']): readonly string[] =>
  STORE_OPTIONS.flatMap(({ name }) =>
    (values.get(name) ?? []).map(
      (value) => `--${name} ${visibleWord(name === 'database' ? withoutPassword(value) : value)}`,
    ),
  )

const withoutPassword = (url: string): string => (/^[^:]*:\/\/[^@:]*:[^@]*@|[?&]\w*password=/i.test(url) ? 'URL' : url)

export const JSON_OPTION: Option = { name: 'json', help: 'print JSON' }

export const EXIT_STATUS_NOTES: readonly string[] = [
  'Exit status: 0 success; 1 the store refused or cannot be reached; 2 wrong usage, or a file cannot be read.',
]
