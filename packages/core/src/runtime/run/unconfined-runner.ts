// Runs a permitted call of a process tool as a plain process. Only `runUnconfined` has this runner.
import { bug, fail } from '../../errors/index.js'
import { runPlainProcess } from '../../sandbox/index.js'
import { withoutUndefined } from '../../shapes/index.js'

import type { ToolRunner } from '../call/call-services.js'
import type { BoundTool } from '../tools/bound-tool.js'
import { listenTo } from './process-cells.js'
import { profileWithoutCell } from './run-in-process.js'
import { describeProcess } from './tool-runner.js'

interface UnconfinedRunner extends ToolRunner<BoundTool> {
  /** Kills the processes that run, whose calls then fail. */
  readonly close: () => void
}

/** `environment`: without the sources of credentials. */
export const createUnconfinedRunner = (environment: Readonly<Record<string, string>>): UnconfinedRunner => {
  const closing = new AbortController()
  return {
    processOf: (_, { command = [] }) => ({ program: command[0] ?? '', words: command }),
    run: async (tool, { input, command = [], signal, onOutput, beforeStart }) => {
      const { definition, cwd, gate } = tool
      if (definition.kind !== 'process') return bug('only a process tool runs unconfined')
      const profile = profileWithoutCell(tool, 'unconfined', { wall: 'kill', output: 'kill' })
      const listening = onOutput === undefined ? undefined : listenTo(onOutput, definition.encoding)
      await beforeStart(undefined)
      if (closing.signal.aborted) throw fail('sandbox-closed', { what: 'runtime' })
      warn(gate.name)
      const result = await runPlainProcess({
        argv: command,
        boundary: gate.boundary,
        cwd,
        hostEnvironment: environment,
        profile,
        signal: signal === undefined ? closing.signal : AbortSignal.any([signal, closing.signal]),
        ...withoutUndefined({ stdin: definition.stdin?.(input) }),
        ...listening?.input,
      })
      return describeProcess(tool, definition, { input, command }, { ...result, ...listening?.heard() })
    },
    close: () => {
      closing.abort()
    },
  }
}

/** Node prints it on stderr, each time, unless the host takes warnings itself. */
const warn = (tool: string): void => {
  process.emitWarning(
    `the tool "${tool}" runs without a sandbox: runUnconfined starts a plain process with all rights of this user`,
    'UNCONFINED',
  )
}
