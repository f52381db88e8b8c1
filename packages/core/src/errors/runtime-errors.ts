// Errors of running tools. See table.ts.
import type { ErrorText } from './cordon-error.js'

/** For functions that are sent to their cell as text. */
export const IMPORT_ADVICE =
  "import Node's own modules inside the function (await import('node:fs')); for files or packages of yours use module: new URL('./helper.mjs', import.meta.url), export: 'f'"

/** For WebAssembly modules that Node cannot start as a program. */
export const WASI_ADVICE =
  'build it as a program for WASI 0.1: cargo build --target wasm32-wasip1, or clang --target=wasm32-wasi'

export const RUNTIME_ERRORS = {
  'option-unknown': {
    when: 'An option does not exist. Ignoring it could grant more than you meant.',
    message: '{of}: there is no option "{option}"',
    agent: 'Tools are not set up correctly.',
    fix: '{fix}',
  },
  'option-invalid': {
    when: 'An option has a wrong type, or a required option is missing.',
    message: '{of}: {option} must be {expected}, not {found}',
    agent: 'Tools are not set up correctly.',
    fix: '{fix}',
  },
  'function-not-portable': {
    when: 'The source of a function tool is sent to its cell, and it uses something from outside the function.',
    message: 'the function of the tool "{tool}" cannot be sent to a cell: {problem}',
    agent: 'This tool is not set up correctly.',
    fix: '{fix}',
  },
  'module-unreadable': {
    when: 'The module of a function tool is not where the tool says.',
    message: 'the module {module} of the tool "{tool}" cannot be read',
    agent: 'This tool is not set up correctly.',
    fix: 'name an existing file; a relative path starts at the working directory of this process ({cwd}); new URL("./tool.mjs", import.meta.url) starts at your file',
  },
  'module-typescript': {
    when: 'The module of a function tool is TypeScript, and the Node of its cell does not run that.',
    message: 'the module {module} of the tool "{tool}" cannot be loaded: Node {version} {problem}',
    agent: 'This tool is not set up correctly.',
    fix: 'compile it, and name the JavaScript file; or use Node 22.18 or newer, which runs .ts files without enums, namespaces and parameter properties',
  },
  'tool-incomplete': {
    when: 'A tool has nothing to run.',
    message: 'the tool "{tool}" is incomplete: {problem}',
    agent: 'This tool is not set up correctly.',
    fix: 'set one of: run (a function), module (the path of a module; "export" names its function)',
  },
  'wasm-unusable': {
    when: 'The file of a WebAssembly tool is not a WASI 0.1 module, or its policy grants something that WASI 0.1 lacks.',
    message: 'the WebAssembly tool "{tool}" cannot run: {problem}',
    agent: 'This tool is not set up correctly.',
    fix: '{fix}',
  },
  'tool-unknown-here': {
    when: 'A constraint or a rule names a tool that this runtime does not have.',
    message: '{where} names the tool "{tool}", which this runtime does not have',
    agent: 'Tools are not set up correctly.',
    fix: '{fix}',
  },
  'schema-invalid': {
    when: 'The JSON Schema of a tool cannot be used.',
    message: 'the input schema of the tool "{tool}" cannot be used: {problem}',
    agent: 'This tool is not set up correctly.',
    fix: '{fix}',
  },
  'tool-failed': {
    when: 'A tool ran and failed: an exit status, a signal or an exception.',
    message: 'the tool "{tool}" failed: {problem}',
    agent: 'The tool failed: {told}',
    fix: '{fix}',
  },
  'tool-violated': {
    when: 'A tool failed after the sandbox blocked something.',
    message: 'the sandbox blocked the tool "{tool}": {violations}',
    agent: 'The sandbox blocked the tool. {told}',
    fix: '{fix}',
  },
  'tool-unloadable': {
    when: 'The module of a function tool, or one of its imports, could not be loaded: it is missing, not granted, or threw an error.',
    message: 'the function of the tool "{tool}" could not be loaded: {problem}',
    agent: 'The tool could not be loaded, so it did nothing. Other arguments will not help. Tell the user.',
    fix: '{fix}',
  },
  'tool-timed-out': {
    when: 'A tool reached its wall-clock limit, and Cordon killed it.',
    message: 'the tool "{tool}" reached its wall-clock limit and was killed',
    agent: 'Timeout: the tool took too long and was killed. Ask for less in one call.',
    fix: 'raise limits.wall in the policy of the tool',
  },
  'result-too-large': {
    when: 'The result of a tool is larger than its limits: bytes, values and keys, or depth. The tool has run.',
    message: 'the result of the tool "{tool}" is too large: {problem}',
    agent: 'The tool ran, but its result is too large. Ask for less, for example for a part of it.',
    fix: 'return less, or raise the limits of this tool with its option "result" (bytes, elements)',
  },
  'tool-left-running': {
    when: 'An in-process tool reached its timeout or was cancelled, but has not ended. Cordon aborted its signal.',
    message: 'the tool "{tool}" {why}; it runs in this process; Cordon aborted its signal, and it may still be running',
    agent: '{told} The tool was asked to stop and may still be running.',
    fix: 'make the function stop when the signal in its second argument aborts, or remove "inProcess": a cell can be killed',
  },
  'tool-garbled': {
    when: 'The process of a function tool ended without a result, or its result is not valid.',
    message: 'the tool "{tool}" returned no result: {problem}',
    agent: 'The tool returned no usable result.',
  },
  'state-refused': {
    when: 'A runtime cannot use the state of an earlier session, or has no key to export its own.',
    message: 'the state of the session {problem}',
    agent: 'Tools are not available.',
    fix: '{fix}',
  },
  'ticket-refused': {
    when: 'A ticket cannot resume its suspended call: it was changed, used, has expired, or belongs to somebody else.',
    message: 'the ticket {problem}',
    agent: 'This call cannot go on. Make it again.',
    fix: '{fix}',
  },
  'tickets-unwritable': {
    when: 'Used tickets cannot be marked, so a suspended call could run twice.',
    message: 'the folder for used tickets {path} cannot be written: {problem}',
    agent: 'This call cannot go on now.',
    fix: 'let this user write to the folder (tickets.folder)',
  },
  'tickets-unsafe': {
    when: 'Other users can write to the folder for used tickets, so they could make a used ticket good again.',
    message: 'the folder for used tickets {path} {problem}',
    agent: 'This call cannot go on now.',
    fix: 'use a folder of your own: chmod go-w {path}',
  },
  'runner-tools-invalid': {
    when: 'A tools file of a runner is not valid.',
    message: '{path}: {problem}',
    agent: 'Tools are not set up correctly.',
    fix: '{fix}',
  },
  'unconfined-refused': {
    when: '`runUnconfined` cannot run this tool.',
    message: 'runUnconfined refuses the tool "{tool}": {problem}',
    agent: 'This tool does not run without its sandbox.',
    fix: '{fix}',
  },
  'call-outdated': {
    when: 'Mode, rules or tools changed while a call was decided.',
    message: 'mode, rules or tools changed while the call of "{tool}" was decided',
    agent: 'The rules have changed. Make the call again.',
    fix: 'make the call again',
  },
  'change-refused': {
    when: 'Rules or a tool cannot be removed, because there are none of that name.',
    message: '{problem}',
    agent: 'Tools are not set up correctly.',
    fix: '{fix}',
  },
  'runtime-closed': {
    when: 'A call is made after the runtime was closed.',
    message: 'the runtime is closed',
    agent: 'Tools are no longer available.',
    fix: 'make a new one with createCordon(), or call close() later',
  },
} as const satisfies Record<string, ErrorText>
