// Reads one file that was not granted, as a Node program would. Usage: node read-path.mjs FILE SCRATCH
import { execFileSync, fork } from 'node:child_process'
import fs from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { Worker } from 'node:worker_threads'

const [target, scratch] = process.argv.slice(2)

const route = async (name, attempt) => {
  let outcome = 'refused'
  let detail
  try {
    const gained = String((await attempt()) ?? '')
    if (gained !== '') outcome = 'escaped'
    detail = gained.slice(0, 120) || 'nothing happened'
  } catch (error) {
    detail = String(error.code ?? error.message ?? error).slice(0, 160)
  }
  fs.writeSync(1, `${JSON.stringify({ route: name, outcome, detail })}\n`)
}

const inWorker = () =>
  new Promise((resolve, reject) => {
    const code = `require('node:worker_threads').parentPort.postMessage(require('node:fs').readFileSync(${JSON.stringify(target)}, 'utf8'))`
    new Worker(code, { eval: true }).once('message', resolve).once('error', reject)
  })

const inFork = () =>
  new Promise((resolve, reject) => {
    const script = path.join(scratch, 'child.cjs')
    fs.writeFileSync(script, `process.send(require('fs').readFileSync(${JSON.stringify(target)}, 'utf8'))`)
    const child = fork(script, { stdio: ['ignore', 'ignore', 'ignore', 'ipc'] })
    child
      .once('message', resolve)
      .once('error', reject)
      .once('exit', (code) => reject(new Error(`child ended with ${code}`)))
  })

const streamed = () =>
  new Promise((resolve, reject) => {
    fs.createReadStream(target, 'utf8')
      .once('data', resolve)
      .once('error', reject)
      .once('end', () => resolve(''))
  })

const linked = () => {
  const link = path.join(scratch, 'node-link')
  fs.symlinkSync(target, link)
  return fs.readFileSync(link, 'utf8')
}

const asModule = async () => {
  try {
    return createRequire(import.meta.url)(target)
  } catch (error) {
    // What is not JavaScript is quoted in the complaint about it.
    if (error.code === undefined) return error.stack
    throw error
  }
}

await route('readFileSync', () => fs.readFileSync(target, 'utf8'))
await route('promises', () => fs.promises.readFile(target, 'utf8'))
await route('file-url', () => fs.readFileSync(pathToFileURL(target), 'utf8'))
await route('buffer-path', () => fs.readFileSync(Buffer.from(target), 'utf8'))
await route('stream', streamed)
await route('copyFile', () => {
  fs.copyFileSync(target, path.join(scratch, 'copied'))
  return fs.readFileSync(path.join(scratch, 'copied'), 'utf8')
})
await route('cp-recursive', () => {
  fs.cpSync(path.dirname(target), path.join(scratch, 'tree'), { recursive: true })
  return fs.readFileSync(path.join(scratch, 'tree', path.basename(target)), 'utf8')
})
await route('symlink', linked)
await route('require', asModule)
await route('opendir', () => fs.readdirSync(path.dirname(target)).join())
await route('watch', () => {
  fs.watch(target).close()
  return 'watched'
})
await route('worker', inWorker)
await route('fork', inFork)
await route('cat', () => execFileSync('/bin/cat', [target], { stdio: ['ignore', 'pipe', 'ignore'] }))
