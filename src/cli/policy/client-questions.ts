// What npm, pip and apt are configured for, in their own words: each is asked itself, because only it knows all the
// places that its configuration comes from. What is in here is how to ask, and how to read the answer.
import { dirname } from 'node:path'

import type { Client } from '../../policy/index.js'

type Variables = Readonly<Record<string, string | undefined>>

export interface ClientQuestion {
  readonly argv: readonly string[]
  /** Files and folders with its configuration, as far as they exist. */
  readonly reads: readonly string[]
  /** Variables that it is configured by. */
  readonly variables: RegExp
  readonly read: (output: string, environment: Variables) => ClientAnswer
}

export interface ClientAnswer {
  /** Addresses that it loads from. */
  readonly urls: readonly string[]
  /** Folders that it loads from. */
  readonly folders: readonly string[]
  /** How the program gets the same settings in a cell, without its own files. `urls` are named as they are there. */
  readonly variables: Readonly<Record<string, string>>
  /** Files that it has to read in a cell, and what of them it must not. */
  readonly reads: readonly string[]
  /** Files with certificates that it trusts. */
  readonly authorities: readonly string[]
  /** A proxy in its configuration. */
  readonly proxy: string | undefined
}

/** The names that clients give to files of the user, where they are not the usual ones. */
const namedBy = (environment: Variables, ...names: readonly string[]): readonly string[] =>
  names.flatMap((name) => environment[name] ?? []).filter((path) => path.startsWith('/'))

export const clientQuestion = (client: Client, home: string, environment: Variables): ClientQuestion => {
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

const readNpm = (output: string, { NODE_EXTRA_CA_CERTS: extra }: Variables): ClientAnswer => {
  const settings = mappingIn(output)
  const registries = Object.entries(settings).filter(
    (entry): entry is [string, string] => /^(?:registry|@.+:registry)$/.test(entry[0]) && typeof entry[1] === 'string',
  )
  return {
    urls: registries.map(([, url]) => url),
    folders: [],
    variables: {
      // A scope cannot be told by a variable that a shell would take; npm takes it all the same.
      ...Object.fromEntries(registries.map(([name, url]) => [`npm_config_${name}`, url])),
      // What asks more of a registry than to read.
      npm_config_audit: 'false',
      npm_config_fund: 'false',
      npm_config_update_notifier: 'false',
      // Only certificates of the proxy are met in a cell. npm itself puts in the file that has them there.
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

/** Newer versions tell each setting with the file that it is from. */
const PIP_SCRIPT = [
  'import json',
  'from pip._internal.configuration import Configuration',
  'from pip._internal.models.index import PyPI',
  'found = Configuration(isolated=False); found.load(); items = {}',
  'for key, value in found.items():',
  '  items.update(value if isinstance(value, dict) else {key: value})',
  'print(json.dumps({"items": items, "index": PyPI.simple_url, "files": PyPI.file_storage_domain}))',
].join('\n')

const readPip = (output: string, environment: Variables): ClientAnswer => {
  const {
    items = {},
    index,
    files,
  } = mappingIn(output) as {
    readonly items?: Readonly<Record<string, unknown>>
    readonly index?: unknown
    readonly files?: unknown
  }
  // What is for a command alone comes before what is for all, and variables before both.
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
    // The index that pip itself knows keeps its files at another host, which pip knows as well.
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

/** An index in a folder leads to files beside it. */
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
