#!/usr/bin/env node
import { existsSync } from 'node:fs'

const main = new URL('../dist/bundle/command-line/main.js', import.meta.url)

if (existsSync(main)) {
  await import(main.href)
} else {
  process.stderr.write(
    'cordon: this checkout is not built yet (dist/bundle/command-line/main.js is missing); run: npm ci\n',
  )
  process.exitCode = 125
}
