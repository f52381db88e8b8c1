// What the help of all commands says that speak to a store. Apart from them: the list of commands does not wait for a store.
import type { Arguments, Option } from '../arguments.js'
import { visibleWord } from '../text/visible-text.js'

export const STORE_OPTIONS: readonly Option[] = [
  { name: 'store', value: 'DIR', meantBy: ['folder', 'dir'], help: 'an embedded store (otherwise: $CORDON_STORE, ~/.local/state/cordon/store)' },
  { name: 'server', value: 'URL', meantBy: ['url', 'host'], help: 'a cordon serve: https://HOST:PORT, unix:PATH (otherwise: $CORDON_SERVER)' },
  { name: 'token-file', value: 'FILE', help: 'a file of yours alone with its token (otherwise: $CORDON_TOKEN)' },
  { name: 'database', value: 'URL', meantBy: ['db', 'postgres'], help: 'a PostgreSQL server (otherwise: $CORDON_DATABASE, which others do not see)' },
  { name: 'as', value: 'NAME', meantBy: ['actor', 'user'], help: 'in whose name, for who has the store itself (otherwise: $CORDON_ACTOR, your login)' },
  { name: 'team', value: 'NAME', help: 'the team (otherwise: $CORDON_TEAM, or the only one that you are in)' },
]

/** Those that say where it is; one of them at a time. */
export const STORE_PLACES = ['store', 'server', 'database'] as const

/** Without the environment: commands that are about a log too are about a store where that is typed. */
export const namesStore = (values: Arguments['values']): boolean => STORE_OPTIONS.some(({ name }) => values.has(name))

/** The same, as they were typed, for a command that somebody is told to type; the password of a URL is not shown again. */
export const typedStore = (values: Arguments['values']): readonly string[] =>
  STORE_OPTIONS.flatMap(({ name }) => (values.get(name) ?? []).map((value) => `--${name} ${visibleWord(name === 'database' ? withoutPassword(value) : value)}`))

const withoutPassword = (url: string): string => (/^[^:]*:\/\/[^@:]*:[^@]*@|[?&]\w*password=/i.test(url) ? 'URL' : url)

export const JSON_OPTION: Option = { name: 'json', help: 'answers as JSON' }

export const EXIT_STATUS_NOTES: readonly string[] = [
  'Exit status: 0 when it was done, 1 when the store refused it or cannot be reached, 2 when the command line cannot be',
  'understood or names a file that cannot be read.',
]
