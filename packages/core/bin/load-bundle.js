'use strict'
// Loads dist/bundle/main.cjs once, with the code cache of what uses it first: the command line, or the library.
const { readFileSync } = require('node:fs')
const { createRequire } = require('node:module')
const { dirname, join } = require('node:path')
const { pathToFileURL } = require('node:url')
const vm = require('node:vm')

const FILE = join(__dirname, '../dist/bundle/main.cjs')

/** Undefined where there is no such file. */
const read = (path, encoding) => {
  try {
    return readFileSync(path, encoding)
  } catch (error) {
    if (error.code === 'ENOENT') return undefined
    throw error
  }
}

let loaded

/** Undefined where nothing is built. */
const loadBundle = (use) => (loaded ??= load(use))

const load = (use) => {
  const source = read(FILE, 'latin1')
  if (source === undefined) return undefined
  // Its first line names the caches that were made of this text (scripts/bundle.mjs, scripts/cache-code.mjs). V8
  // refuses a cache of another version.
  const cache = `${FILE}.${source.slice(3, 19)}.${use}.cache`
  const script = new vm.Script(source, { filename: FILE, cachedData: read(cache) })
  /** A script with a code cache cannot import by itself. */
  const importModule = (name) => import(name.startsWith('.') ? pathToFileURL(join(dirname(FILE), name)).href : name)
  const main = { exports: {} }
  script.runInThisContext()(main.exports, createRequire(FILE), main, FILE, importModule)
  return { exports: main.exports, script, cache }
}

/** The text for words that ask only for help or the version: scripts/bundle.mjs has written it. */
const answerTo = (words) =>
  ASKING.test(words.join(' '))
    ? read(join(__dirname, '../dist/bundle/answers', words.join('') || '--help'), 'utf8')
    : undefined
const ASKING = /^(?:(?:[a-z]+ )?--(?:help|version))?$/

module.exports = { FILE, answerTo, loadBundle }
