// Errors of the MCP gateway, its settings and its logins.
import { ERRORS as CORE_ERRORS, failFrom } from 'cordon/errors'
import type { ErrorText, Fail } from 'cordon/errors'

export const ERRORS = {
  'mcp-server-not-started': {
    when: 'An MCP server did not start: a rule refused it, its program is missing, or its cell could not be built.',
    message: 'the MCP server "{server}" did not start: {problem}',
    agent: 'This server is not available. Other arguments will not help. Tell the user.',
    fix: '{fix}',
  },
  'mcp-server-ended': {
    when: 'An MCP server ended while it was needed, or before.',
    message: 'the MCP server "{server}" has ended: {how}',
    agent: 'This server has ended. The call may have run, so look before you call again. The server is started again.',
    fix: 'see what it wrote to stderr, and `cordon log`; the next request starts it again, at most 5 times in a row',
  },
  'mcp-package-unclear': {
    when: 'The words that start an MCP server from a package are not ones that Cordon knows exactly.',
    message: '`{runner}` cannot start an MCP server with these words: {problem}',
    agent: 'This server is not available. Tell the user.',
    fix: '{fix}',
  },
  'mcp-package-not-installed': {
    when: 'The package of an MCP server could not be installed, or has no such program.',
    message: 'the package {name} was not installed: {problem}',
    agent: 'This server is not available. Tell the user.',
    fix: '{fix}',
  },
  'mcp-package-altered': {
    when: 'The package of an MCP server, or one that it needs, is not what mcp.lock pins. Nothing was installed.',
    message: 'the package {name} is not what mcp.lock pins: {problem}',
    agent: 'This server is not available. Tell the user.',
    fix: 'find out who changed the lock or the registry; to pin what the registry has now: cordon mcp update {name}',
  },
  'mcp-lock-invalid': {
    when: 'The file that pins packages of MCP servers cannot be read. No package is started.',
    message: '{path} cannot be used: {problem}',
    agent: 'This server is not available. Tell the user.',
    fix: 'restore the file; if you remove it, packages are pinned anew at their next start',
  },
  'mcp-server-silent': {
    when: 'An MCP server did not answer a request in time. Other servers are served.',
    message: 'the MCP server "{server}" did not answer {request} within {seconds} s',
    agent: 'This server does not answer. Other arguments will not help. Tell the user.',
    fix: 'start it alone (--server {server}) and see what it writes to stderr',
  },
  'mcp-server-stalled': {
    when: 'An MCP server does not read its input, and too much of it waits.',
    message: 'the MCP server "{server}" does not read: {bytes} bytes wait for it',
    agent: 'This server does not answer. Other arguments will not help. Tell the user.',
    fix: 'start the gateway again; if it happens again, the server has a fault',
  },
  'mcp-server-garbled': {
    when: 'An MCP server wrote something that is not a message of the protocol, or an answer that nobody waits for.',
    message: 'the MCP server "{server}" {problem}',
    agent: 'This server gave an answer that cannot be used. Tell the user.',
    fix: 'a server must write only messages to stdout; see its documentation, or report it to its author',
  },
  'mcp-http-failed': {
    when: 'An MCP server that speaks HTTP did not answer a request as the protocol says, or could not be reached.',
    message: 'the MCP server "{server}" did not answer: {problem}',
    agent: 'This server did not answer. Try again once. If it fails again, tell the user.',
    fix: 'check its address and whether it runs; `cordon why last` says what the network refused',
  },
  'mcp-login-required': {
    when: 'A remote MCP server refused a request because it wants a login, or other rights than it was given.',
    message: 'the MCP server "{server}" wants a login: {problem}',
    agent: 'This server wants the user to log in. Other arguments will not help. Tell the user.',
    fix: 'log in: cordon mcp login {url}; or put a valid token into the headers of its entry',
  },
  'mcp-port-unpublishable': {
    when: 'An MCP server cannot publish a port to the gateway alone, because its cell shares the loopback of the host.',
    message: 'the MCP server "{server}" cannot publish its port: {problem}',
    agent: 'This server is not available. Tell the user.',
    fix: '{fix}',
  },
  'mcp-request-refused': {
    when: 'An MCP server asked its client for something that the gateway was not told to allow.',
    message: 'the MCP server "{server}" may not ask its client: {method}',
    agent: 'This server may not do that.',
    fix: '{fix}',
  },
  'mcp-tool-unknown': {
    when: 'A client called a tool that no MCP server lists.',
    message: 'no MCP server lists the tool "{tool}"',
    agent: 'There is no such tool. Use one of the listed tools.',
    fix: 'list the tools again',
  },
  'mcp-message-too-long': {
    when: 'A result, or another message for an MCP client, is longer than clients take. They would end the session.',
    message: 'a message for the client has {bytes} bytes; clients take at most {most}',
    agent: 'The result is too long to be given to you. Ask for less in one call.',
    fix: 'ask the tool for less: for part of a file, or for fewer entries',
  },
  'mcp-relay-failed': {
    when: 'The gateway could not relay a message of an MCP server or client.',
    message: 'the gateway could not relay a message: {problem}',
    agent: 'This request failed. Tell the user.',
    fix: 'report it to the author of the server',
  },
  'mcp-offer-held': {
    when: 'An MCP server offers something that nobody has consented to. Clients do not get it.',
    message: 'the {offer} of the MCP server "{server}" is held, because {because}',
    agent: 'This is not available: the server changed what it offers, and a person has to agree. Tell the user.',
    fix: 'look at it with: cordon mcp diff {server}; that shows how to consent to it',
  },
  'mcp-tools-too-many': {
    when: 'An MCP server lists more tools than the gateway takes.',
    message: 'the MCP server "{server}" lists more than {most} tools',
    agent: 'This server lists too many tools. Tell the user.',
    fix: 'use a server with fewer tools',
  },
  'mcp-not-routed': {
    when: 'Several MCP servers are served, and none of them is known for what a request names.',
    message: 'no MCP server is known for {what}',
    agent: 'There is no such thing here. Use a listed name.',
    fix: 'list the names first: with several servers they begin with the server, such as files__read_file',
  },
  'mcp-proposal-waiting': {
    when: 'An MCP server proposes a policy for a tool, and nobody has accepted it. The tool gets no policy.',
    message: 'the tool "{tool}" of the MCP server "{server}" proposes a policy that nobody accepted: {proposal}',
    agent: 'This tool has no policy, so it may not run. Other arguments will not help. Tell the user.',
    fix: 'if you agree with it, add to mcp.yaml: {line}',
  },
  'mcp-proposal-beyond': {
    when: 'An MCP server proposes a policy for a tool that goes beyond what you accept. The tool gets no policy.',
    message: 'the tool "{tool}" of the MCP server "{server}" proposes more than you accept: {problem}',
    agent: 'This tool has no policy, so it may not run. Other arguments will not help. Tell the user.',
    fix: 'grant more after "within" in mcp.yaml, or write a policy for the tool yourself',
  },
  'mcp-proposal-unreadable': {
    when: 'An MCP server proposes a policy for a tool that cannot be read. The tool gets no policy.',
    message: 'the tool "{tool}" of the MCP server "{server}" gets no policy: {problem}',
    agent: 'This tool has no policy, so it may not run. Other arguments will not help. Tell the user.',
    fix: 'write a policy for the tool yourself, in mcp.yaml, or report it to the author of the server',
  },
  'proposal-invalid': {
    when: 'The annotations of a tool propose a policy in a form that cannot be read.',
    message: '{source} proposes a policy that cannot be read: {problem}',
    agent: 'The policy of this tool is invalid.',
    fix: 'write a policy for the tool yourself, or report it to the author of the server',
  },

  // Setting up servers: consent to what they offer, and the files of clients.
  'consent-unknown': {
    when: 'Somebody consents to an offer of an MCP server that does not wait for consent.',
    message: 'nothing named "{key}" waits for consent; these wait: {known}',
    agent: 'Tools are not set up correctly.',
    fix: 'see what waits: cordon mcp diff',
  },
  'consent-unseen': {
    when: 'Somebody consents to offers of an MCP server that differ from those that were shown.',
    message: 'consent to offers of the MCP server "{server}" was given {problem}',
    agent: 'Tools are not set up correctly.',
    fix: 'look at what waits now, and use the command that it ends with: cordon mcp diff {server}',
  },
  'consent-unreadable': {
    when: 'The file with the consent to an MCP server cannot be read. The server is not started.',
    message: 'the consent to an MCP server cannot be read from {path}: {problem}',
    agent: 'This tool is not available.',
    fix: 'restore the file, or remove it: the server is then consented to as it is at its next start',
  },
  'consent-unwritable': {
    when: 'The consent to an MCP server cannot be kept.',
    message: 'the consent to an MCP server cannot be written to {path}: {problem}',
    agent: 'This tool is not available.',
    fix: 'make that folder writable, or choose another: XDG_STATE_HOME=FOLDER',
  },
  'client-file-unreadable': {
    when: 'A file in which a client lists MCP servers cannot be read. It is left as it is.',
    message: 'the file {path} cannot be read: {problem}',
    agent: 'Tools are not set up correctly.',
    fix: 'mend the file, or change it by hand: put "cordon mcp --server NAME --" before the command of a server',
  },
  'client-file-unchanged': {
    when: 'A file in which a client lists MCP servers cannot be changed. It is left as it is.',
    message: 'the file {path} was not changed: {problem}',
    agent: 'Tools are not set up correctly.',
    fix: 'change it by hand: put "cordon mcp --server NAME --" before the command of a server',
  },

  // Logins to remote servers.
  'login-failed': {
    when: 'Logging in to an MCP server failed. No token was kept.',
    message: 'logging in to {server} failed: {problem}',
    agent: 'Nobody is logged in to this server.',
    fix: '{fix}',
  },
  'login-needed': {
    when: 'A server needs a login, and there is none that it accepts.',
    message: '{server} needs a login: {problem}',
    agent: 'This server needs a login of the user. Ask the user to log in.',
    fix: 'log in: {command}',
  },
  'login-unreadable': {
    when: 'The file of a login to an MCP server cannot be read.',
    message: 'the login in {path} cannot be read: {problem}',
    agent: 'Nobody is logged in to this server.',
    fix: 'remove the file, and log in again: cordon mcp login URL',
  },
  'login-unwritable': {
    when: 'A login to an MCP server cannot be kept.',
    message: 'the login cannot be written to {path}: {problem}',
    agent: 'Nobody is logged in to this server.',
    fix: 'make that folder writable, or choose another: XDG_STATE_HOME=FOLDER',
  },
} as const satisfies Readonly<Record<string, ErrorText>>

const ALL_ERRORS = { ...CORE_ERRORS, ...ERRORS } as const

export const fail: Fail<typeof ALL_ERRORS> = failFrom(ALL_ERRORS)
