// The runtime of one server: opened by the first call, closed with the connection.
import type { CordonOptions } from 'cordon'
import { codeOf, messageOf } from 'cordon/errors'

import { fail } from '../errors/errors.js'
import { createLazyRuntime } from './lazy-runtime.js'
import type { LazyRuntime } from './lazy-runtime.js'
import type { ToolRegistrar } from './sdk-server.js'

/** Why a call gave no result. */
interface Trouble {
  readonly code: string
  readonly message: string
  readonly fix?: string | null | undefined
}

/** Settings of the runtime of one server, as of `createCordon`. */
export interface SandboxSettings extends Pick<
  Partial<CordonOptions>,
  | 'workspace'
  | 'home'
  | 'mode'
  | 'rules'
  | 'ruleFiles'
  | 'hooks'
  | 'approve'
  | 'audit'
  | 'onEvent'
  | 'environment'
  | 'egress'
  | 'sandbox'
> {
  /** Gets the reason of each call without a result, for the operator (default: a line on stderr). */
  readonly onTrouble?: (trouble: Trouble, tool: string) => void
}

export interface ServerRuntime extends Pick<LazyRuntime, 'add' | 'call'> {
  readonly configure: (settings: SandboxSettings) => void
  readonly tell: (trouble: Trouble, tool: string) => void
}

/** Registered, so that two installed copies of this package use one runtime. */
const RUNTIME = Symbol.for('cordon.mcp-server.runtime')

interface Carrier extends ToolRegistrar {
  [RUNTIME]?: ServerRuntime | undefined
}

export const runtimeOf = (server: ToolRegistrar): ServerRuntime => {
  const carrier: Carrier = server
  return (carrier[RUNTIME] ??= createServerRuntime(server.server))
}

const createServerRuntime = (connection: ToolRegistrar['server']): ServerRuntime => {
  let given: SandboxSettings = {}
  const { isOpen, add, call, close } = createLazyRuntime(() => {
    const { onTrouble: _, ...settings } = given
    return { workspace: process.cwd(), mode: 'on_request', requestedBy: 'mcp-client', ...settings }
  })
  const tell: ServerRuntime['tell'] = (trouble, tool) => {
    if (given.onTrouble === undefined) process.stderr.write(lineOf(trouble, tool))
    else given.onTrouble(trouble, tool)
  }
  const before = connection.onclose
  connection.onclose = () => {
    before?.call(connection)
    close().catch((error: unknown) => {
      tell({ code: codeOf(error) ?? 'error', message: messageOf(error) }, 'close')
    })
  }
  return {
    add,
    call,
    configure: (settings) => {
      if (isOpen())
        throw fail('option-invalid', {
          of: 'sandboxSettings()',
          option: 'its time',
          expected: 'before the first call of a tool',
          found: 'later',
          fix: 'call it before server.connect()',
        })
      given = { ...given, ...settings }
    },
    tell,
  }
}

/** On one line, without characters that act on a terminal. */
const lineOf = ({ code, message, fix }: Trouble, tool: string): string => {
  const advice = fix === undefined || fix === null ? '' : `; fix: ${fix}`
  return `${`cordon: ${tool}: ${code}: ${message}${advice}`.replaceAll(/[\p{C}\p{Zl}\p{Zp}]+/gu, ' ')}\n`
}
