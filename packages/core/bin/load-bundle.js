'use strict'
// Loads a bundle of dist/bundle with its code cache: the command line, or the library.
const { readFileSync } = require('node:fs')
const { createRequire } = require('node:module')
const { dirname, join } = require('node:path')
const { pathToFileURL } = require('node:url')
const vm = require('node:vm')

const fileOf = (name) => join(__dirname, '../dist/bundle', name, 'main.cjs')

/** Undefined where there is no such file. */
const read = (path, encoding) => {
  try {
    return readFileSync(path, encoding)
  } catch (error) {
    if (error.code === 'ENOENT') return undefined
    throw error
  }
}

/** Undefined where nothing is built. */
const loadBundle = (name) => {
  const file = fileOf(name)
  const source = read(file, 'latin1')
  if (source === undefined) return undefined
  // Its first line names the cache that was made of this text (scripts/bundle.mjs, scripts/cache-code.mjs). V8 refuses
  // a cache of another version.
  const cache = `${file}.${source.slice(3, 19)}.cache`
  const wrapped = `(function (exports, require, module, __filename, importModule) {${source}\n})`
  const script = new vm.Script(wrapped, { filename: file, cachedData: read(cache) })
  /** A script with a code cache cannot import by itself. */
  const importModule = (name) => import(name.startsWith('.') ? pathToFileURL(join(dirname(file), name)).href : name)
  const main = { exports: {} }
  script.runInThisContext()(main.exports, createRequire(file), main, file, importModule)
  return { exports: main.exports, script, cache }
}

/** The text for words that ask only for help or the version: scripts/bundle.mjs has written it. */
const answerTo = (words) => {
  if (words.length > 2 || !ASKING.has(words.at(-1))) return undefined
  const answers = read(join(__dirname, '../dist/bundle/answers.json'), 'utf8')
  return answers === undefined ? undefined : JSON.parse(answers)[words.join(' ')]
}
const ASKING = new Set([undefined, '--help', '--version'])

module.exports = { answerTo, fileOf, loadBundle }
