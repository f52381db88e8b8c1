// The OpenAPI description, made from the table that routes and checks requests.
import type { Shape } from 'cordon/shapes'

import { NOTHING, OPERATION_NAMES, operationOf } from '../store/index.js'
import type { AnyOperation } from '../store/index.js'
import { CODES_BY_STATUS, RETRY_AFTER, UNEXPECTED } from './problem.js'

const STATUSES = [...CODES_BY_STATUS.keys()]

const refusalsOf = (statuses: readonly number[]): object =>
  Object.fromEntries(statuses.map((status) => [status, { $ref: `#/components/responses/Problem${status}` }]))

export const describeApi = (version: string): object => ({
  openapi: '3.1.0',
  info: {
    title: 'cordon serve',
    version,
    description:
      'Tools, calls and approvals of a team. The database decides who may do what. The server authenticates.',
  },
  security: [{ token: [] }],
  paths: { '/healthz': { get: HEALTH }, ...pathsOf() },
  components: {
    securitySchemes: {
      token: {
        type: 'http',
        scheme: 'bearer',
        description: 'made by: cordon team tokens create. Through the Unix socket of the server none is needed.',
      },
    },
    schemas: {
      Problem: PROBLEM,
      ...(Object.assign({}, ...OPERATION_NAMES.map((name) => operationOf(name).answer.named)) as object),
    },
    responses: Object.fromEntries(
      Array.from(CODES_BY_STATUS, ([status, codes]) => [`Problem${status}`, refusal(status, codes)]),
    ),
  },
})

/** A mapping with these properties and no others. */
const closed = (properties: object, required = Object.keys(properties)): object => ({
  type: 'object',
  additionalProperties: false,
  properties,
  required,
})

const json = (schema: object): object => ({ 'application/json': { schema } })

const TEXT = { type: 'string' }

const PROBLEM = {
  description: 'what went wrong, and what to do about it (RFC 9457)',
  ...closed(
    {
      type: TEXT,
      title: TEXT,
      status: { type: 'integer' },
      detail: TEXT,
      code: { type: 'string', description: 'one of docs/errors.md' },
      fix: TEXT,
      params: { type: 'object', additionalProperties: { type: ['string', 'number'] } },
    },
    ['type', 'title', 'status', 'detail', 'code', 'params'],
  ),
}

const refusal = (status: number, codes: readonly string[]): object => ({
  description: codes.join(', '),
  ...(RETRY_AFTER[status] === undefined
    ? {}
    : { headers: { 'Retry-After': { description: 'seconds after which to ask again', schema: TEXT } } }),
  // Every other error is a 500, so its code can be any.
  content: {
    'application/problem+json': {
      schema: {
        allOf: [
          { $ref: '#/components/schemas/Problem' },
          { properties: { status: { const: status }, ...(status === UNEXPECTED ? {} : { code: { enum: codes } }) } },
        ],
      },
    },
  },
})

const HEALTH = {
  operationId: 'health',
  summary: 'whether the database answers',
  security: [],
  responses: {
    200: { description: 'it does', content: json(closed({ status: { const: 'ok' } })) },
    ...refusalsOf([400, 403, 429, UNEXPECTED, 503]),
  },
}

const pathsOf = (): Readonly<Record<string, object>> => {
  const paths: Record<string, Record<string, object>> = {}
  for (const name of OPERATION_NAMES) {
    const operation = operationOf(name)
    paths[operation.path] = {
      ...paths[operation.path],
      [operation.method.toLowerCase()]: describeOperation(name, operation),
    }
  }
  return paths
}

const describeOperation = (
  name: string,
  { method, path, summary, who, fields, answer, isAbout, growth }: AnyOperation,
): object => {
  const inPath = Object.entries(fields).filter(([field]) => path.includes(`{${field}}`))
  const others = Object.entries(fields).filter(([field]) => !path.includes(`{${field}}`))
  return {
    operationId: name,
    summary,
    description:
      who === 'owner'
        ? 'For the owner of the store, through its socket.'
        : `For members of the kind ${who.join(', ')}.`,
    parameters: [
      ...inPath.map(([field, { schema }]) => ({ name: field, in: 'path', required: true, schema })),
      ...(method === 'POST'
        ? []
        : others.map(([field, { schema, isOptional }]) => ({
            name: field,
            in: 'query',
            required: !isOptional,
            schema,
          }))),
      ...(isAbout === undefined ? [] : WAITING),
    ],
    ...(method === 'POST' ? { requestBody: { required: true, content: json(bodyOf(others)) } } : {}),
    responses: {
      ...(answer === NOTHING
        ? { 204: { description: 'it is done' } }
        : {
            200: {
              description: 'the answer',
              content: {
                ...json(answer.schema),
                ...(growth === undefined ? {} : { 'text/event-stream': { schema: EVENTS } }),
              },
            },
          }),
      ...(isAbout === undefined ? {} : { 304: { description: 'the answer is still the one that is known' } }),
      ...refusalsOf(STATUSES.filter((status) => status !== 413 || method === 'POST')),
    },
  }
}

const bodyOf = (fields: readonly (readonly [string, Pick<Shape<unknown>, 'schema' | 'isOptional'>])[]): object =>
  closed(
    Object.fromEntries(fields.map(([field, { schema }]) => [field, schema])),
    fields.flatMap(([field, { isOptional }]) => (isOptional ? [] : [field])),
  )

const EVENTS = {
  type: 'string',
  description:
    'events: `item`, each with the mark to go on after as its id (Last-Event-ID); `end`, after which nothing ' +
    'comes; `problem`',
}

const header = (name: string, description: string): object => ({
  name,
  in: 'header',
  required: false,
  schema: TEXT,
  description,
})

const WAITING = [
  header('If-None-Match', 'the ETag of the answer that is known'),
  header('Prefer', 'wait=SECONDS: answer when there is another one, at the latest after that long'),
]
