// `cordon host`: the process that keeps `cordon run` fast.
import { fail } from '../../errors/index.js'
import { ownFront } from '../../platform/index.js'

import { unknownAction, usage } from '../../line/arguments.js'
import type { CommandLine } from '../../line/caller.js'
import { STDOUT, jsonLine, paintFor, writeText } from '../../line/text/console-text.js'
import type { Paint } from '../../line/text/console-text.js'
import { renderFacts } from '../../line/text/table-text.js'
import { parseSpan } from '../../line/text/time-words.js'
import { renderDuration } from '../../line/text/usage-text.js'
import { askHost, askOthers } from '../../host/ask-host.js'
import type { HostState } from '../../host/host-state.js'
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
      const [state, others] = await Promise.all([askHost(build, 'status'), askOthers(build, 'status')])
      writeText(
        STDOUT,
        switches.has('json') ? jsonLine(state ?? null) : stateText(state, others, paintFor(STDOUT, environment)),
      )
      return state === undefined ? 1 : 0
    }
    case 'stop': {
      const own = await askHost(build, 'stop')
      const others = switches.has('all') ? await askOthers(build, 'stop') : []
      const ended = [...(own === undefined ? [] : [own]), ...others]
      writeText(
        STDOUT,
        ended.map(({ pid }) => `The host ${String(pid)} has ended.\n`).join('') || 'No host is running.\n',
      )
      return 0
    }
    default:
      throw unknownAction(action, ['status', 'stop', 'serve'], COMMAND)
  }
}

const INSTALL = 'npm rebuild cordon'

const stateText = (state: HostState | undefined, others: readonly HostState[], paint: Paint): string => {
  const own =
    state === undefined
      ? ['No host is running. The next cordon run starts one.']
      : renderFacts(
          [
            ['process', String(state.pid)],
            ['running', renderDuration(state.aliveMs)],
            ['served', `${String(state.served)} commands, ${String(state.serving)} now`],
            ['passed on', `${String(state.refused)} commands, each to a process of its own`],
            ['last one', state.refusedBecause],
            ['memory', megabytes(state)],
          ],
          paint,
        )
  const more = others.map((other) => `Another installation has the host ${String(other.pid)} (${megabytes(other)}).`)
  const stop = others.length === 0 ? [] : ['To end all: cordon host stop --all']
  return [...own, ...more, ...stop, ''].join('\n')
}

const megabytes = ({ memoryBytes }: HostState): string => `${String(Math.round(memoryBytes / 1e6))} MB`
