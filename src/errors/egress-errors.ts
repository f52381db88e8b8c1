// Errors of reaching the network. See table.ts.
import type { ErrorText } from './error-text.js'

export const EGRESS_ERRORS = {
  'http-malformed': {
    when: 'A request of a tool is not HTTP, or two programs could read it in two ways. It is not passed on.',
    message: 'the tool sent something that cannot be read in exactly one way: {problem}',
    agent: 'This request was not sent: {problem}.',
  },
  'answer-malformed': {
    when: 'The answer of a server is not HTTP, or two programs could read it in two ways. The request was sent, the answer is not passed on.',
    message: 'the server sent an answer that cannot be read in exactly one way: {problem}',
    agent: 'The request was sent, but the answer cannot be used: {problem}. The server may have acted on it: before repeating a request that changes something, find out whether it did.',
  },
  'proxy-untrusted': {
    when: 'A tool rejects the certificate with which the proxy answers for a host. Nothing was sent to the host.',
    message: 'the tool does not trust the certificate of the proxy for {host}: {problem}',
    agent: 'This program does not trust the certificate of the sandbox, so it reached nobody.',
    fix: 'let the program trust the file that SSL_CERT_FILE names in the cell; or let its TLS pass unread, in a policy: network: [{entry}]',
  },
  'upstream-unresolved': {
    when: 'The name of a host that the tool may reach has no address.',
    message: 'the name {host} cannot be resolved',
    agent: '{host} cannot be reached: its name cannot be resolved.',
    fix: 'see whether the name is written correctly; or say where it is: --resolve {host}=ADDRESS, or egress.pins of createCordon()',
  },
  'upstream-unreachable': {
    when: 'A host that the tool may reach does not answer.',
    message: '{host} cannot be reached: {problem}',
    agent: '{host} cannot be reached: {problem}',
    fix: 'see whether anybody answers there; or say where it is: --resolve HOST=ADDRESS, or egress.pins of createCordon()',
  },
  'upstream-untrusted': {
    when: 'The certificate of a server is not one that Cordon trusts for this name.',
    message: 'the certificate of {host} is not trusted: {problem}',
    agent: 'The certificate of {host} is not trusted.',
    fix: 'if the host has a certificate authority of its own, name its certificate: --upstream-ca FILE, or egress.authorities of createCordon()',
  },
  'upstream-broke': {
    when: 'A server ended or broke the connection in the middle of an answer.',
    message: '{host} broke the connection: {problem}',
    agent: 'The request was sent, but {host} broke the connection before its answer was complete. The server may have acted on it: before repeating a request that changes something, find out whether it did.',
  },
  'credential-missing': {
    when: 'A credential has no value. The call that needs it does not run.',
    message: 'the credential "{credential}" has no value: {problem}',
    agent: 'A credential that this tool needs is not set up.',
    fix: '{fix}',
  },
  'credential-unusable': {
    when: 'The value of a credential cannot be put where it belongs.',
    message: 'the credential "{credential}" cannot be used: {problem}',
    agent: 'A credential that this tool needs is not set up correctly.',
    fix: '{fix}',
  },
  'credential-exposed': {
    when: 'A variable that a tool would be given contains the value of a credential. The value is for the proxy alone.',
    message: 'the variable {variable} contains the value of the credential "{credential}", and would show it to the tool',
    agent: 'A variable of this tool is not set up correctly.',
    fix: 'take {variable} out of "environment" of the policy, or out of --env; the proxy puts the value into requests, and a program that wants a variable finds a stand-in in the one that "placeholder" of the credential names',
  },
  'secret-source-invalid': {
    when: 'The place that a credential comes from is not written in a known form.',
    message: 'the source of the credential "{credential}" is invalid: {problem}',
    agent: 'A credential that this tool needs is not set up correctly.',
    fix: 'write env:NAME, file:PATH, command:PROGRAM ARGUMENTS, keyring:SERVICE/ACCOUNT, vault:MOUNT/PATH#FIELD or, for runners, store:TEAM/NAME',
  },
  'response-unreadable': {
    when: 'An answer that has to be searched for credentials is encoded in a way that Cordon cannot undo.',
    message: 'the answer of {host} cannot be searched for credentials: {problem}',
    agent: 'The request was sent, but the answer of {host} is encoded in a way that is not permitted here. The server may have acted on it: before repeating a request that changes something, find out whether it did.',
  },
  'network-unapproved': {
    when: 'A tool with network: all is called, and nobody approved of the call. It could write anywhere, and no proxy would hold it.',
    message: 'all of the network can be written to, and no approval of this call was recorded',
    fix: 'list the hosts (network: ["api.example.org"]): without an approval it can then read them; or let somebody approve the call (a rule that asks)',
    agent: 'This tool has the whole network, and the call was not approved by a person.',
  },
  'egress-closed': {
    when: 'A call uses the network after it ended, or after the runtime was closed.',
    message: 'the network of this call is closed',
    agent: 'The network is no longer available.',
  },
} as const satisfies Record<string, ErrorText>
