// Authenticates a request: by its token, or as the owner of the store.
import type { IncomingMessage } from 'node:http'
import type { Door } from 'cordon/runtime'

import { fail } from '../errors/errors.js'
import { authenticate } from '../store/index.js'
import type { AnyOperation, Caller, Engine, TokenHolder } from '../store/index.js'

export interface Reception {
  readonly engine: Engine
  readonly door: Door
  /** The actor of the store's owner, unless they name another. */
  readonly ownerName: string
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9_.@:+-]{0,127}$/

/** `holder`: undefined for the owner of the store. */
export const knowCaller = async (
  { headers }: IncomingMessage,
  { engine, door, ownerName }: Reception,
): Promise<{ readonly caller: Caller; readonly holder: TokenHolder | undefined }> => {
  const { authorization, 'cordon-actor': actor } = headers
  if (authorization === undefined && door.kind === 'socket') {
    const named = actor ?? ownerName
    if (typeof named !== 'string' || !NAME.test(named))
      throw fail('request-invalid', { problem: 'Cordon-Actor is no name', fix: 'name one person or agent' })
    return { caller: { kind: 'somebody', actor: named }, holder: undefined }
  }
  if (actor !== undefined && authorization !== undefined)
    throw refused('a token speaks for one member, and Cordon-Actor names another', 'leave it out')
  const token = /^Bearer ([A-Za-z0-9_-]{1,200})$/i.exec(authorization ?? '')?.[1]
  if (token === undefined)
    throw fail('request-unauthenticated', {
      problem: 'it shows no token',
      fix: 'send Authorization: Bearer TOKEN; cordon team tokens create makes one',
    })
  const holder = await authenticate(engine, token)
  // The same answer for every problem with a token.
  if (holder === undefined)
    throw fail('request-unauthenticated', {
      problem: 'its token speaks for nobody: it was revoked, has expired, its member was removed, or it never was one',
      fix: 'ask an admin for another: cordon team tokens create',
    })
  return { caller: { kind: 'somebody', actor: holder.actor, team: holder.team, token: holder.id }, holder }
}

/** Gives a clearer message. The database decides again, row by row. */
export const requireKind = (holder: TokenHolder | undefined, { who, summary }: AnyOperation): void => {
  if (holder === undefined) return
  const { actor, team, kinds } = holder
  if (who === 'owner')
    throw refused(
      `only the owner of the store may do this: ${summary}`,
      'use the socket of the server, as the user that it runs as (in front of a database it has one with ' +
        '--socket PATH), or the database itself: --database URL',
    )
  if (!who.some((kind) => kinds.includes(kind)))
    throw refused(
      `${actor} is ${kinds.join(' and ')} of ${team}; needed is ${who.join(' or ')}`,
      'ask with the token of one who is',
    )
}

export const requireTeam = (holder: TokenHolder | undefined, { team: named }: { readonly team?: unknown }): void => {
  if (holder === undefined || named === undefined) return
  const { actor, team } = holder
  if (named !== team) throw refused(`this token speaks for ${actor} in ${team} only`, `name the team ${team}`)
}

const refused = (problem: string, fix: string) => fail('request-refused', { problem, fix })
