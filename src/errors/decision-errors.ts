// Errors of deciding about a call. See table.ts.
import type { ErrorText } from './error-text.js'

export const DECISION_ERRORS = {
  'tool-unknown': {
    when: 'A call names a tool that does not exist.',
    message: 'there is no tool "{tool}"',
    agent: 'There is no tool "{tool}".',
    fix: '{hint}',
  },
  'tool-name-invalid': {
    when: 'A tool has a name that could be mistaken for another, or that a record cannot show.',
    message: 'the tool name {tool} {problem}',
    agent: 'The name of this tool is invalid.',
    fix: 'use letters, digits and _ - . : / only, at most 128 of them, each name once',
  },
  'tool-forbidden': {
    when: 'The constraints of a tool take it out of use.',
    message: 'the tool {tool} is forbidden by its constraints',
    agent: 'The tool {tool} may not be called.',
    fix: 'remove "forbidden" from the constraints of the tool',
  },
  'tool-exhausted': {
    when: 'A tool was called as often as its constraints allow within one invocation.',
    message: 'the tool {tool} may be called {limit} times in one invocation, and was',
    agent: 'The tool {tool} may be called only {limit} times, and was.',
    fix: 'raise maxInvocations of the tool',
  },
  'tool-too-early': {
    when: 'A tool that has prerequisites was called before they completed.',
    message: 'the tool {tool} may be called only after these have completed: {missing}',
    agent: 'Call {missing} first; the tool {tool} may be called only after that has completed.',
    fix: 'let {missing} complete first, or change onlyAfter of the tool',
  },
  'budget-exhausted': {
    when: 'A call would go beyond what one invocation may do.',
    message: 'the call of {tool} goes beyond the budget of this invocation: {budget}',
    agent: 'The budget of this run does not allow this call: {budget}.',
    fix: 'raise the budget of the invocation',
  },
  'input-invalid': {
    when: 'The input of a call does not fit the schema of the tool.',
    message: 'the input of {tool} does not fit its schema: {problem}',
    agent: 'The input does not fit: {problem}',
  },
  'input-not-json': {
    when: 'The input of a call cannot be written as JSON in exactly one way, so no permit can be bound to it.',
    message: 'the input of {tool} is not plain JSON: {where} {problem}',
    agent: 'The input is not plain JSON: {where} {problem}.',
    fix: 'pass plain JSON; a schema must not turn values into other objects, which is for the tool to do',
  },
  'command-invalid': {
    when: 'The command of a process tool gives something else than words to execute.',
    message: 'the command of the tool "{tool}" must be a function that gives a list of words; it gave {found}',
    agent: 'This tool is not set up correctly.',
    fix: 'let it give a list such as ["ls", "-l"]; no shell reads the words, unless the first is one: ["sh", "-c", line]',
  },
  'argument-path-denied': {
    when: 'An argument names a path outside of what the tool may use.',
    message: '{where}: {path} is not within what {tool} may {access}; granted: {granted}',
    agent: '{where}: the path {given} is outside of what this tool may {access}.',
    fix: '{fix}',
  },
  'argument-url-denied': {
    when: 'An argument names a network destination outside of what the tool may reach.',
    message: '{where}: {target} is not within what {tool} may reach; granted: {granted}',
    agent: '{where}: this tool may not reach {target}.',
    fix: 'grant the host (network), or mark the parameter with text() if it is content and never fetched',
  },
  'argument-unreadable': {
    when: 'An argument looks like a path or URL and cannot be read in exactly one way.',
    message: '{where}: {given} cannot be judged: {problem}',
    agent: '{where}: {given} cannot be judged: {problem}.',
    fix: 'write it plainly, or mark the parameter with text() if it is content and never opened',
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
    when: 'A hook threw, took too long or answered something else than a decision. That denies the call.',
    message: 'the hook {hook} failed, which denies the call: {problem}',
    agent: 'A check of this call failed, so it was denied.',
    fix: 'repair the hook {hook}',
  },
  'hooks-disagree': {
    when: 'Two hooks changed the same part of the input to different values.',
    message: 'the hooks {hooks} change "{key}" to different values',
    agent: 'Two checks of this call contradict each other, so it was denied.',
    fix: 'let only one of them change "{key}"',
  },
  'edits-without-end': {
    when: 'The input of a call was changed again and again; what is never final is never permitted.',
    message: 'the input of {tool} was still being changed after {rounds} rounds',
    agent: 'The input of this call was changed again and again, so it was denied.',
    fix: 'make sure that a hook leaves an input alone that it has already changed',
  },
  'classifier-denied': {
    when: 'In the mode auto, the classifier that answers instead of a person said no.',
    message: 'the classifier denied the call: {reason}',
    agent: 'The call was denied: {reason}',
    fix: 'add a rule about such calls, or choose a mode in which a person is asked',
  },
  'mode-denies': {
    when: 'The mode of the session denies the call.',
    message: 'the mode {mode} denies it: {why}',
    agent: 'The mode of this session does not permit this call: {why}.',
    fix: 'choose another mode',
  },
  'mode-not-permitted': {
    when: 'A mode was chosen that the managed rules do not permit.',
    message: 'the mode {mode} is not permitted by {source}; permitted: {permitted}',
    agent: 'The mode of this session is not permitted.',
    fix: 'choose one of: {permitted}',
  },
  'approval-unavailable': {
    when: 'A call would have to be approved, and nobody can be asked.',
    message: '{tool} would have to be approved ({why}), and nobody can be asked: {problem}',
    agent: 'This call needs an approval, and nobody can be asked now.',
    fix: '{fix}',
  },
  'approval-rejected': {
    when: 'The approver said no.',
    message: '{by} rejected the call: {reason}',
    agent: 'The call was rejected: {reason}',
    fix: 'do what the reason asks for, or talk to {by}; a rule (effect: allow) would spare the question',
  },
  'approval-refused': {
    when: 'An answer to an approval was not accepted: expired, given twice, by the caller itself, or for another call.',
    message: 'the approval was not accepted: {problem}',
    agent: 'The approval of this call was not accepted.',
    fix: '{fix}',
  },
  'permit-refused': {
    when: 'What was to run is not what the permit is for.',
    message: 'the permit was refused: {problem}',
    agent: 'This call was not permitted.',
  },
  'rule-example-fails': {
    when: 'An example of a rule does not hold, so the rule does not mean what its author thinks.',
    message: '{source}: the rule does not hold for its own example {example}: {problem}',
    agent: 'A rule of this host is invalid.',
    fix: 'change the pattern or the example; nothing is loaded until they agree',
  },
  'rules-unsafe': {
    when: 'A rule file, or its folder, is one that others than those who may speak for its source can write. Nothing runs until that is settled.',
    message: 'the rules in {path} cannot be relied on: {problem}',
    agent: 'A rule of this host is invalid.',
    fix: '{fix}',
  },
  'rules-unreadable': {
    when: 'A rule file is there and cannot be read. It may hold a denial, so nothing runs without it.',
    message: 'the rules in {path} cannot be read: {problem}',
    agent: 'A rule of this host is invalid.',
    fix: '{fix}',
  },
  'rule-not-added': {
    when: 'A rule that somebody wanted to keep could not be added to the rule file of the user.',
    message: 'the rule could not be added to {path}: {problem}',
    agent: 'The approval of this call could not be kept.',
    fix: 'add it by hand: {rule}',
  },
  'schema-not-markable': {
    when: 'A schema cannot be marked by pathRead(), pathWrite(), url(), text() or commandLine().',
    message: 'this schema cannot be marked: {problem}',
    agent: 'The schema of this tool is invalid.',
    fix: 'mark a JSON Schema object, or a Standard Schema such as z.string()',
  },

} as const satisfies Record<string, ErrorText>
