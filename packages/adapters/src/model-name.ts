// The names of the tools of a runtime as a model calls them, worked out by the compiler.
import type { Cordon } from 'cordon'

/** `string` if a name is not known, or if models get another one in its place (model/model-names.ts). */
export type ModelNameOf<Runtime> = Runtime extends Cordon<infer Tools> ? Fitting<Tools[number]['name']> : string

type Fitting<Name extends string> = false extends Fits<Name> ? string : Name

/** Of at most 64 letters, digits, `_` and `-`. */
type Fits<Name extends string, Before extends readonly unknown[] = []> = string extends Name
  ? false
  : Name extends ''
    ? true
    : Before['length'] extends 64
      ? false
      : Name extends `${infer First}${infer Rest}`
        ? Lowercase<First> extends Sign
          ? Fits<Rest, [...Before, First]>
          : false
        : false

// prettier-ignore
type Sign =
  | 'a' | 'b' | 'c' | 'd' | 'e' | 'f' | 'g' | 'h' | 'i' | 'j' | 'k' | 'l' | 'm'
  | 'n' | 'o' | 'p' | 'q' | 'r' | 's' | 't' | 'u' | 'v' | 'w' | 'x' | 'y' | 'z'
  | '0' | '1' | '2' | '3' | '4' | '5' | '6' | '7' | '8' | '9' | '_' | '-'
