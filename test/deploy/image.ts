// The image of deploy/Dockerfile, built from this checkout, on base images that the tests made.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { NPM_CACHE, baseImage } from '../../scripts/tests/base-images.mjs'
import { IS_PODMAN, engineProblem } from '../../packages/core/test/containers/engine.js'
import type { TestEngine } from '../../packages/core/test/containers/engine.js'

import { DEPLOY, ROOT } from './deploy-files.js'

/** Why the image cannot be built here. */
export const imageProblem = (): string | undefined => {
  if (process.getuid?.() !== 0 || !IS_PODMAN) return 'the image is built by Podman as root'
  if (baseImage('build') === undefined || baseImage('base') === undefined)
    return 'there are no base images: node scripts/tests/base-images.mjs'
  return engineProblem()
}

export const BASE = 'localhost/base:test'
const BUILD = 'localhost/build:test'
const AUTHORITIES = '/etc/ssl/certs'

/** Takes minutes. Returns the name of the image. */
export const buildImage = async ({ longCommand, folder }: TestEngine): Promise<string> => {
  for (const [name, tag] of [
    ['build', BUILD],
    ['base', BASE],
  ] as const)
    await longCommand('import', baseImage(name) ?? '', tag)
  mkdirSync(NPM_CACHE, { recursive: true })
  const settings = join(folder, 'npmrc')
  writeFileSync(settings, `cache=/var/cache/npm\nprefer-offline=true\ncafile=${AUTHORITIES}/ca-certificates.crt\n`)
  await longCommand(
    ...['build', '--network=host', `--file=${join(DEPLOY, 'Dockerfile')}`, '--tag=localhost/cordon:test'],
    ...[`--build-arg=BUILD_IMAGE=${BUILD}`, `--build-arg=BASE_IMAGE=${BASE}`],
    // What npm needs of this machine, and the image shall not contain.
    ...[`--volume=${NPM_CACHE}:/var/cache/npm`, `--volume=${settings}:/root/.npmrc:ro`],
    `--volume=${AUTHORITIES}:${AUTHORITIES}:ro`,
    ROOT,
  )
  return 'localhost/cordon:test'
}
