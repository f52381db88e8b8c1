// Questions of one caller, answered by the database, here or for a server.
import { createHash } from 'node:crypto'

import { watchChanges } from './changes/changes.js'
import type { Changes } from './changes/changes.js'
import type { Engine } from './engine.js'
import type { AnyOperation } from './operations/index.js'
import { speakingAs } from './speaker.js'

/** An answer and a mark of it: another mark is another answer. */
export interface Marked<Answer> {
  readonly answer: Answer
  readonly mark: string
}

export interface Following {
  /** Of the answer that is known already. */
  readonly known?: string
  readonly waitMs: number
  readonly signal?: AbortSignal
  /** Each look at the database is made when it is its turn. */
  readonly turn?: Turn
}

/** Does it when it may be done; the signal says that nobody waits for it any more. */
export type Turn = <Result>(work: (signal?: AbortSignal) => Promise<Result>) => Promise<Result>

export const AT_ONCE: Turn = (work) => work()

/** The caller: the database login itself, or a member for whom a gateway acts. */
export type Caller =
  | { readonly kind: 'login' }
  | {
      readonly kind: 'somebody'
      readonly actor: string
      readonly team?: string
      /** The id of the token by which they are known. */ readonly token?: string
    }

/** What a server and the command line have in common: questions of one caller, answered by the database. */
export interface Registry {
  readonly answer: (
    operation: AnyOperation,
    caller: Caller,
    given: Readonly<Record<string, unknown>>,
    signal?: AbortSignal,
  ) => Promise<unknown>
  readonly follow: (
    operation: AnyOperation,
    caller: Caller,
    given: Readonly<Record<string, unknown>>,
    following: Following,
  ) => Promise<(Marked<unknown> & { readonly text: string }) | undefined>
  readonly close: () => Promise<void>
}

export const openRegistry = (engine: Engine, changes: Changes = watchChanges(engine)): Registry => {
  const answer: Registry['answer'] = (operation, caller, given, signal) => {
    const { role, longestMs } = operation
    const asking = speakingAs(
      engine,
      caller.kind === 'login'
        ? caller
        : {
            kind: 'gateway',
            role,
            actor: caller.actor,
            ...(caller.team === undefined ? {} : { team: caller.team }),
            ...(caller.token === undefined ? {} : { token: caller.token }),
          },
      { ...(signal === undefined ? {} : { signal }), ...(longestMs === undefined ? {} : { longestMs }) },
    )
    return operation.perform(asking, given)
  }
  return {
    answer,
    follow: async (operation, caller, given, { known, waitMs, signal, turn = AT_ONCE }) => {
      const until = Date.now() + waitMs
      const { isAbout } = operation
      if (isAbout !== undefined && waitMs > 0) await changes.listening()
      for (;;) {
        // Listened for before it is looked at: what happens in between is heard.
        const { changed, stop } = changes.next(
          (notification, channel) => isAbout?.(given, notification, channel) === true,
          until - Date.now(),
          signal,
        )
        try {
          const text = JSON.stringify((await turn((over) => answer(operation, caller, given, over))) ?? null)
          const mark = createHash('sha256').update(text).digest('base64url')
          if (mark !== known) return { answer: JSON.parse(text), mark, text }
          if (Date.now() >= until || isAbout === undefined || signal?.aborted === true) return undefined
          await changed
        } finally {
          stop()
        }
      }
    },
    close: changes.close,
  }
}
