// `cordon mcp login | logout`.
import { createInterface } from 'node:readline'

import { parseSecretSource } from 'cordon/egress'
import { jsonLine, readEgress, STDERR, STDOUT, usage, visible, writeText } from 'cordon/commands'
import type { Arguments, CommandLine } from 'cordon/commands'

import { beginLogin, findLogin, listLogins, logOut, plainScopes } from '../login/index.js'
import type { KeptLogin, PendingLogin } from '../login/index.js'
import { CLIENT_SECRET, loginPlaceOf } from '../login/logins.js'
import { print, tell } from './print.js'
import { namedServer } from '../clients/named-server.js'

const COMMAND = 'cordon mcp login'

export const mcpLogin = async ({ given, environment }: CommandLine): Promise<number> => {
  const { rest, switches } = given
  const one = (name: string): string | undefined => given.values.get(name)?.[0]
  const [action, word, ...more] = rest
  const place = loginPlaceOf(environment, await readEgress(given.values.get('resolve') ?? [], one('upstream-ca')))
  if (switches.has('list')) {
    showList(listLogins(place.folder), switches.has('json'))
    return 0
  }
  if (word === undefined || more.length > 0)
    throw usage(`${action ?? ''} takes one server or URL`, `cordon mcp ${action ?? ''}`)
  const server = namedServer(word, one('config'), environment, `cordon mcp ${action ?? ''}`)
  if (action === 'logout') {
    const login = findLogin(place.folder, server)
    if (login === undefined) throw usage(`nobody is logged in to ${server.href}`, COMMAND, `see: ${COMMAND} --list`)
    const revocation = await logOut(server, login, place)
    if (switches.has('json')) writeText(STDOUT, jsonLine({ server: server.href, revocation }))
    else print(`Logged out of ${login.servers.map(visible).join(', ')}.`)
    if (revocation.kind === 'failed')
      tell(`the tokens are removed here, but were not revoked: ${visible(revocation.because)}`)
    return 0
  }
  const pending = await beginLogin({
    server,
    ...place,
    client: clientIn(given),
    scopes: scopesIn(given),
    redirect: redirectIn(given),
  })
  try {
    if (pending.otherOrigins.length > 0)
      tell(`${visible(pending.issuer)} also uses ${pending.otherOrigins.map(visible).join(', ')}`)
    tell(`logging in to ${server.href} at ${visible(pending.issuer)}; open this address in your browser:`)
    writeText(switches.has('json') ? STDERR : STDOUT, `${pending.url.href}\n`)
    tell('if your browser is on another machine, paste the address that it cannot open:')
    const login = await pending.finish(await redirectOf(pending))
    if (switches.has('json')) writeText(STDOUT, jsonLine(summaryOf(login)))
    else print(`Logged in to ${server.href}${login.scope === '' ? '' : ` (${visible(login.scope)})`}.`)
    return 0
  } finally {
    pending.close()
  }
}

/** From the browser on this machine, or from the terminal. */
const redirectOf = async ({ arrived, pasted }: PendingLogin): Promise<URL> => {
  const lines = createInterface({ input: process.stdin })
  const typed = new Promise<URL>((found) => {
    lines.on('line', (line) => {
      const url = pasted(line)
      if (url !== undefined) found(url)
      else if (line.trim() !== '') tell('this is not the address of this login')
    })
  })
  try {
    return await Promise.race([arrived, typed])
  } finally {
    lines.close()
    process.stdin.destroy()
  }
}

const clientIn = ({ values }: Arguments): Parameters<typeof beginLogin>[0]['client'] => {
  const [id, secret] = [values.get('client-id')?.[0], values.get(CLIENT_SECRET)?.[0]]
  if (secret !== undefined && id === undefined) throw usage('--client-secret needs --client-id', COMMAND)
  return { id, secretSource: secret === undefined ? undefined : keptSource(secret) }
}

/** Read again for each renewal, in any folder. */
const keptSource = (text: string): string => {
  const isFile = text.startsWith('file:')
  const source = parseSecretSource(CLIENT_SECRET, text, isFile ? process.cwd() : undefined)
  if (source.kind === 'login' || source.kind === 'store')
    throw usage(`--client-secret cannot come from ${source.kind}:`, COMMAND)
  return source.kind === 'file' ? `file:${source.path}` : text
}

const scopesIn = ({ values }: Arguments): readonly string[] =>
  (values.get('scope') ?? []).flatMap((text) => {
    const scopes = plainScopes(text)
    if (scopes === undefined) throw usage(`--scope ${JSON.stringify(text)} is not a scope`, COMMAND)
    return scopes.split(' ')
  })

const redirectIn = ({ values }: Arguments): URL | undefined => {
  const text = values.get('redirect')?.[0]
  if (text === undefined) return undefined
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url?.protocol !== 'http:' || url.hostname !== '127.0.0.1' || url.port === '' || !values.has('client-id'))
    throw usage('--redirect is an address like http://127.0.0.1:8484/callback, and needs --client-id', COMMAND)
  return url
}

/** What may be shown of a login: no token. */
const summaryOf = ({ servers, issuer, resource, client_id, scope, expires_at, refresh_token }: KeptLogin) => ({
  servers,
  issuer,
  resource,
  client_id,
  scope,
  expires_at: expires_at === undefined ? null : new Date(expires_at).toISOString(),
  renewable: refresh_token !== undefined,
})

const showList = (logins: readonly KeptLogin[], isJson: boolean): void => {
  const summaries = logins.map(summaryOf)
  if (isJson) {
    writeText(STDOUT, jsonLine(summaries))
    return
  }
  if (summaries.length === 0) print('You are not logged in to any server.')
  for (const { servers, issuer, scope, expires_at, renewable } of summaries) {
    print(servers.map(visible).join(', '))
    print(`  at ${visible(issuer)}${scope === '' ? '' : `, with ${visible(scope)}`}`)
    print(`  ${renewable ? 'renewed by Cordon' : expires_at === null ? 'without an end' : `until ${expires_at}`}`)
  }
}
