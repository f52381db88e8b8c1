// Some fixes are written where the error is raised, and the table has only a placeholder. The page shows one example
// of each.
import type { ALL_ERRORS, AnyErrorCode } from './all-errors.js'

type Placed<Code extends AnyErrorCode> = (typeof ALL_ERRORS)[Code] extends { readonly fix: '{fix}' | '{hint}' }
  ? Code
  : never

/** The compiler demands exactly the codes whose way out is nothing but a parameter. */
export const FIX_EXAMPLES: Readonly<Record<{ [Code in AnyErrorCode]: Placed<Code> }[AnyErrorCode], string>> = {
  'wasm-unusable': 'remove "network" from its policy; if the tool needs that, declare a processTool',
  'tool-unloadable': 'build it as a program for WASI 0.1: cargo build --target wasm32-wasip1',
  'manifest-exceeded':
    'narrow it; or let somebody review the change: cordon manifest verify, then cordon manifest generate',
  'baseline-unreadable': 'git fetch origin; see: git rev-parse main',
  'policy-not-an-object': 'put "rules:" above the list, and indent it',
  'policy-unknown-key': 'did you mean "network"?',
  'policy-invalid-value': 'use one of these, spelt as they are here',
  'policy-conflict': 'keep one of the two entries',
  'policy-unsafe':
    'see who may write there: ls -ld /home/me/.config/cordon/policies /home/me/.config/cordon/policies/mine.yaml',
  'own-file-exposed':
    'grant something else, or keep the value elsewhere: the proxy puts it into requests, and no tool needs the file',
  'policy-untrusted':
    'read it, and name it by its path; or add to /home/me/.config/cordon/rules.yaml: trusted_projects: [ ' +
    '/home/me/project ]',
  'host-malformed':
    'write a host as api.example.org, *.example.org, api.example.org:8443, 192.0.2.1, [2001:db8::1]:8443 or 10.0.0.0/8',
  'path-missing': 'create it first, or remove the grant; or grant its folder: --write out',
  'grant-inexpressible': 'make the folder readable, or carve it out as a whole',
  'limit-unsupported': 'remove the limit, or run outside of another sandbox',
  'network-grant-unsupported': 'name the hosts (network: ["api.example.org"]), or leave egress_class out',
  'host-cannot-hold': 'leave exec unspecified (all), or run outside of another sandbox',
  'setup-failed': 'check that the path still exists and was not replaced by a symbolic link while the call began',
  'program-not-found': 'install it, or give its path; looked in /usr/local/bin:/usr/bin:/bin',
  'program-not-executable': 'name a program in it',
  'protected-name-touched': 'look at it before you use it',
  'usage-error': 'did you mean: cordon policy show github?',
  'file-unreadable': 'relative paths start at the current directory, /home/me/project',
  'file-syntax': 'name a file with the tool in YAML or JSON',
  'hook-not-installed': 'a hook is in /home/me/.claude/settings.json: cordon hook uninstall claude-code --user',
  'hook-settings-unwritable': '/home/me/project/.claude must be a folder: move that file away',
  'program-in-write-root': 'copy Cordon out of the project: cordon hook install claude-code',
  'hook-cell-impossible': 'let the cell take its place: codex --sandbox danger-full-access',
  'option-unknown': 'did you mean "workspace"?',
  'option-invalid': 'did you mean "on_request"?',
  'function-not-portable':
    "pass what it needs as input; import Node's own modules inside the function (await import('node:fs')); for files or " +
    "packages of yours use module: new URL('./helper.mjs', import.meta.url), export: 'f'",
  'schema-invalid': 'it is valid as draft-07: add "$schema": "http://json-schema.org/draft-07/schema#"',
  'tool-unknown-here': 'did you mean "read_file"?',
  'change-refused': 'did you mean "read_file"?',
  'sandbox-unsupported': 'run the command with tty: false',
  'sandbox-refused': 'look at the path and the policy',
  'ticket-refused': 'make the call again',
  'state-refused': 'it was written by another version of Cordon; begin without a state',
  'runner-tools-invalid': 'give each tool a name of its own',
  'credential-missing': 'store it: secret-tool store --label=openai service openai account me',
  'credential-unusable': 'see to it that its source holds the value alone, on one line',
  'store-refused': 'an admin assigns it: cordon team tools assign note agent-1',
  'store-missing': 'see: cordon team calls list',
  'store-state': 'resume it with the tool and the input that it was asked for with',
  'questions-too-many':
    'wait for an answer, or take a call back: cordon team calls cancel ID; an admin changes the limit: cordon ' +
    'team limit --agent agent-1 --waiting N',
  'listen-refused': 'write it like 127.0.0.1:7070 or [::1]:7070',
  'request-invalid': 'GET /openapi.json says what each request takes',
  'request-unauthenticated': 'send Authorization: Bearer TOKEN; cordon team tokens create makes one',
  'request-refused': 'use the address that the server told when it started, or start it with --host NAME',
  'token-unsafe': 'name a new file in a folder of yours: --token-out FILE',
  'audit-unwritable': 'name a file in a folder that this user may write to',
  'end-not-recorded': 'see to it that the audit log can be written',
  'audit-unsafe-path': 'name an ordinary file',
  'tool-unknown': 'did you mean "read_file"?',
  'tool-name-invalid': 'give each tool its own name; names that differ only in case count as one',
  'argument-url-denied':
    'grant the host (network), or mark the parameter with text() if it is content that is never fetched',
  'argument-path-denied':
    'grant it (filesystem.read), or mark the parameter with text() if it is content that is never opened',
  'approval-unavailable': 'approve it, once or for this session',
  'approval-refused': 'answer the evaluation that decide() returned',
  'rules-unreadable': 'make it readable, or remove it',
  'unconfined-refused': 'use call, or declare a tool without credentials',
  'tool-failed': "the workspace is not granted to this tool: policy: { filesystem: { read: ['.'] } }",
  'tool-violated':
    "grant it in the policy of the tool if that is intended: policy: { filesystem: { read: ['data/words'] } }",
  'mcp-server-not-started': 'install it, or correct the name',
  'mcp-package-unclear': 'write it as: npx [-y|--yes|-q|--quiet] NAME[@VERSION] ARGS…',
  'mcp-package-not-installed': 'check the name, and that npm reaches its registry here: npm view NAME version',
  'mcp-port-unpublishable': 'name the hosts that it needs: --net HOST',
  'mcp-request-refused': 'start the gateway with --allow sampling',
  'login-failed': 'register a client at the authorization server, and name it: --client-id ID',
  'project-undescribed':
    'move that code out of the top level of the module, into a function: the module is only loaded here',
  'rules-unsafe': 'see who may write there: ls -ld /home/me/.config/cordon /home/me/.config/cordon/rules.yaml',
}
