import type { CommandHelp } from '../help.js'
import { EXIT_STATUS_NOTES, JSON_OPTION, STORE_OPTIONS } from '../store/store-help.js'

export const TOOLS_HELP: CommandHelp = {
  usage: 'cordon tools list | register FILE… | show|enable|disable TOOL | assign|revoke TOOL AGENT [options]',
  summary: 'the tools of a team, and which agent may call them',
  description: [
    'register reads tools from YAML or JSON files (- is standard input), and makes each or its next version; what was',
    'approved of the version before does not count for the new one. assign lets an agent call a tool, revoke ends that,',
    'and disable ends it for all.',
  ],
  groups: [
    { title: 'options', options: [{ name: 'assign', value: 'AGENT', repeatable: true, help: 'lets this agent call it, too (register)' }, { name: 'profile', value: 'NAME', help: 'the profile that calls of this agent go by (assign)' }, JSON_OPTION] },
    { title: 'the store', options: STORE_OPTIONS },
  ],
  notes: [
    'Keys of FILE: key, name, description, category, input and output (JSON Schemas: what does not fit input is refused, what',
    'does not fit output is kept and said), egress_class (none, read_only or',
    'write, which it is unless it says otherwise, and if its policy writes files and names no egress_class), requires_approval (people are asked about every call unless this is false;',
    'of write and dangerous ones always), approvals_needed, dangerous, endpoint, method,',
    'credential, auth_method (api_key, oauth or service_account), needs_labels, needs_boundary, expected_cost, prices (of a call, a cpu_second, a wall_second, a megabyte sent',
    'or received; the cost of each call is measured by them), and definition: how it is run (kind, command, policy, …). What runners are to run',
    'is registered as they know it: cordon runner --tools DIR --registrations | cordon tools register -',
    ...EXIT_STATUS_NOTES,
  ],
}
