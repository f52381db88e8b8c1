import { CordonError } from './cordon-error.js'
import type { ErrorText } from './cordon-error.js'
import { ERRORS } from './table.js'

const PLACEHOLDER = /\{(\w+)\}/g

// One pass, so that a parameter that happens to contain "{name}" is not filled in again.
const fill = (template: string, params: Readonly<Record<string, string | number>>): string =>
  template.replace(PLACEHOLDER, (_, name: string) => String(params[name] ?? bug(`error parameter ${name} is missing`)))

export type ErrorTable = Readonly<Record<string, ErrorText>>

type NamesIn<Template extends string> = Template extends `${string}{${infer Name}}${infer Rest}`
  ? Name | NamesIn<Rest>
  : never

/** The parameters of a code: every `{name}` in any of its texts. */
type ErrorParams<Text extends ErrorText> = Readonly<Record<NamesIn<Extract<Text[keyof Text], string>>, string | number>>

/** Constructs (does not throw) the error of a code: `throw fail('path-missing', { path })`. */
export type Fail<Table extends ErrorTable> = <Code extends keyof Table & string>(
  code: Code,
  params: ErrorParams<Table[Code]>,
  cause?: unknown,
) => CordonError

/** `fail` for a table of codes. Packages around the core have codes of their own. */
export const failFrom =
  <const Table extends ErrorTable>(table: Table): Fail<Table> =>
  (code, params, cause) => {
    const text: ErrorText = table[code] ?? bug(`there is no error ${code}`)
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

export const fail: Fail<typeof ERRORS> = failFrom(ERRORS)

/** Marks what cannot happen. If it does, the mistake is Cordon's own, and nothing goes on. */
export const bug = (message: string): never => {
  throw new Error(`bug in cordon: ${message}`)
}
