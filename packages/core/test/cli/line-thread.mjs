// Talks to the process of shared-process.ts, while the thread of the tests waits.
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { parentPort, workerData } from 'node:worker_threads'

const PROGRAM = fileURLToPath(new URL('line-process.mjs', import.meta.url))
/** Ends the output of each line. */
const MARK = Buffer.from(`\u0000${randomUUID()}\n`)

const { nodeOptions, timeoutMs } = workerData
let child

const start = () => {
  child = spawn(process.execPath, [...nodeOptions, PROGRAM], { stdio: ['ignore', 'pipe', 'pipe', 'ipc'], env: {} })
  child.once('exit', () => (child = undefined))
  return child
}

/** If the process exits during a line, that is the status of the line. The next line gets a new process. */
const carryOut = async (line) => {
  const running = child ?? start()
  const timer = setTimeout(() => running.kill('SIGKILL'), timeoutMs)
  const listening = new AbortController()
  const written = { stdout: Buffer.alloc(0), stderr: Buffer.alloc(0) }
  const isComplete = (bytes) => bytes.subarray(-MARK.length).equals(MARK)
  const complete = new Promise((resolve) => {
    for (const name of ['stdout', 'stderr']) {
      const add = (bytes) => {
        written[name] = Buffer.concat([written[name], bytes])
        if (Object.values(written).every(isComplete)) resolve()
      }
      running[name].on('data', add)
      listening.signal.addEventListener('abort', () => running[name].off('data', add))
    }
  })
  const ended = once(running, 'close', { signal: listening.signal }).then(([status]) => ({ status, isOver: true }))
  const told = once(running, 'message', { signal: listening.signal }).then(([status]) => ({ status, isOver: false }))
  running.send({ ...line, mark: MARK.toString() })
  const { status } = await Promise.race([told.then(async (told) => (await complete, told)), ended])
  clearTimeout(timer)
  listening.abort()
  await Promise.allSettled([ended, told])
  const text = (bytes) => bytes.toString('utf8', 0, isComplete(bytes) ? bytes.length - MARK.length : bytes.length)
  return { status, stdout: text(written.stdout), stderr: text(written.stderr) }
}

const end = async () => {
  if (child !== undefined) {
    const ended = once(child, 'exit')
    child.disconnect()
    await ended
  }
  parentPort.close()
}

let last = Promise.resolve()
parentPort.on('message', (message) => {
  last = last.then(async () => {
    if (message === 'end') return end()
    const { line, port, answered } = message
    port.postMessage(await carryOut(line))
    Atomics.store(answered, 0, 1)
    Atomics.notify(answered, 0)
  })
})
