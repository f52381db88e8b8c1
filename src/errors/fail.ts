import { CordonError } from './cordon-error.js'
import { ERRORS } from './table.js'
import type { ErrorCode, ErrorParams, ErrorText } from './table.js'

const PLACEHOLDER = /\{(\w+)\}/g

// One pass, so that a parameter that happens to contain "{name}" is not filled in again.
const fill = (template: string, params: Readonly<Record<string, string | number>>): string =>
  template.replace(PLACEHOLDER, (_, name: string) => String(params[name] ?? bug(`error parameter ${name} is missing`)))

/** Constructs (does not throw) the error of a code: `throw fail('path-missing', { path })`. */
export const fail = <Code extends ErrorCode>(code: Code, params: ErrorParams<Code>, cause?: unknown): CordonError => {
  const text: ErrorText = ERRORS[code]
  const fix = text.fix === undefined ? '' : fill(text.fix, params)
  return new CordonError(
    code,
    {
      message: fill(text.message, params),
      agentMessage: fill(text.agent, params),
      // A fix that consists of a parameter may be empty where there is nothing to advise.
      fix: fix === '' ? undefined : fix,
    },
    params,
    cause,
  )
}

/** Marks what cannot happen. If it does, the mistake is Cordon's own, and nothing goes on. */
export const bug = (message: string): never => {
  throw new Error(`bug in cordon: ${message}`)
}
