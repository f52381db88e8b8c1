// Who is in a team, what is stopped, and what people are known by.
import { amount, list, oneOf, optional, whole, yesOrNo } from '../../shapes/index.js'
import { listCredentials, removeCredential, storeCredential } from '../registry/credentials.js'
import { limitWaiting, listLimits } from '../registry/limits.js'
import {
  findSelf,
  listBudgets,
  listMembers,
  listProfiles,
  listStops,
  removeBudget,
  removeMember,
  requireNewTeam,
  requireSubject,
  resumeTeam,
  setBudget,
  setProfile,
  stopTeam,
} from '../registry/members.js'
import { addMember } from '../registry/registry.js'
import { createToken, listTokens, revokeToken } from '../registry/tokens.js'

import {
  BUDGET,
  CREDENTIAL,
  ISSUED_TOKEN,
  MEMBER,
  NEW_TOKEN,
  NOTHING,
  PROFILE,
  SELF,
  STOP,
  WAITING_LIMIT,
} from './answers.js'
import { boundedList, filledText, id, name, text, toolKey } from './field.js'
import { EVERYBODY, operation } from './operation.js'

const kind = () => oneOf('admin', 'operator', 'agent', 'runner')
const scope = () => oneOf('all', 'agent', 'tool', 'profile')
const LONGEST_DAYS = 365
const LONGEST_SEALED = 100_000
const MOST_WAITING = 100_000
const LONGEST_SPAN_SECONDS = 366 * 86_400

export const PEOPLE = {
  whoAmI: operation({
    method: 'GET',
    path: '/v1/me',
    summary: 'who asks, and what they are of which team',
    role: 'cordon_agent',
    who: EVERYBODY,
    fields: {},
    answer: SELF,
    perform: findSelf,
  }),
  foundTeam: operation({
    method: 'POST',
    path: '/v1/teams',
    summary: 'a new team with its first admin',
    role: 'service_role',
    who: 'owner',
    fields: { team: name(), admin: name() },
    answer: NOTHING,
    perform: async (asking, { team, admin }) => {
      await requireNewTeam(asking, team)
      return addMember(asking, team, admin, 'admin')
    },
  }),
  listMembers: operation({
    method: 'GET',
    path: '/v1/teams/{team}/members',
    summary: 'who is in a team',
    role: 'cordon_agent',
    who: EVERYBODY,
    fields: { team: name() },
    answer: list(MEMBER),
    perform: (asking, { team }) => listMembers(asking, team),
  }),
  addMember: operation({
    method: 'POST',
    path: '/v1/teams/{team}/members',
    summary: 'adds somebody to a team',
    role: 'cordon_admin',
    who: ['admin'],
    fields: { team: name(), actor: name(), kind: kind() },
    answer: NOTHING,
    perform: (asking, { team, actor, kind: as }) => addMember(asking, team, actor, as),
  }),
  removeMember: operation({
    method: 'DELETE',
    path: '/v1/teams/{team}/members/{actor}/{kind}',
    summary: 'takes somebody out of a team; with the last kind go their tokens',
    role: 'cordon_admin',
    who: ['admin'],
    fields: { team: name(), actor: name(), kind: kind() },
    answer: NOTHING,
    perform: (asking, { team, actor, kind: as }) => removeMember(asking, team, actor, as),
  }),
  listStops: operation({
    method: 'GET',
    path: '/v1/teams/{team}/stops',
    summary: 'what is stopped',
    role: 'cordon_agent',
    who: EVERYBODY,
    fields: { team: name() },
    answer: list(STOP),
    perform: (asking, { team }) => listStops(asking, team),
  }),
  stop: operation({
    method: 'POST',
    path: '/v1/teams/{team}/stops',
    summary: 'stops a team, or an agent, a tool, a profile of it: kill refuses calls, pause starts none',
    role: 'cordon_operator',
    who: ['operator', 'admin'],
    fields: {
      team: name(),
      scope: scope(),
      subject: text(128),
      state: oneOf('kill', 'pause'),
      reason: filledText(2000),
    },
    answer: NOTHING,
    perform: async (asking, { team, ...stop }) => {
      await requireSubject(asking, team, stop)
      await stopTeam(asking, team, stop)
    },
  }),
  resume: operation({
    method: 'DELETE',
    path: '/v1/teams/{team}/stops/{scope}',
    summary: 'lets what was stopped go on',
    role: 'cordon_operator',
    who: ['operator', 'admin'],
    fields: { team: name(), scope: scope(), subject: text(128) },
    answer: NOTHING,
    perform: (asking, { team, ...stop }) => resumeTeam(asking, team, stop),
  }),
  listProfiles: operation({
    method: 'GET',
    path: '/v1/teams/{team}/profiles',
    summary: 'profiles: which tools they allow',
    role: 'cordon_agent',
    who: EVERYBODY,
    fields: { team: name() },
    answer: list(PROFILE),
    perform: (asking, { team }) => listProfiles(asking, team),
  }),
  setProfile: operation({
    method: 'POST',
    path: '/v1/teams/{team}/profiles',
    summary: 'makes or changes a profile: allow ∩ groups − deny',
    role: 'cordon_admin',
    who: ['admin'],
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
    answer: NOTHING,
    perform: (asking, { team, ...profile }) => setProfile(asking, team, profile),
  }),
  listBudgets: operation({
    method: 'GET',
    path: '/v1/teams/{team}/budgets',
    summary: 'budgets of agents and profiles',
    role: 'cordon_agent',
    who: EVERYBODY,
    fields: { team: name() },
    answer: list(BUDGET),
    perform: (asking, { team }) => listBudgets(asking, team),
  }),
  setBudget: operation({
    method: 'POST',
    path: '/v1/teams/{team}/budgets',
    summary: 'how many calls, or how much cost, in a span of time',
    role: 'cordon_admin',
    who: ['admin'],
    fields: {
      team: name(),
      scope: oneOf('agent', 'profile'),
      subject: name(),
      seconds: whole(1, LONGEST_SPAN_SECONDS),
      maxCalls: optional(whole(0, Number.MAX_SAFE_INTEGER)),
      maxCost: optional(amount()),
    },
    answer: NOTHING,
    perform: async (asking, { team, maxCalls, maxCost, ...budget }) => {
      await requireSubject(asking, team, budget)
      await setBudget(asking, team, { ...budget, maxCalls: maxCalls ?? null, maxCost: maxCost ?? null })
    },
  }),
  removeBudget: operation({
    method: 'DELETE',
    path: '/v1/teams/{team}/budgets/{scope}/{subject}/{seconds}',
    summary: 'takes a budget away: that of an agent or a profile in a span of so many seconds',
    role: 'cordon_admin',
    who: ['admin'],
    fields: {
      team: name(),
      scope: oneOf('agent', 'profile'),
      subject: name(),
      seconds: whole(1, LONGEST_SPAN_SECONDS),
    },
    answer: NOTHING,
    perform: (asking, { team, ...budget }) => removeBudget(asking, team, budget),
  }),
  listLimits: operation({
    method: 'GET',
    path: '/v1/teams/{team}/limits',
    summary: 'how many questions of an agent may wait, where an admin said so',
    role: 'cordon_agent',
    who: EVERYBODY,
    fields: { team: name() },
    answer: list(WAITING_LIMIT),
    perform: (asking, { team }) => listLimits(asking, team),
  }),
  limitWaiting: operation({
    method: 'POST',
    path: '/v1/teams/{team}/limits',
    summary: 'how many questions of one agent, or of each, may wait at the same time; without a number the default',
    role: 'cordon_admin',
    who: ['admin'],
    fields: { team: name(), agent: optional(name()), waiting: optional(whole(0, MOST_WAITING)) },
    answer: NOTHING,
    perform: async (asking, { team, ...limit }) => {
      if (limit.agent !== undefined) await requireSubject(asking, team, { scope: 'agent', subject: limit.agent })
      await limitWaiting(asking, team, limit)
    },
  }),
  listCredentials: operation({
    method: 'GET',
    path: '/v1/teams/{team}/credentials',
    summary: 'credentials that are kept, without their values',
    role: 'cordon_operator',
    who: ['admin', 'operator'],
    fields: { team: name() },
    answer: list(CREDENTIAL),
    perform: (asking, { team }) => listCredentials(asking, team),
  }),
  storeCredential: operation({
    method: 'POST',
    path: '/v1/teams/{team}/credentials',
    summary: 'keeps a credential, sealed with a key that is not here',
    role: 'cordon_admin',
    who: ['admin'],
    fields: { team: name(), ref: name(), sealed: filledText(LONGEST_SEALED), keyId: filledText(16) },
    answer: NOTHING,
    perform: (asking, { team, ref, ...sealed }) => storeCredential(asking, team, ref, sealed),
  }),
  removeCredential: operation({
    method: 'DELETE',
    path: '/v1/teams/{team}/credentials/{ref}',
    summary: 'forgets a credential',
    role: 'cordon_admin',
    who: ['admin'],
    fields: { team: name(), ref: name() },
    answer: NOTHING,
    perform: (asking, { team, ref }) => removeCredential(asking, team, ref),
  }),
  listTokens: operation({
    method: 'GET',
    path: '/v1/teams/{team}/tokens',
    summary: "tokens that were made, without what is secret in them: all for an admin, otherwise one's own",
    role: 'cordon_admin',
    who: EVERYBODY,
    fields: { team: name() },
    answer: list(ISSUED_TOKEN),
    perform: (asking, { team }) => listTokens(asking, team),
  }),
  createToken: operation({
    method: 'POST',
    path: '/v1/teams/{team}/tokens',
    summary: 'a token for a member; it is shown once',
    role: 'cordon_admin',
    who: ['admin'],
    fields: { team: name(), actor: name(), label: optional(text(200)), days: optional(whole(1, LONGEST_DAYS)) },
    answer: NEW_TOKEN,
    perform: (asking, { team, actor, ...more }) => createToken(asking, team, actor, more),
  }),
  revokeToken: operation({
    method: 'DELETE',
    path: '/v1/tokens/{id}',
    summary: 'takes a token back: by an admin, or by who it speaks for',
    role: 'cordon_admin',
    who: EVERYBODY,
    fields: { id: id() },
    answer: NOTHING,
    perform: (asking, given) => revokeToken(asking, given.id),
  }),
} as const
