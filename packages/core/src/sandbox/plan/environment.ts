// The environment variables of a program in a cell.
import type { AbsolutePath, Boundary } from '../../policy/index.js'
import { isWithinPath } from '../../policy/index.js'

import { objectAt } from '../grants/object-at.js'
import { SYSTEM_PATH } from '../grants/program.js'
import { FORM_HAS } from './host-facts.js'
import { authoritiesIn } from './network-files.js'
import { brokeredOf } from './plan.js'
import type { Plan } from './plan.js'

export type Environment = Readonly<Record<string, string>>

export const environmentOf = (
  plan: Plan,
  { boundary, hostEnvironment = {} }: { readonly boundary: Boundary; readonly hostEnvironment?: Environment },
  network: { readonly proxySecret: string; readonly variables: Environment } | undefined,
  searchPath: string = SYSTEM_PATH,
): Environment =>
  buildEnvironment(boundary, hostEnvironment, plan.temporary, {
    PATH: searchPath,
    ...formVariables(plan),
    ...(network === undefined ? {} : { ...networkVariables(plan, network.proxySecret), ...network.variables }),
  })

/** Nothing is inherited: three variables of the cell, those of its form and network, and those of the policy. */
export const buildEnvironment = (
  boundary: Boundary,
  host: Environment,
  temporary: AbsolutePath,
  own: Environment = {},
): Environment => {
  const built: Record<string, string> = { PATH: SYSTEM_PATH, HOME: temporary, TMPDIR: temporary, ...own }
  for (const { name, value } of boundary.environment) {
    const text = value.kind === 'set' ? value.text : host[name]
    if (text !== undefined) built[name] = text
  }
  return built
}

/** Variables that a boundary passes on and the host does not have. The program does without them. */
export const unsetVariables = (
  { environment }: Pick<Boundary, 'environment'>,
  host: Readonly<Record<string, string | undefined>>,
): readonly string[] => {
  const isSet = (name: string) =>
    host[name] !== undefined || environment.some((entry) => entry.name === name && entry.value.kind === 'set')
  return [...new Set(environment.map(({ name }) => name))].filter((name) => !isSet(name))
}

const SYSTEM_GITCONFIG = '/etc/gitconfig' as AbsolutePath

/**
 * A cell with its own root does not see files that are not granted. Without one they are there but cannot be opened,
 * and git fails if that is so of its system-wide settings. So git is told that there are none.
 */
const formVariables = ({ form, rules }: Plan): Environment =>
  !FORM_HAS[form].ownRoot &&
  objectAt(SYSTEM_GITCONFIG) !== undefined &&
  !rules.some(({ path }) => isWithinPath(SYSTEM_GITCONFIG, path))
    ? { GIT_CONFIG_NOSYSTEM: '1' }
    : {}

const PROXIED = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY']
/** Read by OpenSSL and Go, curl, git, Python's requests, Node, and the AWS, Google and Deno tools. */
const TRUSTING = [
  ...['SSL_CERT_FILE', 'CURL_CA_BUNDLE', 'GIT_SSL_CAINFO', 'REQUESTS_CA_BUNDLE', 'NODE_EXTRA_CA_CERTS'],
  ...['AWS_CA_BUNDLE', 'CLOUDSDK_CORE_CUSTOM_CA_CERTS_FILE', 'DENO_CERT'],
]

/** For programs that use a proxy, and the authority that they have to trust. */
const networkVariables = (plan: Plan, secret: string): Environment => {
  const brokered = brokeredOf(plan)
  if (brokered === undefined) return {}
  return {
    ...proxyVariables(brokered.port, plan.temporary, secret),
    // Without a network namespace there are no datagrams, so names are resolved over a stream.
    ...(!FORM_HAS[plan.form].ownNetwork ? { RES_OPTIONS: 'use-vc' } : {}),
  }
}

export const proxyVariables = (port: number, temporary: AbsolutePath, secret: string): Environment => {
  const proxy = `http://cordon:${secret}@127.0.0.1:${port}`
  const inBothCases = (name: string, value: string) => [
    [name, value],
    [name.toLowerCase(), value],
  ]
  return Object.fromEntries([
    ...PROXIED.flatMap((name) => inBothCases(name, proxy)),
    ...inBothCases('NO_PROXY', 'localhost,127.0.0.1,::1'),
    ...TRUSTING.map((name) => [name, authoritiesIn(temporary)]),
  ]) as Environment
}
