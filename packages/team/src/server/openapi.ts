// The OpenAPI description, made from the table that routes and checks requests.
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

const PROBLEM = {
  type: 'object',
  description: 'what went wrong, and what to do about it (RFC 9457)',
  additionalProperties: false,
  required: ['type', 'title', 'status', 'detail', 'code', 'params'],
  properties: {
    type: { type: 'string' },
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string' },
    code: { type: 'string', description: 'one of docs/errors.md' },
    fix: { type: 'string' },
    params: { type: 'object', additionalProperties: { type: ['string', 'number'] } },
  },
}

const refusal = (status: number, codes: readonly string[]): object => ({
  description: codes.join(', '),
  ...(RETRY_AFTER[status] === undefined
    ? {}
    : { headers: { 'Retry-After': { description: 'seconds after which to ask again', schema: { type: 'string' } } } }),
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
    200: {
      description: 'it does',
      content: {
        'application/json': {
          schema: {
            type: 'object',
            additionalProperties: false,
            required: ['status'],
            properties: { status: { const: 'ok' } },
          },
        },
      },
    },
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
    ...(method === 'POST'
      ? {
          requestBody: {
            required: true,
            content: {
              'application/json': {
                schema: {
                  type: 'object',
                  additionalProperties: false,
                  properties: Object.fromEntries(others.map(([field, { schema }]) => [field, schema])),
                  required: others.filter(([, { isOptional }]) => !isOptional).map(([field]) => field),
                },
              },
            },
          },
        }
      : {}),
    responses: {
      ...(answer === NOTHING
        ? { 204: { description: 'it is done' } }
        : {
            200: {
              description: 'the answer',
              content: {
                'application/json': { schema: answer.schema },
                ...(growth === undefined ? {} : { 'text/event-stream': { schema: EVENTS } }),
              },
            },
          }),
      ...(isAbout === undefined ? {} : { 304: { description: 'the answer is still the one that is known' } }),
      ...refusalsOf(STATUSES.filter((status) => status !== 413 || method === 'POST')),
    },
  }
}

const EVENTS = {
  type: 'string',
  description:
    'events: `item`, each with the mark to go on after as its id (Last-Event-ID); `end`, after which nothing ' +
    'comes; `problem`',
}

const WAITING = [
  {
    name: 'If-None-Match',
    in: 'header',
    required: false,
    schema: { type: 'string' },
    description: 'the ETag of the answer that is known',
  },
  {
    name: 'Prefer',
    in: 'header',
    required: false,
    schema: { type: 'string' },
    description: 'wait=SECONDS: answer when there is another one, at the latest after that long',
  },
]
