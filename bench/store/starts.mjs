// From the word of a person to a call that has begun, at a runner that waits to be told: one call after the other.
import { invokeTool, listRunnableTools, openQueue } from '@cordon/team/store'
import { runCall } from './team.mjs'

/**
 * @typedef {import('@cordon/team/store').Engine} Engine
 * @typedef {{ agent: Engine, operator: Engine, runner: Engine, tool: string }} People
 */

/**
 * @param {People} people
 * @param {number} count
 * @param {(heard: (id: string) => Promise<void>) => Promise<() => Promise<void>>} listen until what it returns is
 * called
 */
async function measure({ agent, operator, runner, tool }, count, listen) {
  /** @type {(id: string) => Promise<void>} */
  let ready = async () => {}
  const stop = await listen((id) => ready(id))
  /** @type {number[]} */
  const samples = []
  for (let at = 0; at < count; at += 1) {
    const id = await invokeTool(agent, { toolId: tool, agent: 'agent-1', input: { path: 'a' } })
    let began = 0
    let sample = 0
    const over = new Promise((resolve, reject) => {
      ready = async (told) => {
        if (told === id)
          await runCall(runner, id, () => {
            sample = performance.now() - began
          }).then(resolve, reject)
      }
    })
    began = performance.now()
    await operator.query('select agents.fn_approve_tool_invocation($1)', [id])
    await over
    samples.push(sample)
  }
  await stop()
  return samples
}

/**
 * @param {People} people
 * @param {number} count
 */
export const startsByListening = (people, count) =>
  measure(people, count, (heard) =>
    people.runner.listen(['tool_invocation'], (said) => {
      const [id, state] = said.split(' ')
      if (state === 'approved') void heard(String(id)).catch(() => undefined)
    }),
  )

/**
 * @param {People} people
 * @param {number} count
 * @param {string} url of who runs
 */
export const startsByQueue = (people, count, url) =>
  measure(people, count, async (heard) => {
    const queue = await openQueue({ url, concurrency: 4, ready: heard })
    queue.serve((await listRunnableTools(people.runner, ['send'])).map(({ task }) => task))
    return queue.close
  })
