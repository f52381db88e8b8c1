// Members, profiles, budgets, tokens and tools as the registry answers them: their types, and the schemas of the API.
import {
  called,
  count,
  fields,
  list,
  mapping,
  matching,
  number,
  oneOf,
  orNull,
  such,
  text,
  valuesOf,
  yesOrNo,
} from 'cordon/shapes'
import type { Read, Shape, Shaped, Shapes } from 'cordon/shapes'

type TimeText = string & { readonly brand: 'TimeText' }

/** A row as the database returns it: times are dates there, and texts in JSON. */
type Row<Value> = Value extends TimeText
  ? Date
  : Value extends string | number | boolean
    ? Value
    : Value extends readonly (infer Item)[]
      ? readonly Row<Item>[]
      : Value extends object
        ? { readonly [Key in keyof Value]: Row<Value[Key]> }
        : Value
export type RowOf<Of> = Row<Shaped<Of>>

/** A mapping with a schema of its own in the API. */
export const namedFields = <const Parts extends Shapes>(name: string, parts: Parts): Shape<Read<Parts>> =>
  called(name, fields(parts))

export const anId = (): Shape<string> => text({ format: 'uuid' })
export const aTime = (): Shape<TimeText> => text({ format: 'date-time' }) as Shape<TimeText>
/** A number with more digits than JSON keeps. */
export const digits = (): Shape<string> => matching(/^\d+$/, 'digits')

/** Done, without an answer. */
export const NOTHING: Shape<void> = such('nothing', (value) => value === undefined || value === null, {
  schema: { type: 'null' },
})

/** How a tool authenticates to the service that it calls. */
export const AUTH_METHODS = ['none', 'api_key', 'oauth', 'service_account'] as const
/** What can have a price. A megabyte is 1,000,000 bytes, sent or received through the proxy. */
export const PRICED_UNITS = ['call', 'cpu_second', 'wall_second', 'megabyte'] as const

export const MEMBER_KINDS = ['admin', 'operator', 'agent', 'runner'] as const
export const MEMBER_KIND = oneOf(...MEMBER_KINDS)
export type MemberKind = Shaped<typeof MEMBER_KIND>
export const SCOPE = oneOf('all', 'agent', 'tool', 'profile')
export const EGRESS_CLASS = oneOf('none', 'read_only', 'write')
export const TOOL_STATUS = oneOf('active', 'disabled', 'deprecated')
export const SELF = namedFields('Self', {
  actor: text(),
  teams: list(fields({ team: text(), kinds: list(MEMBER_KIND) })),
})
export type Self = RowOf<typeof SELF>

export const MEMBER = namedFields('Member', { actor: text(), kinds: list(MEMBER_KIND) })

export const STOP = namedFields('Stop', {
  scope: SCOPE,
  subject: text(),
  state: oneOf('kill', 'pause'),
  reason: text(),
  author: text(),
  since: aTime(),
})
export type Stop = RowOf<typeof STOP>

export const PROFILE = namedFields('Profile', {
  name: text(),
  allowTools: orNull(list(text())),
  denyTools: list(text()),
  toolGroups: orNull(list(text())),
  /** Every call of these needs approval, whatever the tool says. */
  askTools: list(text()),
  requiresApproval: yesOrNo(),
  isDefault: yesOrNo(),
})
export type Profile = RowOf<typeof PROFILE>

/** A budget with its use in the current period. */
export const BUDGET = namedFields('Budget', {
  scope: oneOf('agent', 'profile'),
  subject: text(),
  seconds: number(),
  maxCalls: orNull(number()),
  maxCost: orNull(number()),
  /** Null where an agent asks about the budget of another. */
  usedCalls: orNull(number()),
  /** Includes the expected cost of open calls. Null where cost is not limited. */
  usedCost: orNull(number()),
  until: aTime(),
})

/** How many questions of one agent may wait. Agent null: each agent of the team without a limit of its own. */
export const WAITING_LIMIT = namedFields('WaitingLimit', { agent: orNull(text()), waiting: count() })

export const CREDENTIAL = namedFields('Credential', { ref: text(), keyId: text(), storedBy: text(), storedAt: aTime() })
export type StoredCredential = RowOf<typeof CREDENTIAL>

export const ISSUED_TOKEN = namedFields('IssuedToken', {
  id: anId(),
  team: text(),
  actor: text(),
  label: text(),
  createdBy: text(),
  createdAt: aTime(),
  expiresAt: aTime(),
  lastUsedAt: orNull(aTime()),
  revokedAt: orNull(aTime()),
})
/** The token itself is answered only here. */
export const NEW_TOKEN = namedFields('NewToken', { id: anId(), token: text() })
export type NewToken = RowOf<typeof NEW_TOKEN>

export const TOOL = namedFields('Tool', {
  id: anId(),
  owner: text(),
  key: text(),
  name: text(),
  description: text(),
  category: text(),
  inputSchema: mapping(),
  /** Output that does not fit is kept, and reported (`outputProblem`). */
  outputSchema: orNull(mapping()),
  authMethod: oneOf(...AUTH_METHODS),
  egressClass: EGRESS_CLASS,
  requiresApproval: yesOrNo(),
  status: TOOL_STATUS,
  /** How it runs. Runners read it. */
  definition: mapping(),
  version: count(),
  /** pending: it may do more than the last usable version, and nobody can call it yet. */
  review: oneOf('none', 'pending', 'approved'),
  /** What this version may newly do, a sentence each. */
  widening: list(text()),
  registeredBy: text(),
  isDangerous: yesOrNo(),
  endpointUrl: orNull(text()),
  httpMethod: orNull(text()),
  credentialRef: orNull(text()),
  needsLabels: list(text()),
  needsBoundary: list(text()),
  approvalsNeeded: count(),
  /** The expected cost of a call. Budgets count it until the call has ended. */
  expectedCost: orNull(number()),
  /** In any unit that the team counts in. The database computes the cost of a call from them. */
  prices: orNull(valuesOf(number(), PRICED_UNITS)),
})
export type RegisteredTool = RowOf<typeof TOOL>

export const ASSIGNMENT = namedFields('Assignment', {
  agent: text(),
  tool: text(),
  profile: orNull(text()),
  isAllowed: yesOrNo(),
})
