// What tools for the same purpose do, behaviour by behaviour, and the test here that names it. The
// table is checked: a test that is renamed or removed leaves its behaviour without one.

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
      [ARGUMENTS, 'is the union of read and write where nothing marks the parameter'],
      [ARGUMENTS, 'lets a path within the declared globs run'],
    ],
  },
  {
    behaviour: 'the first miss denies, and the reason names path and globs',
    tests: [[ARGUMENTS, 'denies a path outside before the tool runs, and the reason names path and globs']],
  },
  {
    behaviour: 'the gate runs before interceptors',
    tests: [[ARGUMENTS, 'is asked before hooks: a hook never sees what the policy denies']],
  },
  {
    behaviour:
      'of a denied call the executor and tool-used hooks stay silent, and denied is told once with risk and ' +
      'used capability',
    tests: [
      [HERE, 'a denied call runs nothing, asks no hook of a result, and is told as denied once'],
      [EVENTS, 'a denial once, and nothing that would look like a run'],
    ],
  },
  {
    behaviour: 'the gate can be turned off',
    tests: [[ARGUMENTS, 'can be turned off by the host, and the record says so']],
  },
  { behaviour: 'relative paths are covered too (theirs are not)', tests: [[ARGUMENTS, 'and judged like any other']] },
  {
    behaviour: 'interceptors proceed, edit, deny, substitute; a throw denies',
    tests: [
      [HOOKS, 'may allow, ask, deny or block'],
      [HOOKS, 'may stand in for the tool: nothing is permitted to run, and there is a result'],
      [HERE, 'a hook that stands in for the tool gives its result, and nothing runs'],
      ['gate/properties.test.ts', 'the order of hooks changes nothing, and one that denies or throws always denies'],
    ],
  },
  {
    behaviour: 'an early edit does not hide a later deny (theirs does)',
    tests: [
      [HOOKS, 'is seen again by every hook: an early edit does not hide a later deny'],
      [HERE, 'an edit of the first hook does not hide the denial of the second, in either order'],
    ],
  },
  {
    behaviour: 'edited input is gated again (theirs is not)',
    tests: [
      [HOOKS, 'is gated again'],
      [CALLS, 'that edit the input send it through the gate again'],
      [HERE, 'what an approver edits in is gated again'],
    ],
  },
  {
    behaviour: 'maxInvocations, onlyAfter, forbidden; counted per session',
    tests: [
      [CONSTRAINTS, 'let a tool run so many times in one session, and again in the next'],
      [CONSTRAINTS, 'let a tool run only after its prerequisites have completed, not just started'],
      [CONSTRAINTS, 'take a forbidden tool out of use, whatever rules, hooks and modes say'],
      ['runtime/resume.test.ts', 'counts on: what was used up stays used up, what came before came before'],
    ],
  },
  {
    behaviour: 'a denial by a constraint gives the model a reason to correct itself',
    tests: [[CONSTRAINTS, 'deny with a reason by which a model can correct itself']],
  },
  {
    behaviour: 'a missing confirmer denies',
    tests: [[CALLS, 'cannot be had where nobody is there: unavailable, at once']],
  },
  {
    behaviour: 'human approval with timeout and default',
    tests: [
      [APPROVALS, 'denies, unless the host has said that it approves'],
      [CALLS, 'that does not come in time is none'],
    ],
  },
  {
    behaviour: 'budgets: calls, duration, same tool in a row, argument bytes',
    tests: [
      [CONSTRAINTS, 'bounds all calls, the same tool in a row, and the size of arguments'],
      [CONSTRAINTS, 'bounds the time from the first call'],
    ],
  },
  {
    behaviour: 'a kernel denial is a violation, not a result (theirs is a result)',
    tests: [
      [CALLS, 'is violated, not failed, when the kernel refuses it a file'],
      [CALLS, 'is violated when it was refused a connection'],
      [HERE, 'a program that the kernel refuses a file is violated'],
    ],
  },
  {
    behaviour: 'the environment is empty unless declared (theirs is inherited)',
    tests: [[HERE, 'no variable of the host reaches a tool that declares none']],
  },
  { behaviour: 'no sandbox, no run', tests: [[HERE, 'a boundary that the host cannot hold is not replaced by none']] },
  {
    behaviour: 'NUL and odd paths never fail open',
    tests: [
      [HERE, 'cannot be read by any spelling of its path'],
      ['gate/properties.test.ts', 'an absolute path that runs is one that the policy grants, in every reading'],
    ],
  },
  {
    behaviour: 'an audit row with session, tool, type, time, risk, capability flag, provider, model',
    tests: [
      [HERE, 'the record carries what the host says of itself, the risk and whether a declared capability was used'],
    ],
  },
  {
    behaviour: 'a log of calls: sequence, call, decision, reason, result hash, previous hash, entry hash',
    tests: [
      ['runtime/audit-verify.test.ts', 'is intact, line by line, and known to its anchor'],
      [EVENTS, 'every class of events, each of them as its schema says, in a log that is intact'],
    ],
  },
]

export const RUNTIME_STANDARD: readonly Behaviour[] = [
  {
    behaviour: 'permission_state',
    tests: [[RECORDS, 'says the mode, the rules with their places, the sources, and whether somebody can be asked']],
  },
  {
    behaviour: 'permission_decision',
    tests: [[RECORDS, 'has every field of the standard, and a reason for the model wherever it may not go on']],
  },
  {
    behaviour: 'sandbox_profile, in every record of a run',
    tests: [
      ['runtime/events-schemas.test.ts', 'what a real cell reports fits the schemas of profile and violation'],
      [HERE, 'a result that says sandboxed has the boundary, and so has the record'],
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
  { behaviour: 'every mode keeps destructive facts', tests: [[MODES, 'stay in every mode']] },
  {
    behaviour: 'the allow of a hook is one source; explicit deny and ask rules apply',
    tests: [[HOOKS, 'that allows is one source among others: explicit deny and ask rules apply']],
  },
  {
    behaviour: 'the five event classes of permission and sandbox, and those of tools, hooks and processes',
    tests: [[EVENTS, 'every class of events, each of them as its schema says, in a log that is intact']],
  },
  { behaviour: 'approval is never inferred from prose', tests: [[CALLS, 'is not %s']] },
  {
    behaviour: 'a non-interactive run never waits',
    tests: [[MODES, 'in a session without a person never waits for one']],
  },
  {
    behaviour: 'a sandbox denial is not a generic failure',
    tests: [[CALLS, 'is violated, not failed, when the kernel refuses it a file']],
  },
  {
    behaviour:
      'hook points: session_start, user_prompt_submit, pre_tool_use, permission_request, post_tool_use, ' +
      'post_tool_failure, post_sampling, stop',
    tests: [
      [EVENTS, 'that object to its start let none begin'],
      [EVENTS, 'are asked where only the host is: a prompt, a sample'],
      [HOOKS, 'sees why somebody is about to be asked, and may answer what only the mode asks'],
      [CALLS, 'may replace or withhold what a call gave back'],
      ['gate/rules-page.test.ts', 'names every mode, source and hook point'],
    ],
  },
  {
    behaviour: 'hook outputs: continue, block, allow, deny, ask, input, context, output, suppress, audit refs',
    tests: [
      [HOOKS, 'may allow, ask, deny or block'],
      [HOOKS, 'may add context for the model'],
      [HOOKS, 'after a call may replace or withhold what it returned, and add context'],
      [EVENTS, 'every class of events, each of them as its schema says, in a log that is intact'],
    ],
  },
  {
    behaviour: 'hooks fail closed',
    tests: [
      [HOOKS, 'that takes too long denies, and is told to stop'],
      ['gate/properties.test.ts', 'the order of hooks changes nothing, and one that denies or throws always denies'],
    ],
  },
  {
    behaviour: 'every kind of error has a code, with a text for the operator and one for the model',
    tests: [
      ['errors/fail.test.ts', 'fills every text of the table with the parameters'],
      ['errors/raised.test.ts', 'every code of the table is raised somewhere'],
    ],
  },
  {
    behaviour: 'what the model sent is never changed; observed, judged and called inputs are apart',
    tests: [
      [HOOKS, 'is what runs; what the model sent stays on record'],
      [HOOKS, 'cannot change what it was shown'],
    ],
  },
  {
    behaviour: 'approval choices: once, for a scope, deny, modify, escalate, more information',
    tests: [
      [APPROVALS, 'approves exactly the call that was asked about'],
      [APPROVALS, 'for the session answers the same question again'],
      [APPROVALS, 'denies, with a reason that the model gets to see'],
      [APPROVALS, 'approves the changed input, and nothing else'],
    ],
  },
  {
    behaviour: 'a grant is active, expired, revoked, superseded, pending or used',
    tests: [
      [APPROVALS, 'for one call answers once'],
      ['runtime/resume.test.ts', 'is one run, also of calls at once, in another session, and after a restart'],
    ],
  },
  {
    behaviour: 'concurrent calls of one tool share nothing',
    tests: [
      [CALLS, 'shares nothing with the next'],
      [HERE, 'calls of one tool at once share neither memory, files, input nor progress'],
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
