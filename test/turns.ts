// What `npm test` tries, and what it leaves to `npm run test:matrix` by the tag `matrix`. Root tries each claim in
// both native forms. Walls and an ordinary user take turns, so that each pair of them is tried by some claim.
import type { BackendName, Form } from '../packages/core/src/sandbox/index.js'

/** For `describe` and `test`: the matrix runs this. `npm test` does not. */
export const IN_MATRIX = { tags: ['matrix'] }
const ALWAYS = { tags: [] as string[] }

/** For series and random inputs, of which `npm test` tries fewer. */
export const IS_MATRIX = process.env['CORDON_TEST_SCOPE'] === 'matrix'

const IS_ROOT = process.getuid?.() === 0

/** Stays the same as long as the title does, so that a failure comes back. */
const turnOf = (title: string, turns: number): number => {
  let hash = 0
  for (const character of title) hash = (hash * 31 + (character.codePointAt(0) ?? 0)) % 1_000_003
  return hash % turns
}

const NATIVE_TURNS: readonly Form[] = ['namespaces', 'landlock']
const WALL_TURNS = [
  { wall: 'bubblewrap', asRoot: true },
  { wall: 'firejail', asRoot: true },
  { wall: 'bubblewrap', asRoot: false },
  { wall: 'firejail', asRoot: false },
] as const

/** Whether `npm test` tries this claim in this cell, as the user who runs it. */
export const takesTurn = (title: string, cell: { readonly form: Form; readonly backend: BackendName }): boolean => {
  const { form, backend } = cell
  if (backend === 'native' && form === 'mounts') return IS_ROOT && turnOf(title, 2) === 0
  if (backend === 'native') return IS_ROOT || NATIVE_TURNS[turnOf(title, 2)] === form
  const turn = WALL_TURNS[turnOf(title, WALL_TURNS.length)]
  return turn?.wall === backend && turn.asRoot === IS_ROOT
}

/** The options of a `describe` or `test` for this claim in this cell. */
export const inTurn = (
  title: string,
  cell: { readonly form: Form; readonly backend: BackendName },
): typeof IN_MATRIX => (takesTurn(title, cell) ? ALWAYS : IN_MATRIX)

/** The same for a claim that is about the command line, and hardly about the cell: one native form tries it. */
export const inOneForm = (title: string, form: string): typeof IN_MATRIX =>
  NATIVE_TURNS[turnOf(title, NATIVE_TURNS.length)] === form ? ALWAYS : IN_MATRIX
