// How to ask npm, pip and apt for their configuration, and how to read the answer. Only the programs themselves know
// all places of their configuration.
import { dirname } from 'node:path'

import type { Client } from '../policy/index.js'

import type { Environment } from '../line/command-line.js'

interface ClientQuestion {
  readonly argv: readonly string[]
  /** Files and folders of its configuration. They may be missing. */
  readonly reads: readonly string[]
  /** Variables of its configuration. */
  readonly variables: RegExp
  readonly read: (output: string, environment: Environment) => ClientAnswer
}

export interface ClientAnswer {
  /** Addresses that it loads from. */
  readonly urls: readonly string[]
  /** Folders that it loads from. */
  readonly folders: readonly string[]
  /** The same settings for the program in a cell, without its own files. */
  readonly variables: Readonly<Record<string, string>>
  /** Files that it must read in a cell, and exceptions. */
  readonly reads: readonly string[]
  /** Files with certificates that it trusts. */
  readonly authorities: readonly string[]
  /** A proxy in its configuration. */
  readonly proxy: string | undefined
}

/** Paths of configuration files from variables. */
const namedBy = (environment: Environment, ...names: readonly string[]): readonly string[] =>
  names.flatMap((name) => environment[name] ?? []).filter((path) => path.startsWith('/'))

export const clientQuestion = (client: Client, home: string, environment: Environment): ClientQuestion => {
  switch (client) {
    case 'npm':
      return {
        argv: ['npm', 'config', 'list', '--json', '--long'],
        reads: [
          `${home}/.npmrc`,
          '/etc/npmrc',
          ...namedBy(
            environment,
            'npm_config_userconfig',
            'NPM_CONFIG_USERCONFIG',
            'npm_config_globalconfig',
            'NPM_CONFIG_GLOBALCONFIG',
          ),
        ],
        variables: /^npm_config_(?!.*(?:_auth|token|password))/i,
        read: readNpm,
      }
    case 'pip':
      return {
        argv: ['python3', '-c', PIP_SCRIPT],
        reads: [
          '/etc/pip.conf',
          '/etc/xdg/pip',
          `${home}/.pip`,
          `${home}/.config/pip`,
          ...namedBy(environment, 'XDG_CONFIG_HOME').map((folder) => `${folder}/pip`),
          ...namedBy(environment, 'PIP_CONFIG_FILE'),
        ],
        variables: /^PIP_|^XDG_CONFIG_/,
        read: readPip,
      }
    case 'apt':
      return {
        argv: [
          'sh',
          '-c',
          'mkdir -p "$TMPDIR/lists/partial" && exec apt-get update --print-uris -o Debug::NoLocking=1 -o ' +
            'Dir::State::Lists="$TMPDIR/lists" -o Dir::Cache="$TMPDIR"',
        ],
        reads: ['/etc/apt', ...namedBy(environment, 'APT_CONFIG').map((path) => dirname(path))],
        variables: /^APT_CONFIG$/,
        read: readApt,
      }
  }
}

const readNpm = (output: string, { NODE_EXTRA_CA_CERTS: extra }: Environment): ClientAnswer => {
  const settings = mappingIn(output)
  const registries = Object.entries(settings).filter(
    (entry): entry is [string, string] => /^(?:registry|@.+:registry)$/.test(entry[0]) && typeof entry[1] === 'string',
  )
  return {
    urls: registries.map(([, url]) => url),
    folders: [],
    variables: {
      // A shell would refuse the variable of a scope, but npm reads it.
      ...Object.fromEntries(registries.map(([name, url]) => [`npm_config_${name}`, url])),
      // These need more than reading from a registry.
      npm_config_audit: 'false',
      npm_config_fund: 'false',
      npm_config_update_notifier: 'false',
      // A cell only sees certificates of the proxy. npm itself expands the variable.
      npm_config_cafile: '${NODE_EXTRA_CA_CERTS}',
    },
    reads: [],
    authorities: [settings['cafile'], extra].filter(
      (path): path is string => typeof path === 'string' && path.startsWith('/'),
    ),
    proxy: [settings['https-proxy'], settings['proxy']].find(
      (url): url is string => typeof url === 'string' && url !== '',
    ),
  }
}

/** Newer versions group settings by file. */
const PIP_SCRIPT = [
  'import json',
  'from pip._internal.configuration import Configuration',
  'from pip._internal.models.index import PyPI',
  'found = Configuration(isolated=False); found.load(); items = {}',
  'for key, value in found.items():',
  '  items.update(value if isinstance(value, dict) else {key: value})',
  'print(json.dumps({"items": items, "index": PyPI.simple_url, "files": PyPI.file_storage_domain}))',
].join('\n')

const readPip = (output: string, environment: Environment): ClientAnswer => {
  const {
    items = {},
    index,
    files,
  } = mappingIn(output) as {
    readonly items?: Readonly<Record<string, unknown>>
    readonly index?: unknown
    readonly files?: unknown
  }
  // Variables win over settings of a command, and those over global ones.
  const setting = (name: string): string | undefined =>
    [':env:', 'install', 'download', 'global']
      .map((section) => items[`${section}.${name}`])
      .find((value): value is string => typeof value === 'string')
  const list = (name: string): readonly string[] => (setting(name) ?? '').split(/\s+/).filter((word) => word !== '')
  const own = setting('index-url')
  const main = own ?? (typeof index === 'string' ? index : '')
  const [more, links] = [list('extra-index-url'), list('find-links')]
  const places = [main, ...more, ...links]
  return {
    // The default index keeps its files at another host.
    urls: [
      ...places.filter((place) => /^https?:/.test(place)),
      ...(own === undefined && typeof files === 'string' ? [`https://${files}/`] : []),
    ],
    folders: places
      .flatMap((place) =>
        place.startsWith('file://')
          ? [decodeURIComponent(place.slice('file://'.length))]
          : place.startsWith('/')
            ? [place]
            : [],
      )
      .map(aroundIndex),
    variables: {
      PIP_CONFIG_FILE: '/dev/null',
      PIP_INDEX_URL: main,
      PIP_DISABLE_PIP_VERSION_CHECK: '1',
      PIP_NO_INPUT: '1',
      ...(more.length === 0 ? {} : { PIP_EXTRA_INDEX_URL: more.join(' ') }),
      ...(links.length === 0 ? {} : { PIP_FIND_LINKS: links.join(' ') }),
      ...(setting('trusted-host') === undefined ? {} : { PIP_TRUSTED_HOST: list('trusted-host').join(' ') }),
    },
    reads: [],
    authorities: [setting('cert'), environment['REQUESTS_CA_BUNDLE']].filter(
      (path): path is string => path?.startsWith('/') === true,
    ),
    proxy: setting('proxy'),
  }
}

/** The files of an index are beside its folder. */
const aroundIndex = (folder: string): string => folder.replace(/(?<=\/[^/]+)\/simple\/?$/, '')

const readApt = (output: string): ClientAnswer => {
  const places = Array.from(output.matchAll(/^'([^']+)'/gm), ([, url = '']) => url)
  return {
    urls: places.filter((place) => /^https?:/.test(place)),
    folders: places.flatMap((place) => /^(?:file|copy):(?:\/\/)?(\/[^']*)\/dists\//.exec(place)?.[1] ?? []),
    variables: {},
    reads: ['/etc/apt', '!/etc/apt/auth.conf', '!/etc/apt/auth.conf.d', '/var/lib/dpkg', '/var/lib/apt'],
    authorities: [],
    proxy: undefined,
  }
}

const mappingIn = (output: string): Readonly<Record<string, unknown>> => {
  try {
    const value: unknown = JSON.parse(output)
    return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {}
  } catch {
    return {}
  }
}
