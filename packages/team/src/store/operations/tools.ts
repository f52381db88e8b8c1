// Operations on tools and their assignments.
import { amount, oneOf, optional, valuesOf, whole, yesOrNo } from 'cordon/shapes'

import { requireMember } from '../registry/members.js'
import {
  approveTool,
  assignTool,
  listAssignments,
  listTools,
  registerTool,
  requireTool,
  revokeTool,
} from '../registry/registry.js'
import { callProcedure } from '../registry/statements.js'
import { ASSIGNMENT, AUTH_METHODS, EGRESS_CLASS, PRICED_UNITS, TOOL, TOOL_STATUS } from '../registry/team-answers.js'
import { boundedList, boundedMapping, name, text, toolKey } from './field.js'
import { WRITE_AS, READ_AS_MEMBER, operationWithoutAnswer, listOfTeam, operation } from './operation.js'

const MOST_APPROVALS = 20
const MOST_VERSIONS = 2_147_483_647

export const TOOLS = {
  listTools: listOfTeam('tools', 'tools of a team', TOOL, listTools),
  showTool: operation({
    ...READ_AS_MEMBER,
    path: '/v1/teams/{team}/tools/{tool}',
    summary: 'one tool',
    fields: { team: name(), tool: toolKey() },
    answer: TOOL,
    perform: (asking, { team, tool }) => requireTool(asking, team, tool),
  }),
  registerTool: operation({
    ...WRITE_AS.admin,
    path: '/v1/teams/{team}/tools',
    summary: 'registers a tool, or its next version',
    fields: {
      team: name(),
      key: toolKey(),
      name: optional(text(200)),
      description: optional(text()),
      category: optional(text(128)),
      inputSchema: optional(boundedMapping()),
      outputSchema: optional(boundedMapping()),
      authMethod: optional(oneOf(...AUTH_METHODS)),
      egressClass: optional(EGRESS_CLASS),
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
      prices: optional(
        valuesOf(amount(), PRICED_UNITS, `a mapping of ${PRICED_UNITS.join(', ')} to numbers, at least 0`),
      ),
    },
    answer: TOOL,
    perform: async (asking, { team, ...tool }) => {
      await registerTool(asking, { owner: team, ...tool })
      return requireTool(asking, team, tool.key)
    },
  }),
  setToolStatus: operationWithoutAnswer({
    ...WRITE_AS.admin,
    path: '/v1/teams/{team}/tools/{tool}/status',
    summary: 'sets the status; a disabled tool cannot be called, and its approved calls do not run',
    fields: { team: name(), tool: toolKey(), status: TOOL_STATUS },
    perform: async (asking, { team, tool, status }) =>
      callProcedure(asking, 'fn_set_tool_status', { tool: (await requireTool(asking, team, tool)).id, status }),
  }),
  approveTool: operationWithoutAnswer({
    ...WRITE_AS.operator,
    path: '/v1/teams/{team}/tools/{tool}/approval',
    summary: 'lets agents call a version that may do more than the last usable one',
    fields: { team: name(), tool: toolKey(), version: whole(1, MOST_VERSIONS), reason: optional(text(1000)) },
    perform: async (asking, { team, tool, version, reason }) =>
      approveTool(asking, (await requireTool(asking, team, tool)).id, version, reason),
  }),
  listAssignments: listOfTeam('assignments', 'which agent may call which tool', ASSIGNMENT, listAssignments),
  assignTool: operationWithoutAnswer({
    ...WRITE_AS.admin,
    path: '/v1/teams/{team}/assignments',
    summary: 'lets an agent call a tool',
    fields: { team: name(), agent: name(), tool: toolKey(), profile: optional(name()) },
    perform: async (asking, { team, agent, tool, profile }) => {
      const { id } = await requireTool(asking, team, tool)
      await requireMember(asking, team, agent, 'agent')
      return assignTool(asking, agent, id, profile)
    },
  }),
  revokeTool: operationWithoutAnswer({
    ...WRITE_AS.admin,
    method: 'DELETE',
    path: '/v1/teams/{team}/assignments/{agent}/{tool}',
    summary: 'ends an assignment',
    fields: { team: name(), agent: name(), tool: toolKey() },
    perform: async (asking, { team, agent, tool }) =>
      revokeTool(asking, agent, (await requireTool(asking, team, tool)).id),
  }),
} as const
