// One event of every type that a runtime emits, as one call could have them.
import type { PermissionDecision, PermissionState } from '../../src/gate/index.js'
import { recordArguments } from '../../src/runtime/index.js'
import type { EventDraft } from '../../src/runtime/index.js'
import type { SandboxProfile } from '../../src/sandbox/index.js'

const HASH = `sha256:${'a'.repeat(64)}`

export const DECISION: PermissionDecision = {
  decision_id: 'decision-1',
  call_id: 'call-1',
  tool: 'bash',
  decision: 'sandboxed',
  decision_source: 'mode',
  decision_reason: 'the mode lets it run in its sandbox',
  agent_reason: null,
  error_code: null,
  rule_refs: ['project:rules.yaml:3'],
  updated_input_ref: null,
  approval_action_id: null,
  expires_at: '2026-01-01T00:01:00.000Z',
  scope: 'call',
  mode: 'on_request',
  risk: 'medium',
  risk_is_derived: true,
  used_declared_capability: false,
  arguments_hash: HASH,
  policy_hash: HASH,
  argument_gate: 'enforced',
  decided_at: '2026-01-01T00:00:00.000Z',
  destructive: false,
  explain: { steps: [{ step: 'mode', round: 1, outcome: 'it runs' }], rules: [], what_would_change_it: [], asked_again_because: [] },
}

const STATE: PermissionState = { mode: 'on_request', rules: [], policy_sources: ['policy.yaml'], interactive: false, managed_only: [] }

const call = { call_id: 'call-1', tool: 'bash', decision_id: 'decision-1' }
const hook = { call_id: 'call-1', tool: 'bash', hook: 'guard', point: 'pre_tool_use' as const }
const usage = { wall_ms: 12, cpu_ms: 3, max_rss_bytes: 4096 }
const recorded = recordArguments({ command: 'ls' })

const PROFILE: SandboxProfile = {
  ...{ mode: 'sandboxed', backend: 'native', form: 'landlock', cwd: '/w', read_roots: ['/usr'], write_roots: [], sealed: [] },
  ...{ closed_folders: [], network: 'none', environment_ref: [], process_limits: {}, violation_refs: [], enforced: { network: ['seccomp'] } },
}

export const DRAFTS: readonly EventDraft[] = [
  { type: 'session.started', call_id: null, permission_state: STATE },
  { type: 'policy.changed', call_id: null, change: 'mode', because: 'set by the host', tool: null, policy_hash: null, permission_state: STATE },
  { type: 'permission.evaluated', call_id: 'call-1', permission_decision: DECISION, arguments: recorded },
  { type: 'hook.started', ...hook },
  { type: 'hook.completed', ...hook, decision: 'ask', effects: ['context'], reason: 'unusual', audit_refs: ['ticket-1'], duration_ms: 1.5 },
  { type: 'hook.started', ...hook, hook: 'broken' },
  { type: 'hook.failed', ...hook, hook: 'broken', problem: 'it threw', duration_ms: 2 },
  { type: 'permission.requested', ...call, approval_action_id: 'approval-1', reason: 'a hook wants it', arguments_hash: HASH, expires_at: '2026-01-01T00:15:00.000Z' },
  { type: 'permission.resolved', ...call, approval_action_id: 'approval-1', resolution: 'allowed', by: 'alice', reason: null, scope: 'call', decision: 'allow' },
  { type: 'tool.called', ...call, arguments: recorded, risk: 'medium', policy_hash: HASH },
  { type: 'sandbox.applied', ...call, sandbox_profile: PROFILE },
  { type: 'process.started', ...call, program: '/bin/ls', arguments: recorded, cwd: '/' },
  { type: 'sandbox.violation', ...call, violation_ref: 'violations/0', violation: { kind: 'connect', family: 'inet', address: '192.0.2.1', port: 443 }, description: 'refused connection to 192.0.2.1:443' },
  { type: 'sandbox.violation', ...call, violation_ref: 'violations/1', violation: { kind: 'memory', limit: 10, used: 11, effect: 'ended' }, description: 'ended' },
  { type: 'sandbox.violation', ...call, violation_ref: 'violations/2', violation: { kind: 'lookup', name: 'example.org' }, description: 'refused to look up example.org' },
  { type: 'sandbox.violation', ...call, violation_ref: 'violations/3', violation: { kind: 'connect', family: 'host', name: 'example.org', port: 22 }, description: 'refused connection to example.org:22' },
  { type: 'sandbox.violation', ...call, violation_ref: 'violations/4', violation: { kind: 'egress', host: 'example.org', port: 443, method: 'POST', path: '/', reason: 'read-only', because: 'only GET, HEAD and OPTIONS are granted', allow: 'egress_class: write' }, description: 'refused POST example.org:443/' },
  { type: 'egress.opened', ...call, connection: 1, host: 'example.org', port: 443, treatment: 'http' },
  { type: 'egress.request', ...call, connection: 1, host: 'example.org', port: 443, protocol: 'h2', scheme: 'https', method: 'GET', path: '/v1', status: 200, bytes_sent: 0, bytes_received: 12, duration_ms: 3, rule: 'example.org', credentials: ['token'], redactions: 1, problem: null },
  { type: 'egress.summed', ...call, entries: 3, sum: null },
  { type: 'egress.summed', ...call, entries: 3, sum: { connections: 1, requests: 2, bytes_sent: 3, bytes_received: 4, hosts: [{ host: 'example.org', port: 443, connections: 1, requests: 2, bytes_sent: 3, bytes_received: 4, credentials: ['token'], redactions: 1, problems: ['egress-closed'] }], more_hosts: 1 } },
  { type: 'egress.closed', ...call, connection: 1, host: 'example.org', port: 443, bytes_sent: 0, bytes_received: 0, duration_ms: 4, problem: null },
  { type: 'process.completed', ...call, exit_code: 0, usage },
  { type: 'process.terminated', ...call, because: 'limit', limit: 'memory', signal: 9, usage },
  { type: 'tool.completed', ...call, status: 'violated', reason: 'it touched a boundary', error_code: null, result_hash: HASH, result_bytes: 12, duration_ms: 12.5 },
  { type: 'tool.denied', ...call, call_id: 'call-2', reason: 'a rule denies it', error_code: 'rule-denied', risk: 'high', used_declared_capability: false },
  { type: 'session.ended', call_id: null, reason: 'closed', calls: 2 },
]
