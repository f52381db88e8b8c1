#!/usr/bin/env node
'use strict'
const { answerTo, fileOf, loadBundle } = require('./load-bundle.js')

const NAME = 'command-line'
const words = process.argv.slice(2)
const answer = answerTo(words)
const bundle = answer === undefined ? loadBundle(NAME) : undefined

if (answer !== undefined) {
  process.stdout.write(answer)
} else if (bundle === undefined) {
  process.stderr.write(`cordon: this checkout is not built yet (${fileOf(NAME)} is missing); run: npm ci\n`)
  process.exitCode = 125
} else {
  bundle.exports.dispatch(words, process.env).then((status) => {
    process.exitCode = status
  })
}
