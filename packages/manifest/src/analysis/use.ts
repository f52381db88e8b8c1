// What the code of a tool may do, as far as its text shows.
import type ts from 'typescript'

/** A text as far as it is known: all of it, or how it begins. */
export type Text =
  { readonly kind: 'whole'; readonly text: string } | { readonly kind: 'start'; readonly text: string } | Unknown
export interface Unknown {
  readonly kind: 'unknown'
}

export const UNKNOWN: Unknown = { kind: 'unknown' }

export const whole = (text: string): Text => ({ kind: 'whole', text })

/** What is done: to which file, with which host, and so on. */
export type Deed =
  | { readonly kind: 'read' | 'write'; readonly path: Text }
  | { readonly kind: 'network'; readonly target: Target }
  | { readonly kind: 'environment'; readonly name: Text }
  | { readonly kind: 'exec'; readonly program: Text }
  | ({ readonly kind: 'opaque' } & Obstruction)
  /** `specifier`: as the code names it, such as `name/part`. */
  | { readonly kind: 'package'; readonly name: string; readonly specifier: string }

/** Why code cannot be followed, and what would let it. */
export interface Obstruction {
  readonly because: string
  readonly fix?: string
}

/** `url`: an HTTP request. `stream`: a connection that may carry anything. */
export type Target =
  | { readonly kind: 'url'; readonly url: Text; readonly method: Text }
  | { readonly kind: 'stream'; readonly host: Text; readonly port: Text }

export interface Use {
  readonly deed: Deed
  readonly node: ts.Node
  /** The functions that lead there, from the outermost on. */
  readonly chain: readonly Step[]
}

export interface Step {
  readonly name: string
  readonly node: ts.Node
}
