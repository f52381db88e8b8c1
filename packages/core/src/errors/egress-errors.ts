// Errors of the network, and those of servers and registries that the core itself raises or reads. See table.ts.
import type { ErrorText } from './cordon-error.js'

export const EGRESS_ERRORS = {
  'http-malformed': {
    when: 'A tool sent something that is not HTTP, or that programs could read in different ways. The proxy did not send it on.',
    message: 'the tool sent an invalid or ambiguous request: {problem}',
    agent: 'This request was not sent: {problem}.',
  },
  'answer-malformed': {
    when: 'A response is not HTTP, or programs could read it in different ways. The request was sent. The tool does not get the response.',
    message: 'the server sent an invalid or ambiguous response: {problem}',
    agent:
      'The request was sent, but the response cannot be used: {problem}. The server may have acted on it. Check that before you repeat a request that changes something.',
  },
  'proxy-untrusted': {
    when: 'A tool rejects the certificate of the egress proxy. Nothing was sent to the host.',
    message: 'the tool does not trust the certificate of the proxy for {host}: {problem}',
    agent: 'This program does not trust the certificate of the sandbox, so it reached no host.',
    fix: 'make the program trust the file in SSL_CERT_FILE; or pass its TLS through unread, in a policy: network: [{entry}]',
  },
  'upstream-unresolved': {
    when: 'The name of a granted host has no address.',
    message: 'the name {host} cannot be resolved',
    agent: '{host} cannot be reached: its name cannot be resolved.',
    fix: 'check the spelling of the name; or give its address: --resolve {host}=ADDRESS, or egress.pins of createCordon()',
  },
  'upstream-unreachable': {
    when: 'A granted host does not respond.',
    message: '{host} cannot be reached: {problem}',
    agent: '{host} cannot be reached: {problem}',
    fix: 'check that the host is up; or give its address: --resolve HOST=ADDRESS, or egress.pins of createCordon()',
  },
  'upstream-untrusted': {
    when: 'Cordon does not trust the certificate of a server for this name.',
    message: 'the certificate of {host} is not trusted: {problem}',
    agent: 'The certificate of {host} is not trusted.',
    fix: 'if the host uses a private certificate authority, pass its certificate: --upstream-ca FILE, or egress.authorities of createCordon()',
  },
  'upstream-broke': {
    when: 'A server closed the connection in the middle of a response.',
    message: '{host} closed the connection: {problem}',
    agent:
      'The request was sent, but {host} closed the connection before its response was complete. The server may have acted on it. Check that before you repeat a request that changes something.',
  },
  'credential-missing': {
    when: 'A credential has no value. The call that needs it does not run.',
    message: 'the credential "{credential}" has no value: {problem}',
    agent: 'A credential that this tool needs is not set up.',
    fix: '{fix}',
  },
  'credential-unusable': {
    when: 'The value of a credential has a form that cannot be used.',
    message: 'the credential "{credential}" cannot be used: {problem}',
    agent: 'A credential that this tool needs is not set up correctly.',
    fix: '{fix}',
  },
  'credential-exposed': {
    when: 'A variable of the tool contains the value of a credential. Only the proxy may have that value.',
    message: 'the variable {variable} would show the tool the value of the credential "{credential}"',
    agent: 'A variable of this tool is not set up correctly.',
    fix: 'remove {variable} from "environment" of the policy, or from --env; the proxy adds the value to requests; for a program that needs a variable, set "placeholder" of the credential',
  },
  'secret-source-invalid': {
    when: 'The source of a credential is not valid.',
    message: 'the source of the credential "{credential}" is invalid: {problem}',
    agent: 'A credential that this tool needs is not set up correctly.',
    fix: 'write env:NAME, file:PATH, command:PROGRAM ARGUMENTS, keyring:SERVICE/ACCOUNT, vault:MOUNT/PATH#FIELD, login:URL or, for runners, store:TEAM/NAME',
  },
  'own-request-refused': {
    when: 'Cordon itself was about to ask a host that it may not ask, such as one of a private network that a server named.',
    message: 'Cordon does not ask {host}: {problem}',
    agent: 'A login that this tool needs is not possible.',
    fix: 'if the host is one of your own network, give its address: --resolve HOST=ADDRESS; servers need https',
  },
  'response-unreadable': {
    when: 'Cordon cannot decode a response that it must search for credentials.',
    message: 'the response of {host} cannot be searched for credentials: {problem}',
    agent:
      'The request was sent, but the response of {host} has an encoding that is not allowed here. The server may have acted on it. Check that before you repeat a request that changes something.',
  },
  'network-unapproved': {
    when: 'A tool with network: all was called without an approval. It could send data anywhere, past the proxy.',
    message: 'network: all needs an approval, and this call has none',
    fix: 'list the hosts instead (network: ["api.example.org"]), which allows reading without approval; or let a person approve the call (a rule with effect: ask)',
    agent: 'This tool may use the whole network, and no person approved this call.',
  },
  'egress-closed': {
    when: 'A call uses the network after it ended, or after the runtime was closed.',
    message: 'the network of this call is closed',
    agent: 'The network is no longer available.',
  },
  'listen-refused': {
    when: 'The address to listen on is not safe: others could read the traffic or connect.',
    message: 'not listening on {where}: {problem}',
    agent: 'The registry cannot be reached.',
    fix: '{fix}',
  },
  'request-invalid': {
    when: 'The path, parameters or body of a request are not valid.',
    message: 'invalid request: {problem}',
    agent: 'Invalid request: {problem}.',
    fix: '{fix}',
  },
  'request-refused': {
    when: 'A request has a wrong Host or Origin, or its caller does not have the role that it needs.',
    message: 'the request is refused: {problem}',
    agent: 'The registry refused the request: {problem}.',
    fix: '{fix}',
  },
  'request-too-large': {
    when: 'The body of a request is too large.',
    message: 'the body is larger than {limit} bytes',
    agent: 'The request is too large.',
    fix: 'send less, or start the server with a larger --max-body',
  },
  'store-state': {
    when: 'The state of the call or object does not allow this, or its input does not fit its schema.',
    message: 'not possible: {problem}',
    agent: 'Not possible: {problem}.',
    fix: '{hint}',
  },
} as const satisfies Record<string, ErrorText>
