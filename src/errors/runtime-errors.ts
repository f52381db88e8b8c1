// Errors of running tools. See table.ts.
import type { ErrorText } from './error-text.js'

/** For functions that are sent to their cell as text. */
export const IMPORT_ADVICE = "import Node's own modules inside the function (await import('node:fs')); for files or packages of yours use module: './helper.mjs', export: 'f'"

export const RUNTIME_ERRORS = {
  'option-unknown': {
    when: 'An option was given that does not exist; passing it over could leave a right open.',
    message: '{of}: there is no option "{option}"',
    agent: 'Tools are not set up correctly.',
    fix: '{fix}',
  },
  'option-invalid': {
    when: 'An option has the wrong kind of value, or one that is needed was left out.',
    message: '{of}: {option} must be {expected}, not {found}',
    agent: 'Tools are not set up correctly.',
    fix: '{fix}',
  },
  'function-not-portable': {
    when: 'A function tool is sent to its cell by its source, and that source does not stand by itself.',
    message: 'the function of the tool "{tool}" cannot be sent to a cell: {problem}',
    agent: 'This tool is not set up correctly.',
    fix: `pass what it needs as input; ${IMPORT_ADVICE}`,
  },
  'module-unreadable': {
    when: 'The module of a function tool is not where the tool says.',
    message: 'the module {module} of the tool "{tool}" cannot be read',
    agent: 'This tool is not set up correctly.',
    fix: 'name a file that is there; a relative path begins at the working directory of this process ({cwd}), new URL("./tool.mjs", import.meta.url) at the file that says so',
  },
  'tool-incomplete': {
    when: 'A tool is declared without what it needs to run.',
    message: 'the tool "{tool}" is incomplete: {problem}',
    agent: 'This tool is not set up correctly.',
    fix: 'give it one of: run (a function), module (the path of a module; "export" names the function in it)',
  },
  'tool-unknown-here': {
    when: 'A constraint or a rule that was given to a runtime names a tool that the runtime does not have.',
    message: '{where} names the tool "{tool}", which this runtime does not have',
    agent: 'Tools are not set up correctly.',
    fix: '{fix}',
  },
  'schema-invalid': {
    when: 'The JSON Schema of a tool cannot be used.',
    message: 'the input schema of the tool "{tool}" cannot be used: {problem}',
    agent: 'This tool is not set up correctly.',
  },
  'tool-failed': {
    when: 'A tool ran and failed by itself: an exit status, a signal or an exception.',
    message: 'the tool "{tool}" failed: {problem}',
    agent: 'The tool failed: {told}',
    fix: '{fix}',
  },
  'tool-violated': {
    when: 'A tool failed after it touched its boundary.',
    message: 'the tool "{tool}" touched its boundary: {violations}',
    agent: 'The tool met its boundary. {told}',
    fix: '{fix}',
  },
  'tool-unloadable': {
    when: 'The module of a function tool, or one that it imports, could not be loaded: it is missing, not granted, or failed by itself.',
    message: 'the function of the tool "{tool}" could not be loaded: {problem}',
    agent: 'The tool could not be loaded, so it did nothing. Other arguments do not help; tell the user.',
    fix: 'if a module is computed or lies elsewhere, grant its folder in filesystem.read of the tool',
  },
  'tool-timed-out': {
    when: 'A tool ran longer than its wall-clock limit, and has ended.',
    message: 'the tool "{tool}" was ended by its wall-clock limit',
    agent: 'Time: the tool took longer than it may and was ended. Ask for less in one call.',
    fix: 'raise limits.wall in the policy of the tool',
  },
  'result-too-large': {
    when: 'A tool answered more than its result may have: bytes, values and keys, or depth. The tool has run.',
    message: 'the result of the tool "{tool}" is too large: {problem}',
    agent: 'The tool ran, but its result is too large to be passed on. Ask for less, for example for a part of it.',
    fix: 'return less, or raise the limits of this tool with its option "result" (bytes, elements)',
  },
  'tool-left-running': {
    when: 'A tool in the agent\'s own process reached its time limit, or was cancelled. Its signal was aborted, and it has not ended.',
    message: 'the tool "{tool}" {why}; it runs in this process, was told to stop by its signal, and may still be running',
    agent: '{told} The tool was told to stop, and may still be running.',
    fix: 'let the function listen to the signal in its second argument, or leave "inProcess" out: a cell ends it',
  },
  'tool-garbled': {
    when: 'The process of a function tool ended without a result, or sent something that is none.',
    message: 'the tool "{tool}" gave no result: {problem}',
    agent: 'The tool gave no usable result.',
  },
  'state-refused': {
    when: 'The state of an earlier session is given to a runtime that cannot take it, or a runtime without a key is asked for its state.',
    message: 'the state of the session {problem}',
    agent: 'Tools are not available.',
    fix: '{fix}',
  },
  'runner-tools-invalid': {
    when: 'A file of tools that a runner is given cannot be used.',
    message: '{path}: {problem}',
    agent: 'Tools are not set up correctly.',
    fix: '{fix}',
  },
  'runner-queue-missing': {
    when: 'A runner is given a database that was not prepared for runners, and may not do that itself.',
    message: 'the store at {where} has no queue for runners',
    agent: 'Tools are not available.',
    fix: 'once, with a login that may create schemas: cordon runner --prepare --database URL',
  },
  'runner-failed': {
    when: 'A call that a runner on another host ran failed there.',
    message: 'on the runner {runner}: {problem}',
    agent: '{reason}',
  },
  'runner-lost': {
    when: 'A runner could not reach the database for so long that its calls may be given to others, and ended them.',
    message: 'the runner {runner} has not been heard by the store for {seconds} s; it ended the call, which may be given to another',
    agent: 'The host that ran the tool lost its connection; the call was ended.',
  },
  'runtime-closed': {
    when: 'A call is made after the runtime was closed.',
    message: 'the runtime is closed',
    agent: 'Tools are no longer available.',
  },
} as const satisfies Record<string, ErrorText>
