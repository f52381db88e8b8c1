// Starts the local host for the next command, after one that it would have made faster.
import { ownFront, textOfFile } from '../platform/index.js'
import { startAlone } from '../sandbox/index.js'

import type { Environment } from '../line/arguments.js'
import { STDERR, oneLine, writeText } from '../line/text/console-text.js'
import { parseSpan } from '../line/text/time-words.js'
import { isServed } from './ask-host.js'

/** With nothing of the caller. If another one began to serve meanwhile, the new one ends. */
export const startHost = async ({ CORDON_HOST: wanted }: Environment): Promise<void> => {
  const front = ownFront()
  if (wanted === 'off' || front === undefined || isConfined() || (await isServed(front.build))) return
  const idle = wanted === undefined || wanted === '' ? [] : ['--idle', wanted]
  if (wanted !== undefined && wanted !== '' && parseSpan(wanted) === undefined) {
    writeText(
      STDERR,
      `cordon: CORDON_HOST=${oneLine(wanted)} is not a time such as 10m, and not off: no host was started\n`,
    )
    return
  }
  startAlone([front.node, front.script, 'host', 'serve', ...idle])
}

/** In a cell it would serve nobody. */
const isConfined = (): boolean => !/^NoNewPrivs:\t0$/m.test(textOfFile('/proc/self/status') ?? '')
