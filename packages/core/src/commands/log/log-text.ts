// Entries of the audit log as text.
import { shellWord } from '../../platform/index.js'
import type { CordonEvent } from '../../runtime/index.js'

import { counted, oneLine } from '../../line/text/console-text.js'
import type { Paint } from '../../line/text/console-text.js'

/** One line: time, type, call and summary. */
export const renderEvent = (event: CordonEvent, paint: Paint): string => {
  const time = event.timestamp.replace('T', ' ').replace(/Z$/, '')
  const call = (event.call_id ?? '-').slice(0, 8).padEnd(8)
  return (
    `${paint('dim', oneLine(time))}  ${paint(toneOf(event), oneLine(event.type).padEnd(20))}  ` +
    `${paint('dim', oneLine(call))}  ${oneLine(summaryOf(event))}`
  )
}

type Tone = Parameters<Paint>[0]

const toneOf = (event: CordonEvent): Tone => {
  switch (event.type) {
    case 'tool.denied':
    case 'sandbox.violation':
    case 'sandbox.mismatch':
    case 'sandbox.unconfined':
    case 'hook.failed':
    case 'audit.repaired':
      return 'red'
    case 'egress.request':
    case 'egress.closed':
      return event.problem === null ? 'bold' : 'yellow'
    case 'egress.summed':
    case 'process.terminated':
    case 'permission.requested':
    case 'policy.changed':
      return 'yellow'
    case 'permission.evaluated':
      return event.permission_decision.decision === 'deny' ? 'red' : 'bold'
    case 'tool.completed':
      return event.status === 'ok' ? 'green' : 'red'
    default:
      return 'bold'
  }
}

const summaryOf = (event: CordonEvent): string => {
  switch (event.type) {
    case 'session.started':
      return `session ${event.session_id}, mode ${event.permission_state.mode}`
    case 'session.ended':
      return `${event.reason}, ${counted(event.calls, 'call')}`
    case 'policy.changed':
      return `${event.change}${event.tool === null ? '' : ` of ${event.tool}`}: ${event.because}`
    case 'permission.evaluated': {
      const { tool, decision, decision_source: source, decision_reason: reason } = event.permission_decision
      return `${tool}: ${decision} (${source}): ${reason}`
    }
    case 'permission.requested':
      return `${event.tool}: asked: ${event.reason}`
    case 'permission.resolved':
      return `${event.tool}: ${event.resolution}${event.by === null ? '' : ` by ${event.by}`}${because(event.reason)}`
    case 'sandbox.applied':
      return (
        `${event.tool}: ${event.sandbox_profile.form}, network ${event.sandbox_profile.network.toString()}, ` +
        `writes to ${event.sandbox_profile.write_roots.join(', ') || 'nothing'}`
      )
    case 'sandbox.violation':
      return `${event.tool}: ${event.description}`
    case 'sandbox.mismatch':
      return `${event.tool}: the applied boundary differs from the permitted one: ${event.problem}`
    case 'sandbox.unconfined':
      return `${event.tool}: UNCONFINED: a plain process, without a sandbox (runUnconfined)`
    case 'tool.called':
      return `${event.tool} ${event.arguments.text ?? event.arguments.hash}`
    case 'tool.denied':
      return `${event.tool}: ${event.reason}`
    case 'tool.completed':
      return `${event.tool}: ${event.status} after ${String(Math.round(event.duration_ms))} ms` + because(event.reason)
    case 'hook.started':
      return `${event.hook} at ${event.point}`
    case 'hook.completed':
      return `${event.hook} at ${event.point}: ${event.decision}${because(event.reason)}`
    case 'hook.failed':
      return `${event.hook} at ${event.point}: ${event.problem}`
    case 'process.started':
      return `${event.tool}: ${commandIn(event.arguments.text) ?? event.program}`
    case 'process.completed':
      return `${event.tool}: exit ${String(event.exit_code)}`
    case 'process.terminated':
      return `${event.tool}: ended because ${whyTerminated(event)}`
    case 'egress.opened':
      return (
        `${event.tool}: connected to ${event.host}:${String(event.port)} (connection ` +
        `${String(event.connection)}, ${TREATMENTS[event.treatment]})`
      )
    case 'egress.request':
      return `${event.tool}: ${requestText(event)}`
    case 'egress.closed':
      return (
        `${event.tool}: connection ${String(event.connection)} to ${event.host}:${String(event.port)} closed ` +
        `after ${String(Math.round(event.duration_ms))} ms${passedBy(event)}${because(event.problem)}`
      )
    case 'egress.summed':
      return `${event.tool}: ${
        event.sum === null
          ? `more than ${String(event.entries)} entries about the network; the rest is summed up when the call has ended`
          : `beyond ${String(event.entries)} entries: ${counted(event.sum.connections, 'connection')} and ` +
            `${counted(event.sum.requests, 'request')} to ` +
            `${counted(event.sum.hosts.length + event.sum.more_hosts, 'host')}, ${trafficOf(event.sum)}`
      }`
    case 'audit.began':
      return `file ${String(event.file)} of the log`
    case 'audit.repaired':
      return (
        `${counted(event.adopted_lines, 'line')} kept, ${counted(event.torn_bytes, 'byte')} put aside, ` +
        `${counted(event.lost_lines, 'line')} lost`
      )
    default:
      // An event of another version.
      return JSON.stringify(event)
  }
}

const because = (reason: string | null): string => (reason === null ? '' : `: ${reason}`)

type OfType<Type extends CordonEvent['type']> = Extract<CordonEvent, { readonly type: Type }>

const TREATMENTS = { http: 'HTTP only', stream: 'any protocol', direct: 'not looked into' } as const

const WEB = { http: 80, https: 443 } as const

const requestText = (event: OfType<'egress.request'>): string => {
  const { scheme, host, port, method, path, status, rule, credentials, redactions, problem } = event
  const place = `${scheme}://${host}${port === WEB[scheme] ? '' : `:${String(port)}`}${path}`
  const details = [
    trafficOf(event),
    `by ${rule}`,
    ...(credentials.length === 0 ? [] : [`with ${credentials.join(', ')}`]),
    ...(redactions === 0 ? [] : [`${String(redactions)} redacted`]),
    ...(problem === null ? [] : [problem]),
  ]
  return `${method} ${place}: ${status === null ? 'no answer' : String(status)} (${details.join('; ')})`
}

interface Traffic {
  readonly bytes_sent: number
  readonly bytes_received: number
}

export const trafficOf = ({ bytes_sent: sent, bytes_received: received }: Traffic): string =>
  `${String(sent)} bytes out, ${String(received)} in`

const passedBy = (traffic: Traffic): string =>
  traffic.bytes_sent + traffic.bytes_received === 0 ? '' : `, ${trafficOf(traffic)}`

/** The words of a command. Undefined where only their hash was recorded, or they were too long. */
export const commandIn = (text: string | undefined): string | undefined => {
  try {
    const recorded: unknown = JSON.parse(text ?? '')
    const words: unknown = Array.isArray(recorded)
      ? recorded
      : typeof recorded === 'object' && recorded !== null && 'argv' in recorded
        ? recorded.argv
        : undefined
    return Array.isArray(words) ? words.map((word) => shellWord(String(word))).join(' ') : undefined
  } catch {
    return undefined
  }
}

type Terminated = Extract<CordonEvent, { type: 'process.terminated' }>

/** Why a process was killed, as the end of a sentence. */
const whyTerminated = ({ because, limit, signal }: Terminated): string => {
  const number = signal === null ? '' : ` (signal ${String(signal)})`
  switch (because) {
    case 'limit':
      return `it reached the ${limit ?? 'unknown'} limit${number}`
    case 'violation':
      return `it changed something protected, and Cordon killed it${number}`
    case 'signal':
      return `it was killed by ${signal === null ? 'a signal' : `signal ${String(signal)}`}`
    case 'cancelled':
      return 'its caller cancelled it'
    case 'setup':
      return 'it could not be started'
    default:
      // An event of another version.
      return String(because satisfies never)
  }
}

/** How a call ended, in one line. The last run counts. */
export const whyCallEnded = (events: readonly CordonEvent[]): string => {
  const denied = events.findLast((event) => event.type === 'tool.denied')
  const process = events.findLast((event) => event.type === 'process.completed' || event.type === 'process.terminated')
  const completed = events.findLast((event) => event.type === 'tool.completed')
  const reason = completed === undefined || completed.reason === null ? '' : `: ${completed.reason}`
  if (process?.type === 'process.terminated')
    return `ended because ${whyTerminated(process)}${process.because === 'setup' ? reason : ''}`
  if (process !== undefined)
    return (
      'ended because it exited with ' +
      `${String(process.exit_code)}${completed === undefined ? '' : `, which counts as ${completed.status}`}`
    )
  if (completed?.status === 'not_started') return `did not begin${reason}`
  if (completed !== undefined) return `ended because its function ended, which counts as ${completed.status}${reason}`
  if (denied !== undefined) return `ended because it was not allowed: ${denied.reason}`
  return 'has no end in the log: it is still running, or its process was killed'
}
