// Which tools there are, and who may call them.
import { amount, list, oneOf, optional, whole, yesOrNo } from '../../shapes/index.js'
import { requireAgent } from '../registry/members.js'
import {
  AUTH_METHODS,
  PRICED,
  assignTool,
  listAssignments,
  listTools,
  registerTool,
  requireTool,
  revokeTool,
  setToolStatus,
} from '../registry/registry.js'

import { ASSIGNMENT, NOTHING, TOOL } from './answers.js'
import { amounts, boundedList, boundedMapping, name, text, toolKey } from './field.js'
import { EVERYBODY, operation } from './operation.js'

const MOST_APPROVALS = 20

export const TOOLS = {
  listTools: operation({
    method: 'GET',
    path: '/v1/teams/{team}/tools',
    summary: 'the tools of a team',
    role: 'cordon_agent',
    who: EVERYBODY,
    fields: { team: name() },
    answer: list(TOOL),
    perform: (asking, { team }) => listTools(asking, team),
  }),
  showTool: operation({
    method: 'GET',
    path: '/v1/teams/{team}/tools/{tool}',
    summary: 'one tool',
    role: 'cordon_agent',
    who: EVERYBODY,
    fields: { team: name(), tool: toolKey() },
    answer: TOOL,
    perform: (asking, { team, tool }) => requireTool(asking, team, tool),
  }),
  registerTool: operation({
    method: 'POST',
    path: '/v1/teams/{team}/tools',
    summary: 'registers a tool, or its next version',
    role: 'cordon_admin',
    who: ['admin'],
    fields: {
      team: name(),
      key: toolKey(),
      name: optional(text(200)),
      description: optional(text()),
      category: optional(text(128)),
      inputSchema: optional(boundedMapping()),
      outputSchema: optional(boundedMapping()),
      authMethod: optional(oneOf(...AUTH_METHODS)),
      egressClass: optional(oneOf('none', 'read_only', 'write')),
      requiresApproval: optional(yesOrNo()),
      isDangerous: optional(yesOrNo()),
      endpointUrl: optional(text(2000)),
      httpMethod: optional(text(20)),
      credentialRef: optional(text(200)),
      definition: optional(boundedMapping()),
      needsLabels: optional(boundedList(text(128))),
      needsBoundary: optional(boundedList(text(128))),
      approvalsNeeded: optional(whole(1, MOST_APPROVALS)),
      expectedCost: optional(amount()),
      prices: optional(amounts(PRICED)),
    },
    answer: TOOL,
    perform: async (asking, { team, ...tool }) => {
      await registerTool(asking, { owner: team, ...tool })
      return requireTool(asking, team, tool.key)
    },
  }),
  setToolStatus: operation({
    method: 'POST',
    path: '/v1/teams/{team}/tools/{tool}/status',
    summary: 'a tool that is disabled cannot be called, and what was approved of it does not run',
    role: 'cordon_admin',
    who: ['admin'],
    fields: { team: name(), tool: toolKey(), status: oneOf('active', 'disabled', 'deprecated') },
    answer: NOTHING,
    perform: async (asking, { team, tool, status }) =>
      setToolStatus(asking, (await requireTool(asking, team, tool)).id, status),
  }),
  listAssignments: operation({
    method: 'GET',
    path: '/v1/teams/{team}/assignments',
    summary: 'which agent may call which tool',
    role: 'cordon_agent',
    who: EVERYBODY,
    fields: { team: name() },
    answer: list(ASSIGNMENT),
    perform: (asking, { team }) => listAssignments(asking, team),
  }),
  assignTool: operation({
    method: 'POST',
    path: '/v1/teams/{team}/assignments',
    summary: 'lets an agent call a tool',
    role: 'cordon_admin',
    who: ['admin'],
    fields: { team: name(), agent: name(), tool: toolKey(), profile: optional(name()) },
    answer: NOTHING,
    perform: async (asking, { team, agent, tool, profile }) => {
      const { id } = await requireTool(asking, team, tool)
      // Assigned to an unknown name it would have no effect, or affect a later member of that name.
      await requireAgent(asking, team, agent)
      return assignTool(asking, agent, id, profile)
    },
  }),
  revokeTool: operation({
    method: 'DELETE',
    path: '/v1/teams/{team}/assignments/{agent}/{tool}',
    summary: 'an agent may not call a tool any more',
    role: 'cordon_admin',
    who: ['admin'],
    fields: { team: name(), agent: name(), tool: toolKey() },
    answer: NOTHING,
    perform: async (asking, { team, agent, tool }) =>
      revokeTool(asking, agent, (await requireTool(asking, team, tool)).id),
  }),
} as const
