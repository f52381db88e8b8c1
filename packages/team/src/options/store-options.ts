// The options of all store commands: which store they use, and as which member.
import { existsSync, lstatSync, mkdirSync, mkdtempSync, readFileSync, rmdirSync, statSync } from 'node:fs'
import { homedir, userInfo } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { stateFolderOf, usage } from 'cordon/commands'
import type { Arguments, CommandLine, Environment } from 'cordon/commands'
import { reasonOf } from 'cordon/errors'

import { fail } from '../errors/errors.js'
import {
  migrate,
  openDirectAccess,
  openPglite,
  openPostgres,
  openRemoteAccess,
  orClose,
  requirePrepared,
  parseSealingKey,
} from '../store/index.js'
import type { Engine, StoreAccess } from '../store/index.js'
import { STORE_PLACES } from './store-help.js'

type StorePlace =
  | { readonly kind: 'folder'; readonly folder: string }
  | { readonly kind: 'server'; readonly server: string }
  | { readonly kind: 'database'; readonly url: string }

const given = (text: string | undefined): string | undefined => (text === '' ? undefined : text)

/** Typed options win over variables. Among variables, database wins over server, and server over folder. */
export const placeOf = (
  { values }: Pick<Arguments, 'values'>,
  environment: Environment,
  command: string,
): StorePlace => {
  const typed = STORE_PLACES.filter((name) => values.has(name))
  if (typed.length > 1) throw usage(`--${typed.join(' and --')} name different stores`, command)
  const { CORDON_STORE: folder, CORDON_SERVER: server, CORDON_DATABASE: url } = environment
  const pick = (name: string, variable: string | undefined): string | undefined =>
    values.get(name)?.[0] ?? (typed.length === 0 ? given(variable) : undefined)
  const [database, served] = [pick('database', url), pick('server', server)]
  if (database !== undefined) return { kind: 'database', url: database }
  if (served !== undefined) return { kind: 'server', server: served }
  return {
    kind: 'folder',
    folder: resolve(pick('store', folder) ?? join(stateFolderOf(environment, homedir()), 'store')),
  }
}

/** Beside the data, so that clients find the server by the folder. */
export const socketOf = (folder: string): string => join(folder, 'socket')
const dataOf = (folder: string): string => join(folder, 'data')

/** One folder at a time: below /proc a recursive mkdir of Node never ends. */
export const makeStoreFolder = (folder: string): void => {
  const missing: string[] = []
  for (let each = folder; !existsSync(each) && dirname(each) !== each; each = dirname(each)) missing.unshift(each)
  try {
    for (const each of missing) mkdirSync(each, { mode: PRIVATE })
    // Only making something shows that something can be made: root may write to /proc, and cannot.
    rmdirSync(mkdtempSync(join(folder, '.try-')))
  } catch (cause) {
    throw fail('store-folder-unusable', { folder, problem: reasonOf(cause) }, cause)
  }
}

const PRIVATE = 0o700

export const openEngine = (place: Exclude<StorePlace, { kind: 'server' }>): Engine =>
  place.kind === 'folder' ? openPglite({ folder: dataOf(place.folder) }) : openPostgres({ url: place.url })

export const ownName = (environment: Environment): string => {
  const { CORDON_ACTOR: named, LOGNAME: login } = environment
  return given(named) ?? given(login) ?? userInfo().username
}

/** `makes`: create a missing store. Other commands do not, because the name may be mistyped. */
export const withStore = async <Result>(
  { given: words, environment }: Pick<CommandLine, 'given' | 'environment'>,
  command: string,
  work: (store: StoreAccess, team: () => Promise<string>) => Promise<Result>,
  { makes = false }: { readonly makes?: boolean } = {},
): Promise<Result> => {
  const store = await openStore(words, environment, command, makes)
  try {
    return await work(store, () => teamOf(store, words, environment, command))
  } finally {
    await store.close()
  }
}

const openStore = async (
  words: Arguments,
  environment: Environment,
  command: string,
  makes: boolean,
): Promise<StoreAccess> => {
  const place = placeOf(words, environment, command)
  const named = words.values.get('as')?.[0]
  const actor = named ?? ownName(environment)
  switch (place.kind) {
    case 'server': {
      const token = readToken(words.values.get('token-file')?.[0], environment)
      if (token !== undefined && named !== undefined)
        throw usage('--as cannot be used with a token, which belongs to one member', command)
      if (token === undefined && !place.server.startsWith('unix:'))
        throw fail('request-unauthenticated', {
          problem: `there is no token for ${place.server}`,
          fix:
            'set CORDON_TOKEN, or name its file with --token-file (CORDON_TOKEN_FILE); an admin creates ' +
            'one: cordon team tokens create NAME --out FILE',
        })
      return openRemoteAccess({ server: place.server, ...(token === undefined ? { actor } : { token }) })
    }
    case 'database': {
      const engine = openEngine(place)
      // Does not migrate: the URL may be mistyped, and a newer version must not update a database in use.
      await orClose(engine, () => requirePrepared(engine))
      return openDirectAccess(engine, named === undefined ? { kind: 'login' } : { kind: 'somebody', actor })
    }
    case 'folder': {
      const { isAnswered } = await import('../server/index.js')
      if (existsSync(socketOf(place.folder)) && (await isAnswered(socketOf(place.folder))))
        return openRemoteAccess({ server: `unix:${socketOf(place.folder)}`, actor })
      if (!makes && !existsSync(dataOf(place.folder))) throw fail('store-not-found', { folder: place.folder })
      if (makes) makeStoreFolder(place.folder)
      const engine = openEngine(place)
      await orClose(engine, () => migrate(engine))
      return openDirectAccess(engine, { kind: 'somebody', actor })
    }
  }
}

const OTHERS = 0o077

/** Not from the command line, which every user of the host can read. */
const readToken = (file: string | undefined, environment: Environment): string | undefined => {
  const { CORDON_TOKEN: token, CORDON_TOKEN_FILE: named } = environment
  const path = file ?? (given(token) === undefined ? given(named) : undefined)
  if (path === undefined) return given(token?.trim())
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (found?.isFile() !== true)
    throw fail('token-unsafe', {
      problem: `${path} is not a file`,
      fix: 'create one: cordon team tokens create MEMBER --out FILE',
    })
  if ((found.mode & OTHERS) !== 0)
    throw fail('token-unsafe', {
      problem: `others can read ${path}`,
      fix: `chmod 600 ${path}, and replace the token, which others may know`,
    })
  return readFileSync(path, 'utf8').trim()
}

const teamOf = async (
  store: StoreAccess,
  { values }: Arguments,
  environment: Environment,
  command: string,
): Promise<string> => {
  const { CORDON_TEAM: team } = environment
  const named = values.get('team')?.[0] ?? given(team)
  if (named !== undefined) return named
  const { actor, teams } = await store.ask('whoAmI', {})
  const [only, ...more] = teams
  if (only === undefined)
    throw usage(
      `${actor} is in no team of ${store.where}`,
      command,
      'create a team: cordon team create NAME; or name a member: --as NAME',
    )
  if (more.length > 0)
    throw usage(
      `${actor} is in several teams: ${teams.map((each) => each.team).join(', ')}`,
      command,
      'name one of them: --team NAME',
    )
  return only.team
}

/** The key for sealed credentials of a store. Undefined if none is named. */
export const sealingKeyOf = (file: string | undefined, environment: Environment): Buffer | undefined => {
  const path = given(file ?? environment['CORDON_KEY_FILE'])
  if (path === undefined) return undefined
  const problem = (text: string, error?: unknown) => fail('sealing-key-invalid', { problem: text }, error)
  let text: string
  try {
    const { mode } = statSync(path)
    if ((mode & OTHERS) !== 0) throw problem(`${path} can be read by others`)
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'syscall' in error) throw problem(`${path} cannot be read: ${error.message}`, error)
    throw error
  }
  return parseSealingKey(text, path)
}
