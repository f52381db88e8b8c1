// `cordon explain`: an error and its fix, from the tables of the core and of the installed packages.
import { ERRORS } from '../../errors/index.js'
import type { ErrorTable } from '../../errors/index.js'
import { nearestKey } from '../../policy/index.js'

import { usage } from '../../line/arguments.js'
import type { CommandLine } from '../../line/caller.js'
import { STDOUT, jsonLine, paintFor, writeText } from '../../line/text/console-text.js'
import { installedProductNames, loadProductIfAny } from '../../products/installed-products.js'

const COMMAND = 'cordon explain'

export const explain = async ({ given, environment }: CommandLine): Promise<number> => {
  const [code, ...more] = given.rest
  if (more.length > 0) throw usage('name one code', COMMAND)
  const table = await allErrors()
  if (code === undefined) return list(table, given.switches.has('json'))
  const text = Object.hasOwn(table, code) ? table[code] : undefined
  if (text === undefined) {
    const near = nearestKey(code, Object.keys(table))
    throw usage(
      `there is no error ${code}`,
      COMMAND,
      near === undefined ? undefined : `did you mean: ${COMMAND} ${near}?`,
    )
  }
  const { when, message, agent, fix } = text
  const paint = paintFor(STDOUT, environment)
  writeText(
    STDOUT,
    given.switches.has('json')
      ? jsonLine({ code, when, operator: message, model: agent, fix: fix ?? null })
      : [
          `${paint('bold', code)}: ${when}`,
          '',
          `  operator  ${message}`,
          `  model     ${agent}`,
          ...(fix === undefined || fix === '{fix}' || fix === '{hint}' ? [] : [`  fix       ${fix}`]),
          '',
        ].join('\n'),
  )
  return 0
}

const list = (table: ErrorTable, json: boolean): number => {
  const codes = Object.keys(table).sort()
  writeText(STDOUT, json ? jsonLine(codes) : codes.map((code) => `${code}\n`).join(''))
  return 0
}

const allErrors = async (): Promise<ErrorTable> => {
  const tables: ErrorTable[] = [ERRORS]
  for (const name of installedProductNames()) tables.push((await loadProductIfAny(name))?.errors ?? {})
  return Object.assign({}, ...tables) as ErrorTable
}
