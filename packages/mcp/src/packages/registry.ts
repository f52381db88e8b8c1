// The registry that the user has configured for npm or pip. Only these programs know all places of their configuration,
// so an installation asks them first, in its cell and without the network. No folder of a project is there.
import { lookup } from 'node:dns/promises'
import { existsSync, readFileSync } from 'node:fs'

import { isNobodysOwn, parsePolicy, parseRequestHost, parseResolved } from 'cordon/policy'
import type { IpAddress, ToolPolicy } from 'cordon/policy'
import type { EgressOrder, Environment } from 'cordon/commands'

export interface RegistryQuestion {
  readonly argv: readonly string[]
  /** Files and folders of the configuration. They may be missing. */
  readonly files: (home: string, environment: Environment) => readonly (string | undefined)[]
  /** Names of variables of the configuration. */
  readonly variables: RegExp
  readonly read: (answer: string, environment: Environment) => Registry
}

interface Registry {
  readonly urls: readonly string[]
  /** The same settings for the installation, which reads no configuration of the user. */
  readonly variables: Readonly<Record<string, string>>
  /** Files of certificates. */
  readonly authorities: readonly (string | undefined)[]
}

export const NPM_REGISTRY: RegistryQuestion = {
  argv: ['npm', 'config', 'get', 'registry', 'cafile'],
  files: (home, { npm_config_userconfig: user, npm_config_globalconfig: global }) => {
    return [`${home}/.npmrc`, '/etc/npmrc', user, global]
  },
  variables: /^npm_config_(?!.*(?:_auth|token|password))/i,
  read: (answer, { NODE_EXTRA_CA_CERTS: extra }) => {
    const setting = (name: string) => new RegExp(`^${name}=(.+)$`, 'm').exec(answer)?.[1] ?? ''
    const registry = setting('registry')
    return { urls: [registry], variables: { npm_config_registry: registry }, authorities: [setting('cafile'), extra] }
  },
}

const PYPI = ['https://pypi.org/', 'https://files.pythonhosted.org/']

export const PIP_INDEX: RegistryQuestion = {
  argv: ['python3', '-m', 'pip', 'config', 'list'],
  files: (home, { XDG_CONFIG_HOME: config = `${home}/.config`, PIP_CONFIG_FILE: file }) => {
    return ['/etc/pip.conf', '/etc/xdg/pip', `${home}/.pip`, `${config}/pip`, file]
  },
  variables: /^PIP_|^XDG_CONFIG_/,
  read: (answer, { REQUESTS_CA_BUNDLE: extra }) => {
    // Variables win over settings of a command, and those over global ones.
    const setting = (name: string): string =>
      [':env:', 'install', 'global']
        .map((section) => new RegExp(`^${section}\\.${name}='([^'\\n]+)'$`, 'm').exec(answer)?.[1])
        .find((value) => value !== undefined) ?? ''
    const index = setting('index-url')
    const more = setting('extra-index-url')
      .split(/\s|\\n/)
      .filter((place) => /^https?:/.test(place))
    const variables = {
      PIP_INDEX_URL: index,
      PIP_EXTRA_INDEX_URL: more.join(' '),
      PIP_TRUSTED_HOST: setting('trusted-host').replaceAll('\\n', ' '),
    }
    return {
      urls: [...(index === '' ? PYPI : [index]), ...more],
      variables: Object.fromEntries(Object.entries(variables).filter(([, text]) => text !== '')),
      authorities: [setting('cert'), extra],
    }
  },
}

export interface RegistryGrants {
  /** Only for reading from the registry. */
  readonly network: ToolPolicy['network']
  readonly egress: EgressOrder
  readonly variables: Readonly<Record<string, string>>
}

/** Undefined: an address is not HTTP, or has a user or a password in it, which are secrets. */
export const grantsOfRegistry = async (
  { read }: RegistryQuestion,
  answer: string,
  environment: Environment,
): Promise<RegistryGrants | undefined> => {
  // In a cell localhost is the cell itself.
  const there = answer.replaceAll(/(https?:\/\/)localhost(?=[:/'\n])/g, '$1127.0.0.1')
  const { urls, variables, authorities } = read(there, environment)
  const places = urls.flatMap((url) => (URL.canParse(url) ? new URL(url) : []))
  const isUsable = ({ protocol, username, password }: URL) =>
    /^https?:$/.test(protocol) && username === '' && password === ''
  if (places.length < urls.length || !places.every(isUsable)) return undefined
  const hosts = [...new Set(places.map(({ host }) => host))]
  const files = authorities.filter((path): path is string => path !== undefined && existsSync(path))
  return {
    network: parsePolicy({ network: hosts, egress_class: 'read_only' }, 'the registry').network,
    egress: {
      pins: new Map((await Promise.all(places.map(({ hostname }) => addressesOf(hostname)))).flat()),
      authorities: files.map((path) => readFileSync(path, 'utf8')),
    },
    variables,
  }
}

/** The user's own registry may have a private address. It is resolved once, so that nobody can redirect it later. */
const addressesOf = async (hostname: string): Promise<readonly (readonly [string, readonly IpAddress[]])[]> => {
  const host = parseRequestHost(hostname)
  if (host?.kind !== 'name') return []
  const found = await lookup(host.name, { all: true }).catch(() => [])
  const addresses = found.flatMap(({ address }) => parseResolved(address) ?? [])
  // No registry has the address of a cloud's metadata service. The proxy refuses such a host, because it is not pinned.
  return addresses.length > 0 && !addresses.some(isNobodysOwn) ? [[host.name, addresses]] : []
}
