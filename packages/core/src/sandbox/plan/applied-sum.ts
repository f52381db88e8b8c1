// What a launcher that follows a plan reports: the number of its mounts and Landlock rules, and a sum over them. The
// launcher makes the same sum beside the system calls themselves (native/wire/applied.h).
import { bytesOfName } from '../grants/file-names.js'
import { FORM_HAS } from './form-has.js'
import type { Access, Plan, Step } from './plan.js'

export interface AppliedSum {
  readonly mounts: number
  readonly rules: number
  readonly sum: number
}

const BITS = { r: 1, w: 2, x: 4, d: 8, l: 16 } as const
const ZERO = '0'.charCodeAt(0)

/** A letter for each step that mounts something. The others only make folders, links and files. */
const MOUNTS: Readonly<Partial<Record<Step['kind'], string>>> = {
  bind: 'b',
  hide: 'o',
  cover: 'o',
  proc: 'n',
  scratch: 'n',
  terminals: 'n',
}

export const appliedSumOf = ({ form, steps, rules }: Plan): AppliedSum => {
  const mounts = FORM_HAS[form].ownRoot ? steps.flatMap((step) => entryOf(step) ?? []) : []
  const entries = [...mounts, ...rules.map(({ access, path }) => `a${bitsOf(access)}${path}\0`)]
  return { mounts: mounts.length, rules: rules.length, sum: sumOf(bytesOfName(entries.join(''))) }
}

const entryOf = (step: Step): string | undefined => {
  const letter = MOUNTS[step.kind]
  return letter === undefined ? undefined : `${letter}${step.kind === 'bind' ? bitsOf(step.access) : '0'}${step.path}\0`
}

/** One character: the bits of enum access, behind `0`. */
const bitsOf = (access: Access): string => {
  const bits = Object.entries(BITS).reduce((sum, [letter, bit]) => (access.includes(letter) ? sum | bit : sum), 0)
  return String.fromCharCode(bits + ZERO)
}

/** FNV-1a with 32 bits. */
const sumOf = (bytes: Uint8Array): number => {
  let sum = 2166136261
  for (const byte of bytes) sum = Math.imul(sum ^ byte, 16777619)
  return sum >>> 0
}
