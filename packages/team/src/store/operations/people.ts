// Operations on members, stops, profiles, budgets, limits, credentials and tokens of a team.
import { amount, oneOf, optional, whole, yesOrNo } from 'cordon/shapes'

import { listCredentials } from '../registry/credentials.js'
import {
  findSelf,
  limitWaiting,
  listBudgets,
  listLimits,
  listMembers,
  listProfiles,
  listStops,
  removeMember,
  requireNewTeam,
  requireSubject,
  resumeTeam,
  setProfile,
} from '../registry/members.js'
import { addMember } from '../registry/registry.js'
import { callProcedure, milliseconds } from '../registry/statements.js'
import {
  BUDGET,
  CREDENTIAL,
  ISSUED_TOKEN,
  MEMBER,
  NEW_TOKEN,
  PROFILE,
  SELF,
  STOP,
  WAITING_LIMIT,
  MEMBER_KIND,
  SCOPE,
} from '../registry/team-answers.js'
import { createToken, listTokens } from '../registry/tokens.js'
import { boundedList, filledText, id, name, text, toolKey } from './field.js'
import {
  WRITE_AS,
  EVERYBODY,
  READ_AS_MEMBER,
  READ_AS_AUDITOR,
  operationWithoutAnswer,
  listOfTeam,
  operation,
} from './operation.js'

const LONGEST_DAYS = 365
const LONGEST_SEALED = 100_000
const MOST_WAITING = 100_000
const LONGEST_SPAN_SECONDS = 366 * 86_400

export const PEOPLE = {
  whoAmI: operation({
    ...READ_AS_MEMBER,
    path: '/v1/me',
    summary: 'the caller and their teams',
    fields: {},
    answer: SELF,
    perform: findSelf,
  }),
  foundTeam: operationWithoutAnswer({
    ...WRITE_AS.owner,
    path: '/v1/teams',
    summary: 'creates a team with its first admin',
    fields: { team: name(), admin: name() },
    perform: async (asking, { team, admin }) => {
      await requireNewTeam(asking, team)
      return addMember(asking, team, admin, 'admin')
    },
  }),
  listMembers: listOfTeam('members', 'members of a team', MEMBER, listMembers),
  addMember: operationWithoutAnswer({
    ...WRITE_AS.admin,
    path: '/v1/teams/{team}/members',
    summary: 'adds somebody to a team',
    fields: { team: name(), actor: name(), kind: MEMBER_KIND },
    perform: (asking, { team, actor, kind: as }) => addMember(asking, team, actor, as),
  }),
  removeMember: operationWithoutAnswer({
    ...WRITE_AS.admin,
    method: 'DELETE',
    path: '/v1/teams/{team}/members/{actor}/{kind}',
    summary: 'removes somebody from a team; their tokens end with their last kind',
    fields: { team: name(), actor: name(), kind: MEMBER_KIND },
    perform: (asking, { team, actor, kind: as }) => removeMember(asking, team, actor, as),
  }),
  listStops: listOfTeam('stops', 'stops', STOP, listStops),
  stop: operationWithoutAnswer({
    ...WRITE_AS.operatorOrAdmin,
    path: '/v1/teams/{team}/stops',
    summary: 'stops a team, or one agent, tool or profile of it: kill refuses calls, pause starts none',
    fields: {
      team: name(),
      scope: SCOPE,
      subject: text(128),
      state: oneOf('kill', 'pause'),
      reason: filledText(2000),
    },
    perform: async (asking, { team: owner, scope, subject, state, reason }) => {
      await requireSubject(asking, owner, { scope, subject })
      await callProcedure(asking, 'fn_stop', { owner, state, reason, scope, subject })
    },
  }),
  resume: operationWithoutAnswer({
    ...WRITE_AS.operatorOrAdmin,
    method: 'DELETE',
    path: '/v1/teams/{team}/stops/{scope}',
    summary: 'ends a stop',
    fields: { team: name(), scope: SCOPE, subject: text(128) },
    perform: (asking, { team, ...stop }) => resumeTeam(asking, team, stop),
  }),
  listProfiles: listOfTeam('profiles', 'profiles: which tools they allow', PROFILE, listProfiles),
  setProfile: operationWithoutAnswer({
    ...WRITE_AS.admin,
    path: '/v1/teams/{team}/profiles',
    summary: 'makes or changes a profile: allow ∩ groups − deny',
    fields: {
      team: name(),
      name: name(),
      allowTools: optional(boundedList(toolKey())),
      denyTools: optional(boundedList(toolKey())),
      toolGroups: optional(boundedList(text(128))),
      askTools: optional(boundedList(toolKey())),
      requiresApproval: optional(yesOrNo()),
      isDefault: optional(yesOrNo()),
    },
    perform: (asking, { team, ...profile }) => setProfile(asking, team, profile),
  }),
  listBudgets: listOfTeam('budgets', 'budgets of agents and profiles', BUDGET, listBudgets),
  setBudget: operationWithoutAnswer({
    ...WRITE_AS.admin,
    path: '/v1/teams/{team}/budgets',
    summary: 'limits the calls or the cost in a period',
    fields: {
      team: name(),
      scope: oneOf('agent', 'profile'),
      subject: name(),
      seconds: whole(1, LONGEST_SPAN_SECONDS),
      maxCalls: optional(whole(0, Number.MAX_SAFE_INTEGER)),
      maxCost: optional(amount()),
    },
    perform: async (asking, { team: owner, scope, subject, seconds, maxCalls, maxCost }) => {
      await requireSubject(asking, owner, { scope, subject })
      const span = milliseconds(seconds * 1000)
      await callProcedure(asking, 'fn_set_budget', { owner, scope, subject, span, maxCalls, maxCost })
    },
  }),
  removeBudget: operationWithoutAnswer({
    ...WRITE_AS.admin,
    method: 'DELETE',
    path: '/v1/teams/{team}/budgets/{scope}/{subject}/{seconds}',
    summary: 'removes the budget of an agent or a profile for a period of so many seconds',
    fields: {
      team: name(),
      scope: oneOf('agent', 'profile'),
      subject: name(),
      seconds: whole(1, LONGEST_SPAN_SECONDS),
    },
    perform: (asking, { team: owner, scope, subject, seconds }) =>
      callProcedure(asking, 'fn_remove_budget', { owner, scope, subject, span: milliseconds(seconds * 1000) }),
  }),
  listLimits: listOfTeam('limits', 'limits of pending questions that an admin set', WAITING_LIMIT, listLimits),
  limitWaiting: operationWithoutAnswer({
    ...WRITE_AS.admin,
    path: '/v1/teams/{team}/limits',
    summary: 'limits the pending questions of one agent, or of each; without a number the default applies',
    fields: { team: name(), agent: optional(name()), waiting: optional(whole(0, MOST_WAITING)) },
    perform: async (asking, { team, ...limit }) => {
      if (limit.agent !== undefined) await requireSubject(asking, team, { scope: 'agent', subject: limit.agent })
      await limitWaiting(asking, team, limit)
    },
  }),
  listCredentials: {
    ...listOfTeam('credentials', 'stored credentials, without their values', CREDENTIAL, listCredentials),
    ...READ_AS_AUDITOR,
  },
  storeCredential: operationWithoutAnswer({
    ...WRITE_AS.admin,
    path: '/v1/teams/{team}/credentials',
    summary: 'stores a credential, sealed with a key that the store does not have',
    fields: { team: name(), ref: name(), sealed: filledText(LONGEST_SEALED), keyId: filledText(16) },
    perform: (asking, { team: owner, ref, sealed, keyId }) =>
      callProcedure(asking, 'fn_store_credential', { owner, ref, sealed, keyId }),
  }),
  removeCredential: operationWithoutAnswer({
    ...WRITE_AS.admin,
    method: 'DELETE',
    path: '/v1/teams/{team}/credentials/{ref}',
    summary: 'removes a credential',
    fields: { team: name(), ref: name() },
    perform: (asking, { team: owner, ref }) => callProcedure(asking, 'fn_remove_credential', { owner, ref }),
  }),
  listTokens: {
    ...listOfTeam(
      'tokens',
      'tokens, without the secret: an admin sees all, others their own',
      ISSUED_TOKEN,
      listTokens,
    ),
    role: 'cordon_admin',
  },
  createToken: operation({
    ...WRITE_AS.admin,
    path: '/v1/teams/{team}/tokens',
    summary: 'creates a token for a member; it is shown once',
    fields: { team: name(), actor: name(), label: optional(text(200)), days: optional(whole(1, LONGEST_DAYS)) },
    answer: NEW_TOKEN,
    perform: (asking, { team, actor, ...more }) => createToken(asking, team, actor, more),
  }),
  revokeToken: operationWithoutAnswer({
    method: 'DELETE',
    path: '/v1/tokens/{id}',
    summary: 'revokes a token: by an admin or its member',
    role: 'cordon_admin',
    who: EVERYBODY,
    fields: { id: id() },
    perform: (asking, given) => callProcedure(asking, 'fn_revoke_token', { id: given.id }),
  }),
} as const
