#!/usr/bin/env node
'use strict'
const { FILE, answerTo, loadBundle } = require('./load-bundle.js')

// The native cordon says by which path it was started.
const STARTED = '--started-as='
const [first, ...rest] = process.argv.slice(2)
const isFronted = first !== undefined && first.startsWith(STARTED)
const words = isFronted ? rest : process.argv.slice(2)
const answer = answerTo(words)
const bundle = answer === undefined ? loadBundle('command-line') : undefined

if (answer !== undefined) {
  process.stdout.write(answer)
} else if (bundle === undefined) {
  process.stderr.write(`cordon: this checkout is not built yet (${FILE} is missing); run: npm ci\n`)
  process.exitCode = 125
} else {
  bundle.exports['command-line']()
    .dispatch(words, process.env, isFronted ? first.slice(STARTED.length) : undefined)
    .then((status) => {
      process.exitCode = status
    })
}
