// A result as a model should read it.
import type { JsonValue } from '../../gate/index.js'
import { isMapping } from '../../shapes/index.js'

import type { ToolResult, ToolStatus } from '../result/tool-result.js'
import type { ProcessOutput } from '../tools/tools.js'

export interface ModelResult {
  /** Short, and without anything about the host. */
  readonly text: string
  readonly isError: boolean
  readonly status: ToolStatus
  /** The output itself, where it is an object. */
  readonly structuredContent?: Readonly<Record<string, JsonValue>>
}

/** Longer output is cut in the middle: the beginning says what it is, the end how it went. */
const MOST_CHARACTERS = 30_000

/** What happened and what the model can do now. The reason of the result follows. */
const LEAD: Readonly<Record<Exclude<ToolStatus, 'ok'>, string>> = {
  denied: 'Denied: this call did not run.',
  violated: 'Stopped: the tool tried something that its sandbox does not allow.',
  failed: 'Failed: the tool ran and reported an error.',
  timeout: 'Stopped: the tool took too long.',
  cancelled: 'Cancelled: this call was stopped.',
  not_started: 'Not started: the tool could not be run.',
  pending: 'Waiting for approval: this call has not run yet. Do not repeat it.',
}

export const toModel = (result: ToolResult<unknown>): ModelResult => {
  const { status, output, context = [] } = result
  const shown = output === undefined ? '' : textOf(output)
  const words =
    status === 'ok'
      ? [shown === '' ? 'The tool succeeded without output.' : shown]
      : [`${LEAD[status]} ${result.reason}`, shown]
  return {
    text: cut([...words, ...context].filter((each) => each !== '').join('\n\n')),
    isError: status !== 'ok' && status !== 'pending',
    status,
    ...(isMapping(output) ? { structuredContent: output as Readonly<Record<string, JsonValue>> } : {}),
  }
}

/** A program's output is shown as a terminal would show it, anything else as JSON. */
const textOf = (output: unknown): string => {
  if (typeof output === 'string') return output
  if (output === null) return ''
  if (!isProcessOutput(output)) return JSON.stringify(output)
  const { exit_code: code, stdout, stderr } = output
  const ending = code === 0 || code === null ? '' : `exit status ${String(code)}`
  return [stdout, stderr, ending].filter((each) => each !== '').join('\n')
}

const isProcessOutput = (value: unknown): value is ProcessOutput =>
  isMapping(value) && 'exit_code' in value && typeof value['stdout'] === 'string' && typeof value['stderr'] === 'string'

const cut = (text: string): string => {
  if (text.length <= MOST_CHARACTERS) return text
  const half = MOST_CHARACTERS / 2
  return `${text.slice(0, half)}\n… ${String(text.length - MOST_CHARACTERS)} characters are left out …\n${text.slice(-half)}`
}
