// deploy/docker-compose.yaml as typed values. A key that is not here is an error.
import { z } from 'zod'

import { readDocument } from '../../packages/core/src/policy/index.js'

import { IMAGE, deployFile } from './deploy-files.js'

const texts = z.array(z.string()).min(1)
const count = z.int().positive()
const size = z.string().regex(/^\d+[mg]$/)

const common = {
  command: texts.optional(),
  environment: z.record(z.string(), z.string()).optional(),
  volumes: texts.optional(),
  depends_on: z.record(z.string(), z.strictObject({ condition: z.string() })).optional(),
  healthcheck: z.strictObject({ test: texts, interval: z.string(), retries: count }).optional(),
  restart: z.literal('unless-stopped').optional(),
  mem_limit: size,
  cpus: count,
  pids_limit: count,
}

const ofPostgres = z.strictObject({ image: z.string().regex(/^postgres:\d+\.\d+@sha256:[0-9a-f]{64}$/), ...common })

const ofCordon = z.strictObject({
  image: z.literal(IMAGE),
  build: z.strictObject({ context: z.literal('..'), dockerfile: z.literal('deploy/Dockerfile') }).optional(),
  pull_policy: z.literal('never').optional(),
  user: z.literal('0:0').optional(),
  entrypoint: texts.optional(),
  ports: texts.optional(),
  stop_grace_period: z.string().optional(),
  read_only: z.literal(true),
  tmpfs: texts,
  cap_drop: z.tuple([z.literal('ALL')]),
  security_opt: z.union([
    z.tuple([z.literal('no-new-privileges:true')]),
    z.tuple([z.literal('no-new-privileges:true'), z.literal('seccomp=./seccomp-cordon.json')]),
  ]),
  ...common,
})

const file = z.strictObject({
  services: z.strictObject({
    database: ofPostgres,
    prepare: ofCordon.required({ build: true }),
    logins: ofPostgres,
    tokens: ofCordon,
    serve: ofCordon.required({ healthcheck: true }),
    runner: ofCordon.required({ healthcheck: true }),
  }),
  volumes: z.record(z.string(), z.strictObject({})),
})

export type CordonService = z.infer<typeof ofCordon>
export type ComposeFile = z.infer<typeof file>

export const composeDocument = (): unknown =>
  readDocument(deployFile('docker-compose.yaml'), 'docker-compose.yaml').value

export const parseCompose = (document: unknown): ComposeFile => file.parse(document)

/** A `$` is written twice, because Compose replaces variables. */
export const asWritten = (text: string): string => text.replaceAll('$$', '$')
