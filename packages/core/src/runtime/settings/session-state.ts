// The state of a runtime that outlives its process: counts and approvals of sessions, and used approvals. It is sealed
// with a key of the host.
import { CordonError, fail } from '../../errors/index.js'
import { openText, parseGrant, parseSessionCountState, sealText } from '../../gate/index.js'
import type { ApprovalGrant, JsonValue, SessionCountState } from '../../gate/index.js'
import { invalid, itemsOf, mappingOf, rootNode, nodeText } from '../../policy/index.js'
import type { PolicyNode } from '../../policy/index.js'

export interface SessionState {
  readonly version: 1
  /** The id of the runtime that wrote it. */
  readonly session_id: string
  readonly exported_at: string
  readonly sessions: readonly NamedSession[]
  /** Used approvals for one call. */
  readonly used: readonly ApprovalGrant[]
}

export interface NamedSession {
  readonly name: string
  readonly count: SessionCountState
  readonly approvals: readonly ApprovalGrant[]
}

export interface StateSettings {
  /** At least 32 secret bytes. */
  readonly key: Uint8Array
  /** The text that `exportState` gave. */
  readonly resume?: string
}

const FORM = 'cordon-session-1'
const SOURCE = 'the state of the session'

export const sealState = (state: SessionState, settings: StateSettings | undefined): string => {
  if (settings === undefined)
    throw fail('state-refused', {
      problem: 'cannot be sealed without a key',
      fix: 'give createCordon a key of at least 32 bytes (state: { key })',
    })
  return sealText(FORM, asJson(state), settings.key)
}

export const openState = (settings: StateSettings): SessionState | undefined => {
  const { key, resume } = settings
  if (!((key as unknown) instanceof Uint8Array) || key.length < 32)
    throw fail('state-refused', {
      problem: 'has no good key',
      fix: 'use at least 32 bytes, such as randomBytes(32), and keep them',
    })
  if (resume === undefined) return undefined
  const opened = openText(FORM, resume, key)
  if (opened.kind === 'refused')
    throw fail('state-refused', {
      problem:
        opened.problem === 'forged' ? 'was changed, or signed with another key' : 'is not what exportState gives',
      fix:
        'resume with the text and the key of the earlier runtime, or begin without a state: counts and ' +
        'approvals then begin anew',
    })
  try {
    return parseState(opened.value)
  } catch (error) {
    if (!(error instanceof CordonError)) throw error
    throw fail(
      'state-refused',
      {
        problem: `cannot be read: ${error.message}`,
        fix: 'it was written by another version of Cordon; begin without a state',
      },
      error,
    )
  }
}

/** The compiler takes no interface for JSON. */
const asJson = ({ sessions, ...rest }: SessionState): JsonValue =>
  ({
    ...rest,
    sessions: sessions.map(({ count, ...session }) => ({ ...session, invocation: count })),
  }) as unknown as JsonValue

const parseState = (value: unknown): SessionState => {
  const node = rootNode(value, () => SOURCE)
  const parts = partsOf(node, ['version', 'session_id', 'exported_at', 'sessions', 'used'])
  if (parts.version.value !== 1) throw invalid(parts.version, 'a state of version 1')
  const sessions = itemsOf(parts.sessions, 'a list of sessions').map(parseSession)
  if (new Set(sessions.map(({ name }) => name)).size !== sessions.length)
    throw invalid(parts.sessions, 'a list with each session once')
  return {
    version: 1,
    session_id: nodeText(parts.session_id, 'an id'),
    exported_at: nodeText(parts.exported_at, 'a time'),
    sessions,
    used: grantsOf(parts.used),
  }
}

const parseSession = (node: PolicyNode): NamedSession => {
  const { name, invocation, approvals } = partsOf(node, ['name', 'invocation', 'approvals'])
  return {
    name: nodeText(name, 'a name'),
    count: parseSessionCountState(invocation.value, SOURCE),
    approvals: grantsOf(approvals),
  }
}

const grantsOf = (node: PolicyNode): readonly ApprovalGrant[] =>
  itemsOf(node, 'a list of approvals').map(({ value }) => parseGrant(value, SOURCE))

const partsOf = <Key extends string>(node: PolicyNode, keys: readonly Key[]): Readonly<Record<Key, PolicyNode>> => {
  const given = mappingOf(node, keys)
  for (const key of keys) if (given[key] === undefined) throw invalid(node, `a mapping with the key "${key}"`)
  return given as Readonly<Record<Key, PolicyNode>>
}
