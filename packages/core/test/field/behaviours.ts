// Behaviours of tools with the same purpose, and the test of Cordon for each. behaviours.test.ts fails if such a test
// is renamed or removed.

export interface Behaviour {
  readonly behaviour: string
  /** File under test/, and the title of the test. */
  readonly tests: readonly (readonly [file: string, title: string])[]
}

const ARGUMENTS = 'gate/argument-gate.test.ts'
const CALLS = 'runtime/create-cordon.test.ts'
const EVENTS = 'runtime/call-events.test.ts'
const HERE = 'field/runtime-behaviours.test.ts'
const HOOKS = 'gate/hooks.test.ts'
const MODES = 'gate/modes.test.ts'
const RECORDS = 'gate/records.test.ts'
const CONSTRAINTS = 'gate/constraints.test.ts'
const APPROVALS = 'gate/approvals.test.ts'

export const POLICY_GATE: readonly Behaviour[] = [
  {
    behaviour: 'the gate is active only where read or write is declared',
    tests: [[ARGUMENTS, 'does nothing for an in-process tool that declares none']],
  },
  {
    behaviour: '"none" is a declared stance: any absolute path is denied',
    tests: [[ARGUMENTS, 'of "none" denies every absolute path, in a cell and in process']],
  },
  {
    behaviour: 'absolute string arguments are normalised and compared with read ∪ write',
    tests: [
      [ARGUMENTS, 'is the union of read and write if the parameter has no mark'],
      [ARGUMENTS, 'lets a path within the declared globs run'],
    ],
  },
  {
    behaviour: 'the first miss denies, and the reason names path and globs',
    tests: [[ARGUMENTS, 'denies a path outside before the tool runs, and the reason names path and globs']],
  },
  {
    behaviour: 'the gate runs before interceptors',
    tests: [[ARGUMENTS, 'is checked before hooks: a hook never sees what the policy denies']],
  },
  {
    behaviour:
      'of a denied call the executor and tool-used hooks stay silent, and denied is told once with risk and ' +
      'used capability',
    tests: [
      [HERE, 'a denied call runs nothing, calls no result hook, and is reported as denied once'],
      [EVENTS, 'a denial once, and nothing that looks like a run'],
    ],
  },
  {
    behaviour: 'the gate can be turned off',
    tests: [[ARGUMENTS, 'can be turned off by the host, and the record says so']],
  },
  {
    behaviour: 'relative paths are covered too (theirs are not)',
    tests: [[ARGUMENTS, 'and judged like any other path']],
  },
  {
    behaviour: 'interceptors proceed, edit, deny, substitute; a throw denies',
    tests: [
      [HOOKS, 'may allow, ask, deny or block'],
      [HOOKS, 'may replace the tool: nothing may run, and there is a result'],
      [HERE, 'a hook that replaces the tool gives the result, and nothing runs'],
      ['gate/properties.test.ts', 'the order of hooks changes nothing, and a hook that denies or throws always denies'],
    ],
  },
  {
    behaviour: 'an early edit does not hide a later deny (theirs does)',
    tests: [
      [HOOKS, 'is shown again to every hook: an early edit does not hide a later deny'],
      [HERE, 'an edit by the first hook does not hide a denial by the second, in either order'],
    ],
  },
  {
    behaviour: 'edited input is gated again (theirs is not)',
    tests: [
      [HOOKS, 'passes the argument gate again'],
      [CALLS, 'that edit the input make the gate judge it again'],
      [HERE, "the gate judges an approver's edit again"],
    ],
  },
  {
    behaviour: 'maxInvocations, onlyAfter, forbidden; counted per session',
    tests: [
      [CONSTRAINTS, 'limit the runs of a tool in one session, and start again in the next'],
      [CONSTRAINTS, 'require that prerequisites have completed, not just started'],
      [CONSTRAINTS, 'disable a forbidden tool, whatever rules, hooks and modes say'],
      ['runtime/resume.test.ts', 'continues its counts and its prerequisites'],
    ],
  },
  {
    behaviour: 'a denial by a constraint gives the model a reason to correct itself',
    tests: [[CONSTRAINTS, 'deny with a reason that helps a model to correct itself']],
  },
  {
    behaviour: 'a missing confirmer denies',
    tests: [[CALLS, 'fails at once as unavailable if nobody can answer']],
  },
  {
    behaviour: 'human approval with timeout and default',
    tests: [
      [APPROVALS, "denies, unless the host's default is to approve"],
      [CALLS, 'that is late does not count'],
    ],
  },
  {
    behaviour: 'budgets: calls, duration, same tool in a row, argument bytes',
    tests: [
      [CONSTRAINTS, 'limits all calls, repeats of one tool, and the size of arguments'],
      [CONSTRAINTS, 'limits the time since the first call'],
    ],
  },
  {
    behaviour: 'a kernel denial is a violation, not a result (theirs is a result)',
    tests: [
      [CALLS, 'is violated, not failed, if the kernel refuses it a file'],
      [CALLS, 'is violated if a connection was refused'],
      [HERE, 'is violated when the kernel refuses a file to a program'],
    ],
  },
  {
    behaviour: 'the environment is empty unless declared (theirs is inherited)',
    tests: [[HERE, 'passes no variable of the host to a tool that declares none']],
  },
  { behaviour: 'no sandbox, no run', tests: [[HERE, 'is never dropped because the host cannot enforce it']] },
  {
    behaviour: 'NUL and odd paths never fail open',
    tests: [
      [HERE, 'cannot be read by any spelling of its path'],
      ['gate/properties.test.ts', 'an absolute path runs only if the policy grants it, in every reading'],
    ],
  },
  {
    behaviour: 'an audit row with session, tool, type, time, risk, capability flag, provider, model',
    tests: [
      [HERE, "the record has the host's description of itself, the risk, and whether a declared capability was used"],
    ],
  },
  {
    behaviour: 'a log of calls: sequence, call, decision, reason, result hash, previous hash, entry hash',
    tests: [
      ['runtime/audit-verify.test.ts', 'is intact, line by line, and agrees with its anchor'],
      [EVENTS, 'every class of events, each fitting its schema, in an intact log'],
    ],
  },
]

export const RUNTIME_STANDARD: readonly Behaviour[] = [
  {
    behaviour: 'permission_state',
    tests: [[RECORDS, 'has the mode, the rules with their places, the sources, and whether a person can be asked']],
  },
  {
    behaviour: 'permission_decision',
    tests: [[RECORDS, 'has every field of the standard, and a reason for the model if the call may not run']],
  },
  {
    behaviour: 'sandbox_profile, in every record of a run',
    tests: [
      ['runtime/events-schemas.test.ts', 'the profile and violations of a real cell fit their schemas'],
      [HERE, 'is recorded, and enforced, if a result says sandboxed'],
    ],
  },
  {
    behaviour: 'the eight modes',
    tests: [
      [MODES, 'of low risk'],
      [MODES, 'of another risk'],
      [MODES, 'because a rule says so'],
      ['runtime/on-failure.test.ts', 'has its own decision, permit and record the second time'],
    ],
  },
  { behaviour: 'every mode keeps destructive facts', tests: [[MODES, 'apply in every mode']] },
  {
    behaviour: 'the allow of a hook is one source; explicit deny and ask rules apply',
    tests: [[HOOKS, 'that allows is one source among others: explicit deny and ask rules still apply']],
  },
  {
    behaviour: 'the five event classes of permission and sandbox, and those of tools, hooks and processes',
    tests: [[EVENTS, 'every class of events, each fitting its schema, in an intact log']],
  },
  { behaviour: 'approval is never inferred from prose', tests: [[CALLS, 'is not %s']] },
  {
    behaviour: 'a non-interactive run never waits',
    tests: [[MODES, 'never waits in a session without a person']],
  },
  {
    behaviour: 'a sandbox denial is not a generic failure',
    tests: [[CALLS, 'is violated, not failed, if the kernel refuses it a file']],
  },
  {
    behaviour:
      'hook points: session_start, user_prompt_submit, pre_tool_use, permission_request, post_tool_use, ' +
      'post_tool_failure, post_sampling, stop',
    tests: [
      [EVENTS, 'stop the session if they object to its start'],
      [EVENTS, 'are called for prompts and samples of the host'],
      [HOOKS, 'sees why a person would be asked, and may answer if only the mode asks'],
      [CALLS, 'may replace or withhold the result of a call'],
      ['gate/rules-page.test.ts', 'names every mode, source and hook point'],
    ],
  },
  {
    behaviour: 'hook outputs: continue, block, allow, deny, ask, input, context, output, suppress, audit refs',
    tests: [
      [HOOKS, 'may allow, ask, deny or block'],
      [HOOKS, 'may add context for the model'],
      [HOOKS, 'after a call may replace or withhold its result, and add context'],
      [EVENTS, 'every class of events, each fitting its schema, in an intact log'],
    ],
  },
  {
    behaviour: 'hooks fail closed',
    tests: [
      [HOOKS, 'denies if it takes too long, and is told to stop'],
      ['gate/properties.test.ts', 'the order of hooks changes nothing, and a hook that denies or throws always denies'],
    ],
  },
  {
    behaviour: 'every kind of error has a code, with a text for the operator and one for the model',
    tests: [
      ['errors/fail.test.ts', 'fills every text of the table with the parameters'],
      ['../../../test/errors/raised.test.ts', 'every code of the package %s is raised there'],
    ],
  },
  {
    behaviour: 'what the model sent is never changed; observed, judged and called inputs are apart',
    tests: [
      [HOOKS, "is the input that runs, and the model's input stays on record"],
      [HOOKS, 'cannot change the call that it sees'],
    ],
  },
  {
    behaviour: 'approval choices: once, for a scope, deny, modify, escalate, more information',
    tests: [
      [APPROVALS, 'approves exactly the call that was asked about'],
      [APPROVALS, 'for the session answers the same request again'],
      [APPROVALS, 'denies, with a reason that the model sees'],
      [APPROVALS, 'approves the changed input, and nothing else'],
    ],
  },
  {
    behaviour: 'a grant is active, expired, revoked, superseded, pending or used',
    tests: [
      [APPROVALS, 'for one call answers once'],
      ['runtime/resume.test.ts', 'allows one run, also with concurrent calls, another session or a restart'],
    ],
  },
  {
    behaviour: 'concurrent calls of one tool share nothing',
    tests: [
      [CALLS, 'shares nothing with the next call'],
      [HERE, 'concurrent calls of one tool share neither memory, files, input nor progress'],
    ],
  },
  {
    behaviour: 'two runtimes in one process share nothing',
    tests: [
      [CALLS, 'in one process share neither constraints nor approvals'],
      [HERE, 'two runtimes with a tool of the same name share neither code, sessions, events nor closing'],
    ],
  },
]
