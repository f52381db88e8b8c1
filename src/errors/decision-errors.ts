// Errors of the gate. See table.ts.
import type { ErrorText } from './error-text.js'

export const DECISION_ERRORS = {
  'tool-unknown': {
    when: 'A call names a tool that does not exist.',
    message: 'there is no tool "{tool}"',
    agent: 'There is no tool "{tool}".',
    fix: '{hint}',
  },
  'tool-name-invalid': {
    when: 'A tool name could be confused with another, or has characters that logs cannot show.',
    message: 'the tool name {tool} {problem}',
    agent: 'The name of this tool is invalid.',
    fix: 'use letters, digits and _ - . : / only, at most 128 of them, each name once',
  },
  'tool-forbidden': {
    when: 'The constraints of a tool forbid calling it.',
    message: 'the tool {tool} is forbidden by its constraints',
    agent: 'The tool {tool} may not be called.',
    fix: 'remove "forbidden" from the constraints of the tool',
  },
  'tool-exhausted': {
    when: 'A tool reached its call limit for one session.',
    message: 'the tool {tool} reached its call limit ({limit} per session)',
    agent: 'The tool {tool} reached its call limit ({limit}).',
    fix: 'raise maxInvocations of the tool',
  },
  'tool-too-early': {
    when: 'A tool that has prerequisites was called before they completed.',
    message: 'the tool {tool} may be called only after these have completed: {missing}',
    agent: 'Call {missing} first. The tool {tool} may run only after it has completed.',
    fix: 'let {missing} complete first, or change onlyAfter of the tool',
  },
  'budget-exhausted': {
    when: 'A call would exceed the budget of the session.',
    message: 'the call of {tool} exceeds the budget of this session: {budget}',
    agent: 'The budget of this session does not allow this call: {budget}.',
    fix: 'raise the budget of the session',
  },
  'input-invalid': {
    when: 'The input of a call does not fit the schema of the tool.',
    message: 'the input of {tool} does not fit its schema: {problem}',
    agent: 'The input does not fit: {problem}',
  },
  'input-not-json': {
    when: 'The input of a call is not plain JSON, so no permit can be bound to it.',
    message: 'the input of {tool} is not plain JSON: {where} {problem}',
    agent: 'The input is not plain JSON: {where} {problem}.',
    fix: 'pass plain JSON; let the tool, not the schema, turn values into other objects',
  },
  'command-invalid': {
    when: 'The command of a process tool does not return a list of words.',
    message: 'the command of the tool "{tool}" must be a function that returns a list of words; it returned {found}',
    agent: 'This tool is not set up correctly.',
    fix: 'return a list such as ["ls", "-l"]; no shell reads it, unless you start one: ["sh", "-c", line]',
  },
  'argument-path-denied': {
    when: 'An argument names a path that the tool may not use.',
    message: '{where}: {tool} may not {access} {path}; granted: {granted}',
    agent: '{where}: this tool may not {access} the path {given}.',
    fix: '{fix}',
  },
  'argument-url-denied': {
    when: 'An argument names a network destination that the tool may not reach.',
    message: '{where}: {tool} may not reach {target}; granted: {granted}',
    agent: '{where}: this tool may not reach {target}.',
    fix: 'grant the host (network), or mark the parameter with text() if it is content that is never fetched',
  },
  'argument-unreadable': {
    when: 'An argument looks like a path or URL, and programs could read it in different ways.',
    message: '{where}: {given} is ambiguous: {problem}',
    agent: '{where}: {given} is ambiguous: {problem}.',
    fix: 'write it plainly, or mark the parameter with text() if it is content that is never opened',
  },
  'rule-denied': {
    when: 'A rule denies the call.',
    message: 'denied by the rule {rule}: {because}',
    agent: 'A rule forbids this call: {because}',
    fix: 'change or remove the rule {rule}',
  },
  'hook-denied': {
    when: 'A hook denies the call.',
    message: 'denied by the hook {hook}: {reason}',
    agent: 'The call was denied: {reason}',
    fix: 'see what the hook {hook} objects to',
  },
  'hook-failed': {
    when: 'A hook threw, timed out or returned something other than a decision. That denies the call.',
    message: 'the hook {hook} failed, which denies the call: {problem}',
    agent: 'A check of this call failed, so the call was denied.',
    fix: 'repair the hook {hook}',
  },
  'hooks-disagree': {
    when: 'Two hooks changed the same part of the input to different values.',
    message: 'the hooks {hooks} change "{key}" to different values',
    agent: 'Two checks of this call contradict each other, so the call was denied.',
    fix: 'let only one of them change "{key}"',
  },
  'edits-without-end': {
    when: 'Hooks kept changing the input of a call, so it was denied.',
    message: 'the input of {tool} was still being changed after {rounds} rounds',
    agent: 'Hooks kept changing the input of this call, so it was denied.',
    fix: 'change the hook so that it does not change its own result again',
  },
  'classifier-denied': {
    when: 'In the mode auto, the classifier denied the call.',
    message: 'the classifier denied the call: {reason}',
    agent: 'The call was denied: {reason}',
    fix: 'add a rule for such calls, or choose a mode that asks a person',
  },
  'mode-denies': {
    when: 'The mode of the session denies the call.',
    message: 'denied by the mode {mode}: {why}',
    agent: 'The mode of this session does not permit this call: {why}.',
    fix: 'choose another mode',
  },
  'mode-not-permitted': {
    when: 'The managed rules do not allow the chosen mode.',
    message: 'the mode {mode} is not permitted by {source}; permitted: {permitted}',
    agent: 'The mode of this session is not permitted.',
    fix: 'choose one of: {permitted}',
  },
  'approval-unavailable': {
    when: 'A call needs approval, and nobody can be asked.',
    message: '{tool} needs approval ({why}), and nobody can be asked: {problem}',
    agent: 'This call needs approval, and nobody can be asked now.',
    fix: '{fix}',
  },
  'approval-rejected': {
    when: 'A person rejected the call.',
    message: '{by} rejected the call: {reason}',
    agent: 'The call was rejected: {reason}',
    fix: 'follow the reason, or talk to {by}; a rule (effect: allow) avoids the question',
  },
  'approval-refused': {
    when: 'An approval was not accepted: it expired, was used before, came from the caller, or was for another call.',
    message: 'the approval was not accepted: {problem}',
    agent: 'The approval of this call was not accepted.',
    fix: '{fix}',
  },
  'permit-refused': {
    when: 'The permit is for a different call than the one about to run.',
    message: 'the permit was refused: {problem}',
    agent: 'This call was not allowed.',
  },
  'rule-example-fails': {
    when: 'A rule contradicts one of its own examples.',
    message: '{source}: the rule contradicts its own example {example}: {problem}',
    agent: 'A rule of this host is invalid.',
    fix: 'change the pattern or the example; no rules are loaded until they agree',
  },
  'rules-unsafe': {
    when: 'Other users can change a rule file or its folder. Nothing runs until that is fixed.',
    message: 'the rules in {path} are not safe to use: {problem}',
    agent: 'A rule of this host is invalid.',
    fix: '{fix}',
  },
  'rules-unreadable': {
    when: 'A rule file exists but cannot be read. It may contain a deny rule, so nothing runs.',
    message: 'the rules in {path} cannot be read: {problem}',
    agent: 'A rule of this host is invalid.',
    fix: '{fix}',
  },
  'rule-not-added': {
    when: 'A rule could not be saved to the user\'s rule file.',
    message: 'the rule could not be added to {path}: {problem}',
    agent: 'The approval of this call could not be saved.',
    fix: 'add it by hand: {rule}',
  },
  'schema-not-markable': {
    when: 'A schema cannot be marked by pathRead(), pathWrite(), url(), text() or commandLine().',
    message: 'this schema cannot be marked: {problem}',
    agent: 'The schema of this tool is invalid.',
    fix: 'mark a JSON Schema object, or a Standard Schema such as z.string()',
  },

} as const satisfies Record<string, ErrorText>
