// The stack of an error that a tool threw, for the operator. A cell sends it as text, so it may say anything.
import { fileURLToPath } from 'node:url'

/** Cordon's own folder: its files follow the tool's in a stack. */
const OWN_FOLDER = fileURLToPath(new URL('../../', import.meta.url))
const RUNNER = '/function-cell/runner.js'
/** A function that was sent as text: "at run (eval at load (file:///…/runner.js:1:2), <anonymous>:3:4)". */
const EVALUATED = /eval at [\w$.<>]{1,64} \([^()]{0,4096}\), /

const LONGEST = 8 * 1024

/** Undefined if the error has no stack. */
export const stackForOperator = (thrown: unknown): string | undefined => {
  const { stack } = Object(thrown) as { readonly stack?: unknown }
  if (typeof stack !== 'string' || stack === '') return undefined
  return stack
    .slice(0, LONGEST)
    .split('\n')
    .map((line) => (line.includes(RUNNER) ? line.replace(EVALUATED, '') : line))
    .filter((line) => !line.includes(RUNNER) && !line.includes(OWN_FOLDER))
    .join('\n')
}
