import type { Read, Shape, Shapes } from '../../shapes/index.js'

import { markOf } from '../changes/changes.js'
import type { Channel } from '../changes/changes.js'
import type { Session } from '../engine.js'
import type { MemberKind } from '../registry/registry.js'
import type { Role } from '../speaker.js'

export type Asking = Pick<Session, 'query'>

export interface Growth<Given extends Shapes, Answer> {
  /** Each with the mark that one goes on after. */
  readonly items: (answer: Told<Answer>) => readonly { readonly mark: string; readonly item: object }[]
  readonly goOn: (given: Read<Given>, mark: string) => Read<Given>
  /** What to say last, when nothing more comes. */
  readonly end: (answer: Told<Answer>) => object | undefined
}

/** Something that can be asked of a store: here, by the command line, or through a server, in the same words. */
export interface Operation<Given extends Shapes, Answer> {
  readonly method: 'GET' | 'POST' | 'DELETE'
  /** `{name}` is a field; the others are in the query (GET, DELETE) or in the body (POST). */
  readonly path: string
  readonly summary: string
  /** With whose rights the database is asked. What the rows allow it decides by who asks. */
  readonly role: Role
  /**
   * Who may use it through a server; `owner`: only the owner of the store. Checked before the database, which decides
   * again.
   */
  readonly who: readonly MemberKind[] | 'owner'
  readonly fields: Given
  /** Held against the type of what is answered. */
  readonly answer: Shape<Told<Answer>>
  /**
   * Whether a notification of the database (`markOf` an id) is about the answer; only where one can wait for another.
   */
  readonly isAbout?: (given: Read<Given>, notification: string, channel: Channel) => boolean
  /**
   * Where the answer is what is new after a mark, and grows: it can be had as it does (`Accept: text/event-stream`).
   */
  readonly growth?: Growth<Given, Answer>
  /** How long one statement of it may take, where that is longer than others have. */
  readonly longestMs?: number
  /**
   * What is measured is written with more digits than a double has. Otherwise such a number is refused: people would be
   * shown another one.
   */
  readonly takesAnyDouble?: true
  readonly perform: (asking: Asking, given: Read<Given>) => Promise<Answer>
}

export const operation = <const Given extends Shapes, Answer>(
  declared: Operation<Given, Answer>,
): Operation<Given, Answer> => declared

/** A change of the call or the run that has this id; what a call says meanwhile is none. */
export const isChangeOfIt = (given: { readonly id: string }, notification: string, channel: Channel): boolean =>
  channel !== 'tool_invocation_output' && notification === markOf(given.id)

export const EVERYBODY: readonly MemberKind[] = ['admin', 'operator', 'agent', 'runner']

/** What JSON makes of an answer. */
export type Told<Value> = Value extends Date
  ? string
  : Value extends readonly (infer Item)[]
    ? readonly Told<Item>[]
    : Value extends object
      ? { readonly [Key in keyof Value]: Told<Value[Key]> }
      : Value
