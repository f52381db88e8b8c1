// Makes images that take the place of Node's in deploy/Dockerfile, for test/deploy/image.matrix.test.ts: the tests ask
// no registry of images. Debian comes from its packages. Node and npm come from npm, Node in the version of that file.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

import { TEST_CACHE } from './npm-programs.mjs'

const DOCKERFILE = fileURLToPath(new URL('../../deploy/Dockerfile', import.meta.url))
const [, NODE = '', SUITE = ''] = /node:([\d.]+)-([a-z]+)@/.exec(readFileSync(DOCKERFILE, 'utf8')) ?? []
/** Of the line that this version of Node brings. */
const NPM = '10.9.9'
/** What the larger of the two images of Node has, as far as the build needs it. */
const COMPILER = ['gcc', 'libc6-dev', 'make']

const IMAGES = {
  /** With a compiler, in place of `node:…-bookworm`. */
  build: COMPILER,
  /** In place of `node:…-bookworm-slim`. */
  base: [],
}

const FOLDER = join(TEST_CACHE, 'images')
const archiveOf = (name) => {
  const contents = createHash('sha256')
    .update([NODE, NPM, SUITE, ...IMAGES[name]].join(' '))
    .digest('hex')
    .slice(0, 8)
  return join(FOLDER, `${name}-${contents}.tar`)
}

/** The root of an image as an archive. Undefined if it was not made. */
export const baseImage = (name) => (existsSync(archiveOf(name)) ? archiveOf(name) : undefined)

/** For npm in the image that is built. Outside of it, so that a second build downloads nothing. */
export const NPM_CACHE = join(FOLDER, 'npm')

const run = (program, words, cwd) => {
  const { status, stdout, stderr, error } = spawnSync(program, words, { cwd, encoding: 'utf8', maxBuffer: 1 << 26 })
  if (status !== 0)
    throw new Error(`${program} ${words.at(-1)}: ${error?.message ?? stderr.trim().split('\n').at(-1) ?? status}`)
  return stdout.trim()
}

/** /usr/local as Node's images have it. */
const makeLocal = (folder) => {
  const local = join(folder, 'usr/local')
  const npm = join(local, 'lib/node_modules/npm')
  for (const each of [join(local, 'bin'), npm]) mkdirSync(each, { recursive: true })
  const unpack = (name, to, ...words) =>
    run('tar', ['-xzf', join(folder, run('npm', ['pack', '--silent', name], folder)), '-C', to, ...words], folder)
  unpack(`node-linux-${process.arch}@${NODE}`, join(local, 'bin'), '--strip-components=2', 'package/bin/node')
  unpack(`npm@${NPM}`, npm, '--strip-components=1', 'package')
  symlinkSync('../lib/node_modules/npm/bin/npm-cli.js', join(local, 'bin/npm'))
  run('tar', ['-C', folder, '--owner=0', '--group=0', '-cf', join(folder, 'local.tar'), 'usr'], folder)
  return join(folder, 'local.tar')
}

const make = (name) => {
  mkdirSync(NPM_CACHE, { recursive: true })
  const unfinished = mkdtempSync(join(FOLDER, 'unfinished-'))
  try {
    const words = [
      '--variant=minbase',
      ...(IMAGES[name].length === 0 ? [] : [`--include=${IMAGES[name].join(',')}`]),
      `--customize-hook=tar-in ${makeLocal(unfinished)} /`,
      '--customize-hook=chroot "$1" useradd --uid 1000 --create-home node',
    ]
    run('mmdebstrap', [...words, SUITE, join(unfinished, 'root.tar')], unfinished)
    renameSync(join(unfinished, 'root.tar'), archiveOf(name))
  } finally {
    rmSync(unfinished, { recursive: true, force: true })
  }
}

/** Returns why images are missing, one sentence for each. */
export const provideBaseImages = () =>
  Object.keys(IMAGES).flatMap((name) => {
    if (baseImage(name) !== undefined) return []
    try {
      make(name)
      return []
    } catch (error) {
      return [`the ${name} image of deploy/ could not be made, from the network: ${error.message}`]
    }
  })

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const missing = provideBaseImages()
  for (const sentence of missing) process.stderr.write(`base-images: ${sentence}\n`)
  process.exitCode = missing.length === 0 ? 0 : 1
}
