// Errors of setting up MCP servers: consent to what they offer, and the files of clients. See table.ts.
import type { ErrorText } from 'cordon/errors'

export const MCP_SETUP_ERRORS = {
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
} as const satisfies Record<string, ErrorText>
