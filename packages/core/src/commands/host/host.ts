// `cordon host`: the process that keeps `cordon run` fast.
import { fail } from '../../errors/index.js'

import { unknownAction, usage } from '../../line/arguments.js'
import type { CommandLine } from '../../line/caller.js'
import { STDOUT, jsonLine, paintFor, writeText } from '../../line/text/console-text.js'
import type { Paint } from '../../line/text/console-text.js'
import { renderFacts } from '../../line/text/table-text.js'
import { parseSpan } from '../../line/text/time-words.js'
import { renderDuration } from '../../line/text/usage-text.js'
import { askHost } from '../../host/ask-host.js'
import type { HostState } from '../../host/host-state.js'
import { ownFront } from '../../host/own-front.js'
import { serveHost } from '../../host/serve-host.js'

const COMMAND = 'cordon host'
const IDLE = '10m'

export const host = async ({ given: { rest, switches, values }, environment }: CommandLine): Promise<number> => {
  const [action, ...more] = rest
  if (more.length > 0) throw usage(`it takes one action: ${rest.join(' ')}`, COMMAND)
  const front = ownFront()
  if (front === undefined)
    throw fail('usage-error', { problem: 'this installation has no native cordon, so it needs no host', fix: INSTALL })
  const { build } = front
  switch (action) {
    case 'serve': {
      const idleMs = parseSpan(values.get('idle')?.[0] ?? IDLE)
      if (idleMs === undefined) throw usage('--idle needs a time such as 10m', COMMAND)
      return (await serveHost({ build, idleMs })) ? 0 : 1
    }
    case 'status': {
      const state = await askHost(build, 'status')
      writeText(
        STDOUT,
        switches.has('json') ? jsonLine(state ?? null) : stateText(state, paintFor(STDOUT, environment)),
      )
      return state === undefined ? 1 : 0
    }
    case 'stop': {
      const state = await askHost(build, 'stop')
      writeText(STDOUT, state === undefined ? 'No host is running.\n' : `The host ${String(state.pid)} has ended.\n`)
      return 0
    }
    default:
      throw unknownAction(action, ['status', 'stop', 'serve'], COMMAND)
  }
}

const INSTALL = 'npm rebuild cordon'

const stateText = (state: HostState | undefined, paint: Paint): string =>
  state === undefined
    ? 'No host is running. The next cordon run starts one.\n'
    : renderFacts(
        [
          ['process', String(state.pid)],
          ['running', renderDuration(state.aliveMs)],
          ['served', `${String(state.served)} commands, ${String(state.serving)} now`],
          ['passed on', `${String(state.refused)} commands, each to a process of its own`],
          ['last one', state.refusedBecause],
          ['memory', `${String(Math.round(state.memoryBytes / 1e6))} MB`],
        ],
        paint,
      )
        .map((line) => `${line}\n`)
        .join('')
