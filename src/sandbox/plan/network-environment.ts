import type { Boundary } from '../../policy/index.js'

import type { Environment } from './environment.js'
import { authoritiesIn } from './network-files.js'
import { brokeredOf } from './plan.js'
import type { Plan } from './plan.js'

const PROXIED = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY']
/** Read by OpenSSL and Go, curl, git, Python's requests, Node, and the AWS, Google and Deno tools. */
const TRUSTING = [
  'SSL_CERT_FILE',
  'CURL_CA_BUNDLE',
  'GIT_SSL_CAINFO',
  'REQUESTS_CA_BUNDLE',
  'NODE_EXTRA_CA_CERTS',
  'AWS_CA_BUNDLE',
  'CLOUDSDK_CORE_CUSTOM_CA_CERTS_FILE',
  'DENO_CERT',
]

/**
 * How programs find the way to granted hosts: the proxy, for those that prefer one, and what its certificates are
 * trusted by.
 */
export const networkVariables = (plan: Plan, secret: string): Environment => {
  const brokered = brokeredOf(plan)
  if (brokered === undefined) return {}
  const proxy = `http://cordon:${secret}@127.0.0.1:${String(brokered.port)}`
  const authorities = authoritiesIn(plan.temporary)
  const inBothCases = (name: string, value: string) => [
    [name, value],
    [name.toLowerCase(), value],
  ]
  return Object.fromEntries([
    ...PROXIED.flatMap((name) => inBothCases(name, proxy)),
    ...inBothCases('NO_PROXY', 'localhost,127.0.0.1,::1'),
    ...TRUSTING.map((name) => [name, authorities]),
    // Without a network namespace there are no datagrams, so names are asked for over a stream.
    ...(plan.form === 'landlock' ? [['RES_OPTIONS', 'use-vc']] : []),
  ]) as Environment
}

/** Given by the network of the call; which they are the policy says. */
export const standInsOf = ({ network, credentials }: Boundary): Readonly<Record<string, string>> =>
  network.kind === 'hosts'
    ? Object.fromEntries(
        credentials.flatMap(({ placeholder }) =>
          placeholder === undefined ? [] : [[placeholder.name, placeholder.text]],
        ),
      )
    : {}
