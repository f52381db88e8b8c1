// What would allow a refused call, or let somebody approve it. `cordon why` shows these lines.
import { join } from 'node:path'

import type { GateCall } from '../../gate/index.js'

import type { CordonOptions } from '../cordon-options.js'
import type { BoundTool } from '../tools/bound-tool.js'

const READS_ONLY =
  'if it only reads, say so in its policy: egress_class: "read_only", which lets only GET, HEAD and OPTIONS pass'

type Ways = Pick<GateCall, 'waysToAllow' | 'waysToApprove'>

export const waysToAllow = (tool: BoundTool | undefined, options: CordonOptions): Ways => {
  if (tool === undefined) return {}
  return tool.definition.kind === 'mcp' ? inGateway(tool, tool.definition, options) : inCode(tool, options)
}

/** Tools of MCP servers are offered by `cordon mcp`, whose user has files and options, and no code. */
const inGateway = (
  tool: BoundTool,
  { name, hasPolicy, policyFix }: Extract<BoundTool['definition'], { readonly kind: 'mcp' }>,
  { approve, mode, configFolder = '~/.config/cordon' }: CordonOptions,
): Ways => {
  const asking = approve === undefined ? ['let the person at the client approve it: cordon mcp --ask client'] : []
  return {
    waysToAllow: [
      ...(policyFix === undefined ? [] : [policyFix]),
      `add to the rules in ${join(configFolder, 'rules.yaml')}: ` +
        `- { effect: allow, tool: ${JSON.stringify(name)}, because: say why }`,
      ...asking,
      ...(hasPolicy && mode !== 'on_request' ? ['let its sandbox be enough: cordon mcp --mode on_request'] : []),
    ],
    ...(asking.length === 0 ? {} : { waysToApprove: [...asking, ...readsOnly(tool)] }),
  }
}

const readsOnly = ({ gate }: BoundTool): readonly string[] =>
  gate.boundary.network.kind === 'none' ? [] : [READS_ONLY]

const inCode = (tool: BoundTool, { approve }: CordonOptions): Ways => {
  const { name, kind } = tool.definition
  const asking =
    approve === undefined
      ? [
          'let somebody answer: createCordon({ approve: async ({ tool, input, reason }) => ({ kind: ' +
            '"approve_once", by: "ann" }), … })',
        ]
      : []
  return {
    waysToAllow: [
      'add a rule that allows it, best with a condition: createCordon({ rules: [{ rules: [{ effect: "allow", ' +
        `tool: ${JSON.stringify(name)}, because: "…" }] }], … })`,
      ...asking,
      ...(kind === 'in-process' ? [] : ['let its sandbox be enough: createCordon({ mode: "on_request", … })']),
    ],
    ...(asking.length === 0 ? {} : { waysToApprove: [...asking, ...readsOnly(tool)] }),
  }
}
