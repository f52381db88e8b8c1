// The JSON Schema of policy files, for editors and other programs, made from the tables of the parser. docs/policy.md
// lists the checks that only the parser can make.
import { EGRESS_CLASSES, MECHANISMS, PRESET_NAMES, RISKS, SAFE_METHODS } from '../model.js'
import { BASIC_USER, CREDENTIAL_ID, HEADER_FORMAT, HEADER_NAME, INJECTION_KEYS } from '../parse/parse-credentials.js'
import { PARAMETER, RESERVED_HEADERS, STAND_IN, VARIABLE_NAME, WORD } from '../parse/parse-credentials.js'
import { LIMIT_FORMS, parseSize } from '../parse/parse-limits.js'
import type { LimitForm } from '../parse/parse-limits.js'

type Schema = Readonly<Record<string, unknown>>

const ref = (name: string): Schema => ({ $ref: `#/definitions/${name}` })
const word = (...words: readonly string[]): Schema => (words.length === 1 ? { const: words[0] } : { enum: words })
const list = (items: Schema, more: Schema = {}): Schema => ({ type: 'array', items, ...more })
const mapping = (properties: Schema, more: Schema = {}): Schema => ({
  type: 'object',
  additionalProperties: false,
  properties,
  ...more,
})
const text = (pattern: string, description: string): Schema => ({ type: 'string', pattern, description })

/** An escaped character. Brackets have no meaning and must be escaped. */
const ESCAPED = '\\\\[*?\\[\\]{},~!\\\\]'
const GLOB = `^!?(?!!)(?![A-Za-z][A-Za-z0-9+.-]*://)(?!.*\\*\\*\\*)(?:${ESCAPED}|[^\\\\\\[\\]\\u0000])+$`
const PROGRAM = `^(?!!)(?![A-Za-z][A-Za-z0-9+.-]*://)(?:${ESCAPED}|[^\\\\\\[\\]*?{}\\u0000])+$`
const URL_PATH = '^/(?:\\\\[*\\[\\]{},~!\\\\]|[^\\\\\\[\\]?#\\u0000])*$'

const PORT = '(?::(?:[1-9]\\d{0,3}|[1-5]\\d{4}|6[0-4]\\d{3}|65[0-4]\\d{2}|655[0-2]\\d|6553[0-5]))?'
const LABEL = '[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?'
const NAME = `^(?:\\*\\.)?(?=[^:]{1,253}(?::|$))(?!(?:[^:]*\\.)?(?:\\d+|0[xX][0-9a-fA-F]*)(?::|$))${LABEL}(?:\\.${LABEL})*${PORT}$`
const BYTE = '(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)'
const IPV4 = `^${BYTE}(?:\\.${BYTE}){3}(?:${PORT}|/(?:3[0-2]|[12]?\\d))$`
const IPV6_GROUPS = '[0-9A-Fa-f]{0,4}(?::[0-9A-Fa-f]{0,4}){2,7}'
const IPV6 = `^(?:${IPV6_GROUPS}(?:/(?:12[0-8]|1[01]\\d|[1-9]?\\d))?|\\[${IPV6_GROUPS}\\]${PORT})$`

const WHOLE = { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER }
const SIZE_TEXT = text('^(?=.*[1-9])(?:\\d+(?:\\.0+)?|\\d+(?:\\.\\d+)?[KMGTkmgt])(?:[iI][bB])?$', 'a size such as 256M')
const DURATION_TEXT = text('^(?=.*[1-9])(?:\\d+(?:\\.0+)?ms|\\d+(?:\\.\\d+)?[smh])$', 'a duration such as 30s')

const limit = ({ quantity, least }: LimitForm): Schema => {
  switch (quantity) {
    case 'size':
      return { anyOf: [{ ...WHOLE, minimum: parseSize(least) ?? 1 }, SIZE_TEXT] }
    case 'duration':
      return DURATION_TEXT
    case 'count':
      return WHOLE
  }
}

/** A pattern that a word matches in any case. */
const anyCase = (name: string): string => name.replaceAll(/[a-z]/g, (letter) => `[${letter}${letter.toUpperCase()}]`)

const HEADER = `^(?!(?:${RESERVED_HEADERS.map(anyCase).join('|')})$)${HEADER_NAME.slice(1)}`

const HOSTS: Schema = { anyOf: [ref('host'), list(ref('host'), { minItems: 1 })] }

const INJECTION_FIELDS: Readonly<Record<(typeof INJECTION_KEYS)[keyof typeof INJECTION_KEYS][number], Schema>> = {
  header: text(HEADER, 'the name of a header'),
  format: text(HEADER_FORMAT, 'with {value} in it'),
  user: text(BASIC_USER, 'a name without a colon'),
  parameter: text(PARAMETER, 'of the URL'),
  service: text(WORD, 'such as s3'),
  region: text(WORD, 'such as eu-west-1'),
}

/** One for each kind of injection that the parser knows. */
const INJECTIONS = Object.entries(INJECTION_KEYS).map(([as, keys]) =>
  mapping(
    { host: HOSTS, as: word(as), ...Object.fromEntries(keys.map((key) => [key, INJECTION_FIELDS[key]])) },
    {
      required: [
        'host',
        ...(as === 'header' ? [] : ['as']),
        ...keys.filter((key) => key === 'header' || key === 'parameter'),
      ],
    },
  ),
)

/** An injection that needs a placeholder. */
const SWAPS: Schema = { type: 'object', properties: { as: word('placeholder') }, required: ['as'] }

const VARIABLE: Schema = text(VARIABLE_NAME, 'the name of a variable')

const CREDENTIAL: Schema = mapping(
  {
    id: text(CREDENTIAL_ID, 'by which its value is given: --secret ID=SOURCE'),
    inject: { anyOf: [ref('injection'), list(ref('injection'), { minItems: 1 })] },
    placeholder: {
      anyOf: [
        VARIABLE,
        mapping({ name: VARIABLE, text: text(STAND_IN, 'what the tool finds there') }, { required: ['name'] }),
      ],
    },
  },
  {
    required: ['id', 'inject'],
    if: { properties: { inject: { anyOf: [SWAPS, { type: 'array', contains: SWAPS }] } }, required: ['inject'] },
    then: { required: ['placeholder'] },
  },
)

const DEFINITIONS: Schema = {
  credential: { ...CREDENTIAL, description: 'the shape of a secret, never its value' },
  injection: { anyOf: INJECTIONS, description: 'the requests that it is put into, and where' },
  glob: text(GLOB, 'a path: absolute, under ~, or relative to the workspace; ** * ? {a,b}; "!" carves out'),
  globs: { anyOf: [word('none'), list(ref('glob'))] },
  program: text(PROGRAM, 'the name or path of one program'),
  host: {
    description: 'a host, *.host, an IP address or a block of addresses; with a port, only that port',
    anyOf: [NAME, IPV4, IPV6].map((pattern) => ({ type: 'string', pattern })),
  },
  hostEntry: mapping(
    {
      host: ref('host'),
      methods: list(text('^[A-Z][A-Z-]*$', 'an HTTP method in upper case'), { minItems: 1 }),
      paths: list(text(URL_PATH, 'a URL path without query; ** * {a,b}'), { minItems: 1 }),
      action: word('allow', 'deny', 'direct'),
    },
    {
      required: ['host'],
      if: { properties: { action: word('direct') }, required: ['action'] },
      then: { not: { anyOf: [{ required: ['methods'] }, { required: ['paths'] }] } },
    },
  ),
  network: { anyOf: [word('none', 'all'), list({ anyOf: [ref('host'), ref('hostEntry')] })] },
  variable: text('^[A-Za-z_][A-Za-z0-9_]*(?:=[^\\u0000]*)?$', 'NAME to pass on, or NAME=value to set'),
  denial: { type: 'object', required: ['action'], properties: { action: word('deny') } },
  readingEntry: {
    anyOf: [
      { type: 'string' },
      ref('denial'),
      { type: 'object', properties: { action: word('allow'), methods: list(word(...SAFE_METHODS)) } },
    ],
  },
  someGrant: { not: { anyOf: [word('none'), list(ref('denial'))] } },
}

/** The schema of the network for one egress class. */
const ifClass = (level: (typeof EGRESS_CLASSES)[number], network: Schema): Schema => ({
  if: { properties: { egress_class: word(level) }, required: ['egress_class'] },
  then: { properties: { network } },
})

const orWords = (items: Schema, ...words: readonly string[]): Schema => ({ anyOf: [word(...words), items] })

export const policySchema = (): Schema => ({
  $schema: 'http://json-schema.org/draft-07/schema#',
  $id: 'urn:cordon:policy',
  title: 'Cordon policy',
  description: 'What a tool may touch. A section that is left out grants nothing.',
  ...mapping({
    risk: { ...word(...RISKS), description: 'derived from the rest when left out' },
    filesystem: orWords(mapping({ read: ref('globs'), write: ref('globs') }), 'none'),
    network: ref('network'),
    egress_class: { ...word(...EGRESS_CLASSES), description: 'derived from network when left out' },
    environment: orWords(list(ref('variable')), 'none'),
    credentials: orWords(list(ref('credential')), 'none'),
    exec: orWords(list(ref('program')), 'none', 'all'),
    limits: orWords(
      mapping(Object.fromEntries(Object.entries(LIMIT_FORMS).map(([name, form]) => [name, limit(form)]))),
      'none',
    ),
    presets: orWords(list(word(...PRESET_NAMES)), 'none'),
    require: orWords(list(word(...MECHANISMS)), 'none'),
  }),
  allOf: [
    ifClass('none', { anyOf: [word('none'), list(ref('denial'))] }),
    ifClass('read_only', { allOf: [ref('someGrant'), { anyOf: [word('all'), list(ref('readingEntry'))] }] }),
    ifClass('write', ref('someGrant')),
  ],
  definitions: DEFINITIONS,
})

const EXAMPLE = text('^(?:[A-Z][A-Z-]* https?://|stream )\\S+$', 'METHOD URL, or stream HOST:PORT')

/** A policy file also has a description and examples. */
export const policyFileSchema = (): Schema => {
  const { properties, ...policy } = policySchema()
  return {
    ...policy,
    $id: 'urn:cordon:policy-file',
    title: 'Cordon policy file',
    properties: {
      description: { type: 'string', pattern: '\\S', description: 'what it is for, shown by cordon policy list' },
      ...(properties as Schema),
      examples: {
        description: 'tried whenever the file is loaded',
        ...mapping({
          match: list({
            anyOf: [
              EXAMPLE,
              mapping({ request: EXAMPLE, credentials: list({ type: 'string' }) }, { required: ['request'] }),
            ],
          }),
          not_match: list({ anyOf: [EXAMPLE, mapping({ request: EXAMPLE }, { required: ['request'] })] }),
        }),
      },
    },
  }
}
