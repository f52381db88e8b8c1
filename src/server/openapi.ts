// What can be asked, for programs: written from the table that routes and checks requests.
import { OPERATION_NAMES, operationOf } from '../store/index.js'
import type { AnyOperation } from '../store/index.js'

const PROBLEM = { description: 'what went wrong, and what to do about it', content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } } }

export const describeApi = (version: string): object => ({
  openapi: '3.1.0',
  info: { title: 'cordon serve', version, description: 'Tools, calls and approvals of a team. What is allowed to whom the database decides; the server says in whose name.' },
  security: [{ token: [] }],
  paths: pathsOf(),
  components: {
    securitySchemes: { token: { type: 'http', scheme: 'bearer', description: 'made by: cordon tokens create. Through the Unix socket of the server none is needed.' } },
    schemas: {
      Problem: {
        type: 'object',
        required: ['type', 'title', 'status', 'detail', 'code', 'params'],
        properties: { type: { type: 'string' }, title: { type: 'string' }, status: { type: 'integer' }, detail: { type: 'string' }, code: { type: 'string', description: 'one of docs/errors.md' }, fix: { type: 'string' }, params: { type: 'object' } },
      },
    },
  },
})

const pathsOf = (): Readonly<Record<string, object>> => {
  const paths: Record<string, Record<string, object>> = {}
  for (const name of OPERATION_NAMES) {
    const operation = operationOf(name)
    paths[operation.path] = { ...paths[operation.path], [operation.method.toLowerCase()]: describeOperation(name, operation) }
  }
  return paths
}

const describeOperation = (name: string, { method, path, summary, who, fields, isAbout }: AnyOperation): object => {
  const inPath = Object.entries(fields).filter(([field]) => path.includes(`{${field}}`))
  const others = Object.entries(fields).filter(([field]) => !path.includes(`{${field}}`))
  return {
    operationId: name,
    summary,
    description: who === 'owner' ? 'For who has the store itself: through its socket.' : `For members of the kind ${who.join(', ')}.`,
    parameters: [
      ...inPath.map(([field, { schema }]) => ({ name: field, in: 'path', required: true, schema })),
      ...(method === 'POST' ? [] : others.map(([field, { schema, isOptional }]) => ({ name: field, in: 'query', required: !isOptional, schema }))),
      ...(isAbout === undefined ? [] : WAITING),
    ],
    ...(method === 'POST'
      ? {
          requestBody: {
            required: true,
            content: {
              'application/json': {
                schema: { type: 'object', additionalProperties: false, properties: Object.fromEntries(others.map(([field, { schema }]) => [field, schema])), required: others.filter(([, { isOptional }]) => !isOptional).map(([field]) => field) },
              },
            },
          },
        }
      : {}),
    responses: { 200: { description: 'the answer', content: { 'application/json': {} } }, ...(isAbout === undefined ? {} : { 304: { description: 'the answer is still the one that is known' } }), default: PROBLEM },
  }
}

const WAITING = [
  { name: 'If-None-Match', in: 'header', required: false, schema: { type: 'string' }, description: 'the ETag of the answer that is known' },
  { name: 'Prefer', in: 'header', required: false, schema: { type: 'string' }, description: 'wait=SECONDS: answer when there is another one, at the latest after that long' },
]
