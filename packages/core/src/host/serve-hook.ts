// `cordon hook AGENT` for a front.
import { parseScattered } from '../line/arguments.js'
import { STDERR, STDOUT } from '../line/text/console-text.js'
import { answerMessage } from '../hook/answer-hook.js'
import { HOOK_HELP } from '../hook/hook-help.js'
import type { HookSeat } from '../hook/hook-seat.js'
import { agentNamed } from '../hook/known-agents.js'
import { NotServed } from '../run/run-seat.js'
import type { Front } from './front.js'

export const serveHook = async (front: Front, seat: HookSeat): Promise<void> => {
  const { words, caller } = front.request
  const given = parseScattered(words.slice(1), HOOK_HELP, 'cordon hook')
  const [name = '', ...more] = given.rest
  const agent = given.switches.has('help') || more.length > 0 ? undefined : await agentNamed(name)
  if (agent === undefined) throw new NotServed('its words name no agent')
  const { stdout, stderr, status } = await answerMessage(agent, { ...caller, given }, front.message, seat)
  if (stderr !== '') front.write(STDERR, stderr)
  if (stdout !== '') front.write(STDOUT, stdout)
  front.exit(status)
}
