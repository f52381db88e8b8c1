// An operation of the registry, and what many operations have in common.
import { list } from 'cordon/shapes'
import type { Read, Shape, Shapes } from 'cordon/shapes'

import { markOf } from '../changes/changes.js'
import type { Channel } from '../changes/changes.js'
import type { Queryable, Role } from '../engine.js'
import { MEMBER_KINDS, NOTHING } from '../registry/team-answers.js'
import type { MemberKind } from '../registry/team-answers.js'
import { name } from './field.js'

export interface Growth<Given extends Shapes, Answer> {
  /** Each with the mark to go on after. */
  readonly items: (answer: JsonOf<Answer>) => readonly { readonly mark: string; readonly item: object }[]
  readonly goOn: (given: Read<Given>, mark: string) => Read<Given>
  /** The last item, once nothing more comes. */
  readonly end: (answer: JsonOf<Answer>) => object | undefined
}

/** A request to the registry, in the same words for the command line, a runtime and a server. */
export interface Operation<Given extends Shapes, Answer> {
  readonly method: 'GET' | 'POST' | 'DELETE'
  /** `{name}` is a field. The others are in the query (GET, DELETE) or in the body (POST). */
  readonly path: string
  readonly summary: string
  /** The role that asks the database, which also checks the caller's rights to each row. */
  readonly role: Role
  /** Who may use it through a server; `owner`: only the owner of the store. The database decides again. */
  readonly who: readonly MemberKind[] | 'owner'
  readonly fields: Given
  readonly answer: Shape<JsonOf<Answer>>
  /** Whether a notification of the database (`markOf` an id) may change the answer. Without it nobody can wait. */
  readonly isAbout?: (given: Read<Given>, notification: string, channel: Channel) => boolean
  /** For an answer that grows: clients can follow it (`Accept: text/event-stream`). */
  readonly growth?: Growth<Given, Answer>
  /** A longer statement timeout than the usual one. */
  readonly longestMs?: number
  /** Takes numbers with more digits than a double has. Others refuse them, because people would see another number. */
  readonly takesAnyDouble?: true
  readonly perform: (asking: Queryable, given: Read<Given>) => Promise<Answer>
}

export const operation = <const Given extends Shapes, Answer>(
  declared: Operation<Given, Answer>,
): Operation<Given, Answer> => declared

/** An operation that answers nothing. */
export const operationWithoutAnswer = <const Given extends Shapes>(
  declared: Omit<Operation<Given, void>, 'answer'>,
): Operation<Given, void> => ({ ...declared, answer: NOTHING })

/** Whether the call or the run with this id changed. Output of a call is no change. */
export const isChangeOfIt = (given: { readonly id: string }, notification: string, channel: Channel): boolean =>
  channel !== 'tool_invocation_output' && notification === markOf(given.id)

export const EVERYBODY = MEMBER_KINDS

export const READ_AS_MEMBER = { method: 'GET', role: 'cordon_agent', who: EVERYBODY } as const
export const READ_AS_AUDITOR = { method: 'GET', role: 'cordon_operator', who: ['admin', 'operator'] } as const
/** Changes. Some are made with another method. */
export const WRITE_AS = {
  admin: { method: 'POST', role: 'cordon_admin', who: ['admin'] },
  operator: { method: 'POST', role: 'cordon_operator', who: ['operator'] },
  operatorOrAdmin: { method: 'POST', role: 'cordon_operator', who: ['operator', 'admin'] },
  agent: { method: 'POST', role: 'cordon_agent', who: ['agent'] },
  /** The member who started it, or who answers for the team. */
  starter: { method: 'POST', role: 'cordon_agent', who: ['agent', 'operator', 'admin'] },
  runner: { method: 'POST', role: 'cordon_runner', who: ['runner', 'agent'] },
  owner: { method: 'POST', role: 'service_role', who: 'owner' },
} as const

/** `GET /v1/teams/{team}/WHAT`. */
export const listOfTeam = <Item>(
  what: string,
  summary: string,
  item: Shape<JsonOf<Item>>,
  perform: (asking: Queryable, team: string) => Promise<readonly Item[]>,
): Operation<{ readonly team: Shape<string> }, readonly Item[]> =>
  operation<{ readonly team: Shape<string> }, readonly Item[]>({
    ...READ_AS_MEMBER,
    path: `/v1/teams/{team}/${what}`,
    summary,
    fields: { team: name() },
    answer: list(item),
    perform: (asking, { team }) => perform(asking, team),
  })

/** An answer as JSON. */
export type JsonOf<Value> = Value extends Date
  ? string
  : Value extends readonly (infer Item)[]
    ? readonly JsonOf<Item>[]
    : Value extends object
      ? { readonly [Key in keyof Value]: JsonOf<Value[Key]> }
      : Value
