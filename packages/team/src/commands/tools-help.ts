import { value, values } from 'cordon/commands'
import { storeHelp } from '../options/store-help.js'

export const TOOLS_HELP = storeHelp({
  usage:
    'cordon team tools list | register FILE… | show|enable|disable TOOL | approve TOOL VERSION | assign|revoke TOOL AGENT [options]',
  summary: 'register tools of a team and assign them to agents',
  description: [
    'register reads tools from YAML or JSON files (- is standard input) and creates each tool, or its next version.',
    'Approvals of an older version do not apply to the new one. assign lets an agent call a tool, revoke ends that,',
    'disable ends it for all agents. A version that may do more than the last usable one cannot be called before an',
    'operator approves it. show says what it may newly do.',
  ],
  options: [
    values('assign', 'AGENT', 'also assign it to this agent (register)'),
    value('reason', 'TEXT', 'why you approve it, for the audit log (approve)'),
    value('profile', 'NAME', 'the profile for calls of this agent (assign)'),
  ],
  notes: [
    'Keys of FILE:',
    '  key, name, description, category',
    '  input, output         JSON Schemas; input that does not fit is refused, output that does not fit is reported',
    '  egress_class          none, read_only or write (default: write)',
    '  requires_approval     ask people about every call; write and dangerous tools always ask (default: true)',
    '  approvals_needed, dangerous, endpoint, method, credential',
    '  auth_method           api_key, oauth or service_account',
    '  needs_labels, needs_boundary',
    '  expected_cost, prices of a call, cpu_second, wall_second or megabyte sent or received, to measure the ' +
      'cost of calls',
    '  definition            how it runs: kind, command, policy, …',
    'Print the tools of a runner in this form: cordon runner --tools DIR --registrations | cordon team tools register -',
  ],
})
